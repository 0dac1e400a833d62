-- The state of the catalogue: one row.
CREATE TABLE robots_catalogue (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    -- Another one, and positions in the order of changes mean nothing any more.
    identity TEXT NOT NULL,
    -- The greatest revision of a robot: the number of the last change.
    revision INTEGER NOT NULL,
    -- The versions that later changes have replaced are complete.
    complete_from INTEGER NOT NULL,
    -- Who deletes robots, or drops their values, in the present transaction.
    actor TEXT
) STRICT;
INSERT INTO robots_catalogue (id, identity, revision, complete_from)
SELECT 1, lower(hex(randomblob(16))), coalesce(max(revision), 0), 0 FROM robots;

-- The revision by which the robot was added.
ALTER TABLE robots ADD COLUMN added INTEGER NOT NULL DEFAULT 0;
-- Milliseconds since 1970; NULL if that is not known.
ALTER TABLE robots ADD COLUMN created_at INTEGER;
ALTER TABLE robots ADD COLUMN updated_at INTEGER;
-- Who has made the last change; NULL for other programs.
ALTER TABLE robots ADD COLUMN updated_by TEXT;

-- The versions of robots that changes have replaced.
CREATE TABLE robots_versions (
    -- Ascending, so that the oldest versions are found without an index of times.
    number INTEGER NOT NULL PRIMARY KEY,
    id INTEGER NOT NULL,
    -- The change that has replaced the version, which may be a deletion.
    replaced INTEGER NOT NULL,
    is_deleted INTEGER NOT NULL,
    replaced_at INTEGER NOT NULL,
    replaced_by TEXT,
    -- The version.
    revision INTEGER NOT NULL,
    added INTEGER NOT NULL,
    name TEXT NOT NULL,
    type TEXT,
    year INTEGER,
    own TEXT,
    created_at INTEGER,
    updated_at INTEGER,
    updated_by TEXT
) STRICT;
CREATE INDEX robots_versions_id ON robots_versions (id, revision);
CREATE INDEX robots_versions_deleted ON robots_versions (is_deleted, replaced);
CREATE INDEX robots_versions_added ON robots_versions (revision) WHERE revision = added;

-- From here on, each change of a robot gets the next revision of the catalogue. Robots are numbered in the order of
-- their ids, above all revisions that clients may know.
DROP TRIGGER robots_change;
UPDATE robots SET revision = numbered.revision, added = numbered.revision
FROM (SELECT id, row_number() OVER (ORDER BY id) + (SELECT revision FROM robots_catalogue) AS revision FROM robots)
    AS numbered
WHERE numbered.id = robots.id;
UPDATE robots_catalogue SET revision = max(revision, (SELECT coalesce(max(revision), 0) FROM robots));
UPDATE robots_catalogue SET complete_from = revision;
CREATE INDEX robots_revision ON robots (revision);

-- The program sets the revision and the times of what it inserts. Other programs do not.
CREATE TRIGGER robots_insert AFTER INSERT ON robots BEGIN
    UPDATE robots_catalogue SET revision = iif(new.updated_at IS NULL, revision + 1, max(revision, new.revision));
    UPDATE robots SET
        (revision, added) = (SELECT revision, revision FROM robots_catalogue),
        created_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
        updated_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
    WHERE id = new.id AND new.updated_at IS NULL;
END;

-- A change by the program, which sets the revision.
CREATE TRIGGER robots_update AFTER UPDATE OF revision ON robots
WHEN new.revision > (SELECT revision FROM robots_catalogue) BEGIN
    INSERT INTO robots_versions (id, replaced, is_deleted, replaced_at, replaced_by,
        revision, added, name, type, year, own, created_at, updated_at, updated_by)
    VALUES (old.id, new.revision, 0, coalesce(new.updated_at, 0), new.updated_by,
        old.revision, old.added, old.name, old.type, old.year, old.own, old.created_at, old.updated_at, old.updated_by);
    UPDATE robots_catalogue SET revision = new.revision;
END;

-- A change by another program, which does not know of the revision and the search text, or by the previous version, which
-- raises the revision of the robot. It takes a number first, so that the trigger above does nothing.
CREATE TRIGGER robots_next BEFORE UPDATE OF name, type, year, own ON robots
WHEN new.revision <= (SELECT revision FROM robots_catalogue)
    AND (new.name, new.type, new.year, new.own) IS NOT (old.name, old.type, old.year, old.own)
BEGIN
    UPDATE robots_catalogue SET revision = revision + 1;
END;
CREATE TRIGGER robots_change AFTER UPDATE OF name, type, year, own ON robots
WHEN new.revision < (SELECT revision FROM robots_catalogue)
    AND (new.name, new.type, new.year, new.own) IS NOT (old.name, old.type, old.year, old.own)
BEGIN
    INSERT INTO robots_versions (id, replaced, is_deleted, replaced_at, replaced_by,
        revision, added, name, type, year, own, created_at, updated_at, updated_by)
    SELECT old.id, revision, 0, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), actor,
        old.revision, old.added, old.name, old.type, old.year, old.own, old.created_at, old.updated_at, old.updated_by
    FROM robots_catalogue;
    UPDATE robots SET
        revision = (SELECT revision FROM robots_catalogue),
        updated_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
        updated_by = (SELECT actor FROM robots_catalogue),
        search_text = CASE WHEN new.name = old.name AND new.own IS old.own THEN search_text END,
        own_text = CASE WHEN new.name = old.name AND new.own IS old.own THEN own_text END
    WHERE id = new.id;
END;

CREATE TRIGGER robots_delete AFTER DELETE ON robots BEGIN
    UPDATE robots_catalogue SET revision = revision + 1;
    INSERT INTO robots_versions (id, replaced, is_deleted, replaced_at, replaced_by,
        revision, added, name, type, year, own, created_at, updated_at, updated_by)
    SELECT old.id, revision, 1, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), actor,
        old.revision, old.added, old.name, old.type, old.year, old.own, old.created_at, old.updated_at, old.updated_by
    FROM robots_catalogue;
END;
