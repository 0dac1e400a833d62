DROP TABLE robots_definition;
DROP TABLE robots_search;
DROP TABLE robots;
