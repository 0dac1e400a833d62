-- Indexes for filters by type and year, and for lists in the order of the years. With the columns that
-- they include, they have all of a robot, and so has the index of the names from now on: lists, and filters
-- that few robots meet, are read from an index alone. They take some seconds per million robots, during which
-- reads and changes wait.
--
-- IF EXISTS: PostgreSQL drops the index of the names with a column that it includes.
ALTER TABLE robots DROP CONSTRAINT IF EXISTS robots_name,
    ADD CONSTRAINT robots_name UNIQUE (name) INCLUDE (id, type, year, revision);
CREATE INDEX robots_year ON robots (year, id) INCLUDE (name, type, revision);
CREATE INDEX robots_type_year ON robots (type, year, id) INCLUDE (name, revision);
