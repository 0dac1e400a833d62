-- The revision of a robot: 1 when it is added, and greater by one after each change.
-- The existing rows are not written, so that this takes no time.
ALTER TABLE robots ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
