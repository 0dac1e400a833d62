DROP TRIGGER robots_insert;
DROP TRIGGER robots_update;
DROP TRIGGER robots_next;
DROP TRIGGER robots_change;
DROP TRIGGER robots_delete;
DROP INDEX robots_revision;
ALTER TABLE robots DROP COLUMN added;
ALTER TABLE robots DROP COLUMN created_at;
ALTER TABLE robots DROP COLUMN updated_at;
ALTER TABLE robots DROP COLUMN updated_by;
DROP TABLE robots_versions;
DROP TABLE robots_catalogue;
-- A change by another program, which does not know of the revision and the search text.
CREATE TRIGGER robots_change AFTER UPDATE OF name, type, year, own ON robots
WHEN new.revision = old.revision
    AND (new.name, new.type, new.year, new.own) IS NOT (old.name, old.type, old.year, old.own)
BEGIN
    UPDATE robots SET
        revision = revision + 1,
        search_text = CASE WHEN new.name = old.name AND new.own IS old.own THEN search_text END,
        own_text = CASE WHEN new.name = old.name AND new.own IS old.own THEN own_text END
    WHERE id = new.id;
END;
