DROP TRIGGER robots_search_insert;
DROP TRIGGER robots_search_delete;
DROP TRIGGER robots_search_update;
DROP TRIGGER robots_index;
DROP TABLE robots_unindexed;
DROP TABLE robots_trigrams;
DROP VIEW robots_folded;
DROP TABLE robots_folds;
DROP TABLE robots_positions;

-- The objects of 2026-11-22-000000_search_index.
CREATE VIRTUAL TABLE robots_search USING fts5 (
    name,
    content = 'robots', content_rowid = 'id',
    tokenize = 'trigram case_sensitive 1',
    detail = none, columnsize = 0
);

-- FTS5 merges as many pages as it has written whenever that number reaches a multiple of 64, and the
-- commit waits for it. Pages of 1,000 instead of 4,050 bytes make a merge a quarter as long; merging
-- eight instead of four segments of a level makes it rarer.
INSERT INTO robots_search (robots_search, rank) VALUES ('pgsz', 1000), ('automerge', 8);

-- Robots whose names are not in the index yet; a search compares each of them. Adding 256 names at
-- once costs the index half of adding them one by one. An id of a deleted robot may remain; it does
-- no harm.
CREATE TABLE robots_unindexed (id INTEGER PRIMARY KEY) STRICT;

-- CROSS JOIN: with few robots at the time of an ANALYZE, the planner would read the whole table.
CREATE TRIGGER robots_index AFTER INSERT ON robots_unindexed
WHEN (SELECT count(*) FROM robots_unindexed) >= 256 BEGIN
    INSERT INTO robots_search (rowid, name)
    SELECT id, name FROM robots_unindexed CROSS JOIN robots USING (id);
    DELETE FROM robots_unindexed;
END;

-- NOT EXISTS instead of OR IGNORE: the conflict clause of the outer statement overrides those of
-- its triggers.
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
-- One segment: searches take less than half the time.
INSERT INTO robots_search (robots_search) VALUES ('optimize');
