DROP TABLE robots_rewrite;
