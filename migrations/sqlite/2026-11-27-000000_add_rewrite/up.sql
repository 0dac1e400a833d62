-- The robots that a change of the definition has left to be rewritten: those with this id and greater ones. A step
-- drops the values of removed fields (a JSON array of their names), and stores the search texts of the definition.
-- Without a row, there are none.
CREATE TABLE robots_rewrite (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    next_id INTEGER NOT NULL,
    dropped TEXT NOT NULL,
    -- Who has changed the definition.
    actor TEXT
) STRICT;
