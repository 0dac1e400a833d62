-- The revision of a robot: 1 when it is added, and greater by one after each change.
-- The existing rows are not written, so that this takes no time.
-- Only if the column is missing: DDL is not transactional here, so an interrupted migration may have
-- added it already. MySQL has no ADD COLUMN IF NOT EXISTS.
SET @add_revision = IF(
    EXISTS (
        SELECT * FROM information_schema.columns
        WHERE table_schema = DATABASE() AND table_name = 'robots' AND column_name = 'revision'
    ),
    'DO 0',
    'ALTER TABLE robots ADD COLUMN revision BIGINT NOT NULL DEFAULT 1'
);
PREPARE add_revision FROM @add_revision;
EXECUTE add_revision;
DEALLOCATE PREPARE add_revision;
