ALTER TABLE robots DROP COLUMN revision;
