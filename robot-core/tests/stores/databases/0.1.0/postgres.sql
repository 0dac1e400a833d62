SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE FUNCTION public.robots_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    NEW.revision := OLD.revision + 1;
    IF (NEW.name, NEW.own) IS DISTINCT FROM (OLD.name, OLD.own) THEN
        NEW.search_text := NULL;
        NEW.own_text := NULL;
    END IF;
    RETURN NEW;
END
$$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.__diesel_schema_migrations (
    version character varying(50) NOT NULL,
    run_on timestamp without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);
CREATE TABLE public.robots (
    id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    type text COLLATE pg_catalog."C",
    year bigint,
    revision bigint DEFAULT 1 NOT NULL,
    search_text text COLLATE pg_catalog."C",
    own_text text COLLATE pg_catalog."C",
    own text,
    CONSTRAINT robots_id_check CHECK ((id > 0)),
    CONSTRAINT robots_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255))),
    CONSTRAINT robots_own_check CHECK ((jsonb_typeof((own)::jsonb) = 'object'::text))
);
CREATE TABLE public.robots_definition (
    id bigint NOT NULL,
    revision bigint NOT NULL,
    document text NOT NULL,
    CONSTRAINT robots_definition_id_check CHECK ((id = 1))
);
ALTER TABLE public.robots ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.robots_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
INSERT INTO public.__diesel_schema_migrations VALUES ('20261125000000', '2026-11-25 16:44:55.474269');
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (1, 'R2-D2', 'droid', 1977, 1, 'r2-d2', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (2, 'r2-d2', 'mechanical', 0, 1, 'r2-d2', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (3, 'x', 'droid', 9223372036854775807, 1, 'x', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (4, 'x ', 'virtual', 1, 1, 'x ', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (5, 'café', 'virtual', 2001, 1, 'cafe', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (6, 'café', 'virtual', 2002, 1, 'cafe', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (7, '100 %_\ ''quoted'' "twice" ;--', 'mechanical', 2003, 1, '100 %_\ ''quoted'' "twice" ;--', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (8, '機械 🤖', 'droid', 2004, 1, '機械 🤖', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (9, ' line 1
line 2	', 'droid', 2005, 1, ' line 1
line 2	', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (10, 'unit 10', 'mechanical', 1910, 1, 'unit 10', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (13, 'unit 13', 'mechanical', 1913, 1, 'unit 13', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (14, 'unit 14', 'mechanical', 1914, 1, 'unit 14', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (15, 'unit 15', 'mechanical', 1915, 1, 'unit 15', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (16, 'unit 16', 'mechanical', 1916, 1, 'unit 16', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (17, 'unit 17', 'mechanical', 1917, 1, 'unit 17', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (18, 'unit 18', 'mechanical', 1918, 1, 'unit 18', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (19, 'unit 19', 'mechanical', 1919, 1, 'unit 19', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (20, 'renamed 20', 'mechanical', 1920, 2, 'renamed 20', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (21, 'unit 21', 'mechanical', 1921, 1, 'unit 21', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (22, 'unit 22', 'mechanical', 1922, 1, 'unit 22', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (23, 'unit 23', 'mechanical', 1923, 1, 'unit 23', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (24, 'unit 24', 'mechanical', 1924, 1, 'unit 24', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (25, 'unit 25', 'mechanical', 1925, 1, 'unit 25', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (26, 'unit 26', 'mechanical', 1926, 1, 'unit 26', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (27, 'unit 27', 'mechanical', 1927, 1, 'unit 27', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (28, 'unit 28', 'mechanical', 1928, 1, 'unit 28', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (29, 'unit 29', 'mechanical', 1929, 1, 'unit 29', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (30, 'unit 30', 'mechanical', 1930, 1, 'unit 30', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (31, 'unit 31', 'mechanical', 1931, 1, 'unit 31', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (32, 'unit 32', 'mechanical', 1932, 1, 'unit 32', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (33, 'unit 33', 'mechanical', 1933, 1, 'unit 33', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (34, 'unit 34', 'mechanical', 1934, 1, 'unit 34', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (35, 'unit 35', 'mechanical', 1935, 1, 'unit 35', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (36, 'unit 36', 'mechanical', 1936, 1, 'unit 36', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (37, 'unit 37', 'mechanical', 1937, 1, 'unit 37', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (38, 'unit 38', 'mechanical', 1938, 1, 'unit 38', NULL, NULL);
INSERT INTO public.robots OVERRIDING SYSTEM VALUE VALUES (39, 'unit 39', 'mechanical', 1939, 1, 'unit 39', NULL, NULL);
INSERT INTO public.robots_definition VALUES (1, 1, '{}');
SELECT pg_catalog.setval('public.robots_id_seq', 40, true);
ALTER TABLE ONLY public.__diesel_schema_migrations
    ADD CONSTRAINT __diesel_schema_migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.robots_definition
    ADD CONSTRAINT robots_definition_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.robots
    ADD CONSTRAINT robots_name UNIQUE (name) INCLUDE (id, type, year, revision);
ALTER TABLE ONLY public.robots
    ADD CONSTRAINT robots_pkey PRIMARY KEY (id);
CREATE INDEX robots_search ON public.robots USING gin (search_text public.gin_trgm_ops) WITH (gin_pending_list_limit='1024');
CREATE INDEX robots_type_year ON public.robots USING btree (type, year, id) INCLUDE (name, revision);
CREATE INDEX robots_unindexed ON public.robots USING btree (id) WHERE (search_text IS NULL);
CREATE INDEX robots_year ON public.robots USING btree (year, id) INCLUDE (name, type, revision);
CREATE TRIGGER robots_change BEFORE UPDATE OF name, type, year, own ON public.robots FOR EACH ROW WHEN (((new.revision = old.revision) AND ((((new.name IS DISTINCT FROM old.name) OR (new.type IS DISTINCT FROM old.type)) OR (new.year IS DISTINCT FROM old.year)) OR (new.own IS DISTINCT FROM old.own)))) EXECUTE FUNCTION public.robots_change();
