DROP INDEX robots_is_new;
DROP INDEX robots_filters;
ALTER TABLE robots DROP COLUMN is_new;
CREATE INDEX robots_year ON robots (year);
CREATE INDEX robots_type_year ON robots (type, year);
