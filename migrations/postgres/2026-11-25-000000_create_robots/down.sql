DROP TABLE robots_definition;
DROP TABLE robots;
DROP FUNCTION robots_change();
