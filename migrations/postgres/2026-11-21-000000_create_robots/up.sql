-- COLLATE "C": names are compared and ordered by their bytes, whatever the database's locale.
-- The index of UNIQUE decides races, and is the order of lists.
-- GENERATED ALWAYS: ids come from the sequence, which never decreases.
CREATE TABLE robots (
    id   BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY CHECK (id > 0),
    name TEXT COLLATE "C" NOT NULL CONSTRAINT robots_name UNIQUE
                CHECK (char_length(name) BETWEEN 1 AND 255),
    type TEXT COLLATE "C" NOT NULL CHECK (type IN ('droid', 'mechanical', 'virtual')),
    year BIGINT NOT NULL CHECK (year >= 0)
);
