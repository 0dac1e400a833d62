-- COLLATE "C": names are compared and ordered by their bytes, whatever the database's locale.
-- The index of UNIQUE decides races, and is the order of lists. GENERATED ALWAYS: ids come from the
-- sequence, which never decreases. Types and years are checked by the program. With the columns that they
-- include, counts, filters, and lists of ids and names are read from an index alone.
CREATE TABLE robots (
    id BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY CHECK (id > 0),
    name TEXT COLLATE "C" NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
    type TEXT COLLATE "C",
    year BIGINT,
    -- 1 for a new robot, and greater by one after each change.
    revision BIGINT NOT NULL DEFAULT 1,
    -- The folded name, as the program writes it. NULL in rows of other programs.
    search_text TEXT COLLATE "C",
    -- The folded texts of the fields that searches include, as the program writes them with the folded name.
    own_text TEXT COLLATE "C",
    -- The values of other fields, as a JSON object. NULL if there is none.
    own TEXT CHECK (jsonb_typeof(own::jsonb) = 'object'),
    CONSTRAINT robots_name UNIQUE (name) INCLUDE (id, type, year, revision)
);
CREATE INDEX robots_year ON robots (year, id) INCLUDE (name, type, revision);
CREATE INDEX robots_type_year ON robots (type, year, id) INCLUDE (name, revision);
CREATE INDEX robots_unindexed ON robots (id) WHERE search_text IS NULL;

-- A change by another program, which does not know of the revision and the search text.
CREATE OR REPLACE FUNCTION robots_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.revision := OLD.revision + 1;
    IF (NEW.name, NEW.own) IS DISTINCT FROM (OLD.name, OLD.own) THEN
        NEW.search_text := NULL;
        NEW.own_text := NULL;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER robots_change BEFORE UPDATE OF name, type, year, own ON robots FOR EACH ROW
WHEN (NEW.revision = OLD.revision
    AND (NEW.name, NEW.type, NEW.year, NEW.own) IS DISTINCT FROM (OLD.name, OLD.type, OLD.year, OLD.own))
EXECUTE FUNCTION robots_change();

-- The fields of the robots: a document of JSON Schema. Without keywords, it is the built-in definition.
CREATE TABLE robots_definition (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    revision BIGINT NOT NULL,
    document TEXT NOT NULL
);
INSERT INTO robots_definition (id, revision, document) VALUES (1, 1, '{}');
