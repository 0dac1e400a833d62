-- Indexes for filters by type and year, and for lists in the order of the years. They take some seconds
-- per million robots, during which changes wait.
CREATE INDEX robots_year ON robots (year, id);
CREATE INDEX robots_type_year ON robots (type, year, id);
