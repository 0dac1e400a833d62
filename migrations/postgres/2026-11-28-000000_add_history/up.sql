-- The state of the catalogue: one row. A transaction that changes robots holds its lock, so that transactions are
-- committed in the order of their revisions.
CREATE TABLE robots_catalogue (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    -- Another one, and positions in the order of changes mean nothing any more.
    identity TEXT NOT NULL,
    -- The server, the database and the table that have the identity.
    place TEXT,
    -- The greatest revision of a robot: the number of the last change.
    revision BIGINT NOT NULL,
    -- The versions that later changes have replaced are complete.
    complete_from BIGINT NOT NULL,
    -- Who deletes robots, or drops their values, in the present transaction.
    actor TEXT
);
INSERT INTO robots_catalogue (id, identity, revision, complete_from)
SELECT 1, md5(random()::text || clock_timestamp()::text), coalesce(max(revision), 0), 0 FROM robots;

-- added: the revision by which the robot was added. The times are milliseconds since 1970; NULL if that is not known.
-- updated_by: who has made the last change; NULL for other programs.
ALTER TABLE robots
    ADD COLUMN added BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN created_at BIGINT,
    ADD COLUMN updated_at BIGINT,
    ADD COLUMN updated_by TEXT;

-- The versions of robots that changes have replaced.
CREATE TABLE robots_versions (
    -- Ascending, so that the oldest versions are found without an index of times.
    number BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id BIGINT NOT NULL,
    -- The change that has replaced the version, which may be a deletion.
    replaced BIGINT NOT NULL,
    is_deleted BIGINT NOT NULL,
    replaced_at BIGINT NOT NULL,
    replaced_by TEXT,
    -- The version.
    revision BIGINT NOT NULL,
    added BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C",
    year BIGINT,
    own TEXT,
    created_at BIGINT,
    updated_at BIGINT,
    updated_by TEXT
);
CREATE INDEX robots_versions_id ON robots_versions (id, revision);
CREATE INDEX robots_versions_deleted ON robots_versions (is_deleted, replaced);
CREATE INDEX robots_versions_added ON robots_versions (revision) WHERE revision = added;

-- From here on, each change of a robot gets the next revision of the catalogue. Robots are numbered in the order of
-- their ids, above all revisions that clients may know. A new type rewrites the table and its indexes at once, in half of
-- the time of an UPDATE.
CREATE TABLE robots_numbers AS
SELECT id, row_number() OVER (ORDER BY id) + (SELECT revision FROM robots_catalogue) AS number FROM robots;
ALTER TABLE robots_numbers ADD PRIMARY KEY (id);
CREATE FUNCTION robots_number(wanted BIGINT) RETURNS BIGINT LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT number FROM robots_numbers WHERE id = wanted);
END
$$;
DROP TRIGGER robots_change ON robots;
ALTER TABLE robots
    ALTER COLUMN revision TYPE BIGINT USING robots_number(id),
    ALTER COLUMN added TYPE BIGINT USING robots_number(id);
DROP FUNCTION robots_number(BIGINT);
DROP TABLE robots_numbers;
UPDATE robots_catalogue SET revision = greatest(revision, (SELECT coalesce(max(revision), 0) FROM robots));
UPDATE robots_catalogue SET complete_from = revision;
CREATE INDEX robots_revision ON robots (revision);

-- The functions name the schema, because other programs may have another search path.
DO $schema$
BEGIN
EXECUTE replace($functions$
-- Before a statement: locks the catalogue, before it locks robots. After it: stores the last revision, which is a
-- variable meanwhile, because updating a row again and again in a transaction takes longer each time.
CREATE OR REPLACE FUNCTION robots_statement() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    last bigint;
BEGIN
    IF TG_WHEN = 'BEFORE' THEN
        SELECT revision INTO STRICT last FROM SCHEMA.robots_catalogue WHERE id = 1 FOR UPDATE;
        PERFORM set_config('robots.revision', last::text, true);
        -- A change that others know already must not be lost in a crash: another one would get its revision.
        IF current_setting('synchronous_commit') = 'off' THEN
            PERFORM set_config('synchronous_commit', 'on', true);
        END IF;
    ELSE
        last := current_setting('robots.revision')::bigint;
        UPDATE SCHEMA.robots_catalogue SET revision = last WHERE id = 1 AND revision <> last;
    END IF;
    RETURN NULL;
END
$$;

-- Gives a change its revision and its time. A program that does not know the revision leaves it as it is, and knows
-- neither the search text nor who changes the robot.
CREATE OR REPLACE FUNCTION robots_row() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    next bigint := current_setting('robots.revision')::bigint + 1;
    present bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NEW.revision = OLD.revision THEN
            NEW.updated_by := (SELECT actor FROM SCHEMA.robots_catalogue WHERE id = 1);
            IF (NEW.name, NEW.own) IS DISTINCT FROM (OLD.name, OLD.own) THEN
                NEW.search_text := NULL;
                NEW.own_text := NULL;
            END IF;
        END IF;
    END IF;
    PERFORM set_config('robots.revision', next::text, true);
    IF TG_OP <> 'DELETE' THEN
        NEW.revision := next;
    END IF;
    IF TG_OP = 'INSERT' THEN
        NEW.added := next;
        NEW.created_at := coalesce(NEW.created_at, present);
        NEW.updated_at := coalesce(NEW.updated_at, present);
        RETURN NEW;
    END IF;
    INSERT INTO SCHEMA.robots_versions (id, replaced, is_deleted, replaced_at, replaced_by,
        revision, added, name, type, year, own, created_at, updated_at, updated_by)
    VALUES (OLD.id, next, (TG_OP = 'DELETE')::int, present,
        CASE TG_OP WHEN 'DELETE' THEN (SELECT actor FROM SCHEMA.robots_catalogue WHERE id = 1) ELSE NEW.updated_by END,
        OLD.revision, OLD.added, OLD.name, OLD.type, OLD.year, OLD.own, OLD.created_at, OLD.updated_at, OLD.updated_by);
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    NEW.updated_at := present;
    RETURN NEW;
END
$$;
$functions$, 'SCHEMA', quote_ident(current_schema()));
END
$schema$;
-- The program takes the revisions of what it inserts in the same statement, without triggers.
CREATE TRIGGER robots_before_insert BEFORE INSERT ON robots FOR EACH STATEMENT
WHEN (current_setting('robots.program', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION robots_statement();
CREATE TRIGGER robots_insert BEFORE INSERT ON robots FOR EACH ROW
WHEN (current_setting('robots.program', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION robots_row();
CREATE TRIGGER robots_after_insert AFTER INSERT ON robots FOR EACH STATEMENT
WHEN (current_setting('robots.program', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION robots_statement();
CREATE TRIGGER robots_before BEFORE DELETE OR UPDATE OF revision, name, type, year, own ON robots
FOR EACH STATEMENT EXECUTE FUNCTION robots_statement();
CREATE TRIGGER robots_delete BEFORE DELETE ON robots FOR EACH ROW EXECUTE FUNCTION robots_row();
CREATE TRIGGER robots_update BEFORE UPDATE OF revision, name, type, year, own ON robots FOR EACH ROW
WHEN ((NEW.revision, NEW.name, NEW.type, NEW.year, NEW.own)
    IS DISTINCT FROM (OLD.revision, OLD.name, OLD.type, OLD.year, OLD.own))
EXECUTE FUNCTION robots_row();
CREATE TRIGGER robots_after AFTER DELETE OR UPDATE OF revision, name, type, year, own ON robots
FOR EACH STATEMENT EXECUTE FUNCTION robots_statement();
