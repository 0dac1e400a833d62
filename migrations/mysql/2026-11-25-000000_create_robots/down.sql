DROP TABLE IF EXISTS robots_definition;
DROP TABLE IF EXISTS robots;
