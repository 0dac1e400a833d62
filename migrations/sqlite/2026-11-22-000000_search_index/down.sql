DROP TRIGGER robots_search_insert;
DROP TRIGGER robots_search_delete;
DROP TRIGGER robots_search_update;
DROP TABLE robots_unindexed;
DROP TABLE robots_search;
