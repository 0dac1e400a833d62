DROP INDEX robots_type_year;
DROP INDEX robots_year;
ALTER TABLE robots DROP CONSTRAINT IF EXISTS robots_name,
    ADD CONSTRAINT robots_name UNIQUE (name);
