DROP TABLE robots_definition;
DROP TABLE robots;
