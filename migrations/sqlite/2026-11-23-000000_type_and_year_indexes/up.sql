-- Indexes for filters by type and year, and for lists in the order of the years. Each entry also has
-- the id. They take about a second per million robots.
CREATE INDEX robots_year ON robots (year);
CREATE INDEX robots_type_year ON robots (type, year);
