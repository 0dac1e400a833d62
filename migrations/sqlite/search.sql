-- The trigrams (every three characters in a row) of all names, which tell where a search has to
-- look. It holds no names of its own (content), and not where in a name a trigram stands
-- (detail): the exact test of the names that it proposes decides.
-- The triggers keep it right, whichever program writes.
DROP TRIGGER IF EXISTS robots_search_insert;
DROP TRIGGER IF EXISTS robots_search_delete;
DROP TRIGGER IF EXISTS robots_search_update;
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

CREATE TRIGGER robots_search_insert AFTER INSERT ON robots BEGIN
    INSERT INTO robots_search (rowid, name) VALUES (new.id, new.name);
END;

CREATE TRIGGER robots_search_delete AFTER DELETE ON robots BEGIN
    INSERT INTO robots_search (robots_search, rowid, name) VALUES ('delete', old.id, old.name);
END;

CREATE TRIGGER robots_search_update AFTER UPDATE ON robots
WHEN old.name <> new.name OR old.id <> new.id BEGIN
    INSERT INTO robots_search (robots_search, rowid, name) VALUES ('delete', old.id, old.name);
    INSERT INTO robots_search (rowid, name) VALUES (new.id, new.name);
END;

INSERT INTO robots_search (robots_search) VALUES ('rebuild');
