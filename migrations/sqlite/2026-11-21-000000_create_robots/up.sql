-- STRICT: a column contains values of its declared type only.
-- AUTOINCREMENT: ids are never reused, not even that of the newest robot.
-- Columns compare as BINARY (the default): names differ if their bytes differ, and the index of
-- UNIQUE, which decides races, is also the order of lists.
CREATE TABLE robots (
    id   INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
    name TEXT    NOT NULL UNIQUE
                 -- length() stops at a NUL, so the NUL has a check of its own.
                 CHECK (length(name) BETWEEN 1 AND 255 AND instr(name, char(0)) = 0),
    type TEXT    NOT NULL CHECK (type IN ('droid', 'mechanical', 'virtual')),
    year INTEGER NOT NULL CHECK (year >= 0)
) STRICT;
