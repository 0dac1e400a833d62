DROP INDEX robots_type_year;
DROP INDEX robots_year;
