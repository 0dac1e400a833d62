-- Indexes for filters by type and year, and for lists in the order of the years. InnoDB adds the id to
-- each entry. They take some seconds per million robots.
-- Only if they are missing: DDL is not transactional here, so an interrupted migration may have added
-- them already. MySQL has no CREATE INDEX IF NOT EXISTS.
SET @add_indexes = IF(
    EXISTS (
        SELECT * FROM information_schema.statistics
        WHERE table_schema = DATABASE() AND table_name = 'robots' AND index_name = 'robots_year'
    ),
    'DO 0',
    'ALTER TABLE robots ADD INDEX robots_year (year), ADD INDEX robots_type_year (type, year)'
);
PREPARE add_indexes FROM @add_indexes;
EXECUTE add_indexes;
DEALLOCATE PREPARE add_indexes;
