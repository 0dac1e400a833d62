-- Indexes for filters by type and year, and for lists in the order of the years. With the columns that
-- they include, they have all of a robot: a filter that few robots meet is sorted by its index alone. They
-- take some seconds per million robots, during which changes wait.
CREATE INDEX robots_year ON robots (year, id) INCLUDE (name, type, revision);
CREATE INDEX robots_type_year ON robots (type, year, id) INCLUDE (name, revision);
