DROP TRIGGER IF EXISTS robots_insert;
DROP TRIGGER IF EXISTS robots_change;
DROP TRIGGER IF EXISTS robots_delete;
ALTER TABLE robots DROP INDEX robots_revision, DROP COLUMN added, DROP COLUMN created_at, DROP COLUMN updated_at,
    DROP COLUMN updated_by;
DROP TABLE IF EXISTS robots_versions;
DROP TABLE IF EXISTS robots_catalogue;
DROP TABLE IF EXISTS robots_flushes;
