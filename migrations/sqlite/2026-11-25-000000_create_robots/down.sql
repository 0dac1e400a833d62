DROP TABLE robots_search;
DROP TABLE robots;
