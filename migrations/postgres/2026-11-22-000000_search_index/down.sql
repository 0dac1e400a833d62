DROP INDEX IF EXISTS robots_search;
