-- An index for filters by type and year, in place of two. Each entry also has the id and the name, so that
-- lists in the order of the names are sorted without reading the robots.
--
-- An entry of one robot would change one page of the index, and the commit would write it. So new robots
-- are not in the index: a filter compares each of them. The trigger robots_index of the search index adds
-- about 2,000 at once, many of them to the same pages.
DROP INDEX IF EXISTS robots_type_year;
DROP INDEX IF EXISTS robots_year;
ALTER TABLE robots ADD COLUMN is_new INTEGER NOT NULL DEFAULT 1;
UPDATE robots SET is_new = 0;
CREATE INDEX robots_filters ON robots (type, year, id, name, is_new) WHERE is_new = 0;
CREATE INDEX robots_is_new ON robots (is_new) WHERE is_new = 1;
