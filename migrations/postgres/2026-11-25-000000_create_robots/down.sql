DROP TABLE robots;
DROP FUNCTION robots_change();
