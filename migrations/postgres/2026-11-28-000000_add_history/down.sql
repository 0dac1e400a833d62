DROP FUNCTION robots_statement() CASCADE;
DROP FUNCTION robots_row() CASCADE;
DROP INDEX robots_revision;
ALTER TABLE robots DROP COLUMN added, DROP COLUMN created_at, DROP COLUMN updated_at, DROP COLUMN updated_by;
DROP TABLE robots_versions;
DROP TABLE robots_catalogue;
CREATE TRIGGER robots_change BEFORE UPDATE OF name, type, year, own ON robots FOR EACH ROW
WHEN (NEW.revision = OLD.revision
    AND (NEW.name, NEW.type, NEW.year, NEW.own) IS DISTINCT FROM (OLD.name, OLD.type, OLD.year, OLD.own))
EXECUTE FUNCTION robots_change();
