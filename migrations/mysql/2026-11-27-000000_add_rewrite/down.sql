DROP TABLE IF EXISTS robots_rewrite;
