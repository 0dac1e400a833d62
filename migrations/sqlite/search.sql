-- The trigrams (every three characters in a row) of all names but up to 255, which tell where a search
-- has to look. It holds no names of its own (content), and not where in a name a trigram stands
-- (detail): the exact test of the names that it proposes decides.
-- The triggers keep it right, whichever program writes.
DROP TRIGGER IF EXISTS robots_search_insert;
DROP TRIGGER IF EXISTS robots_search_delete;
DROP TRIGGER IF EXISTS robots_search_update;
DROP TABLE IF EXISTS robots_unindexed;
DROP TABLE IF EXISTS robots_search;

CREATE VIRTUAL TABLE robots_search USING fts5 (
    name,
    content = 'robots', content_rowid = 'id',
    tokenize = 'trigram case_sensitive 1',
    detail = none, columnsize = 0
);

-- Each time 64 pages of the index have been written, as many are merged on each of its levels, and a
-- commit waits for that. Pages of a quarter of the usual size make the wait a quarter as long; eight
-- parts of a level before they are merged, instead of four, make it rarer.
INSERT INTO robots_search (robots_search, rank) VALUES ('pgsz', 1000), ('automerge', 8);

-- The robots whose names the index does not have yet, each of which a search looks at. To take so many
-- at once costs the index half of what it costs to take each by itself, and most commits nothing.
-- An id may be there that no robot has any more, which does no harm.
CREATE TABLE robots_unindexed (id INTEGER PRIMARY KEY) STRICT;

-- CROSS JOIN, for where there are few robots at the time of an ANALYZE, all of them would be read.
CREATE TRIGGER robots_index AFTER INSERT ON robots_unindexed
WHEN (SELECT count(*) FROM robots_unindexed) >= 256 BEGIN
    INSERT INTO robots_search (rowid, name)
    SELECT id, name FROM robots_unindexed CROSS JOIN robots USING (id);
    DELETE FROM robots_unindexed;
END;

-- An id may be there already, and what a statement does about conflicts, its triggers do, too; so it is
-- looked up.
CREATE TRIGGER robots_search_insert AFTER INSERT ON robots BEGIN
    INSERT INTO robots_unindexed (id) SELECT new.id
    WHERE NOT EXISTS (SELECT * FROM robots_unindexed WHERE id = new.id);
END;

CREATE TRIGGER robots_search_delete AFTER DELETE ON robots BEGIN
    INSERT INTO robots_search (robots_search, rowid, name) SELECT 'delete', old.id, old.name
    WHERE NOT EXISTS (SELECT * FROM robots_unindexed WHERE id = old.id);
END;

CREATE TRIGGER robots_search_update AFTER UPDATE ON robots
WHEN old.name <> new.name OR old.id <> new.id BEGIN
    INSERT INTO robots_search (robots_search, rowid, name) SELECT 'delete', old.id, old.name
    WHERE NOT EXISTS (SELECT * FROM robots_unindexed WHERE id = old.id);
    INSERT INTO robots_unindexed (id) SELECT new.id
    WHERE NOT EXISTS (SELECT * FROM robots_unindexed WHERE id = new.id);
END;

INSERT INTO robots_search (robots_search) VALUES ('rebuild');
-- In one part, which more than halves the time of a search.
INSERT INTO robots_search (robots_search) VALUES ('optimize');
