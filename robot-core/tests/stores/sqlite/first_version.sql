-- The search index of the first version, which was not a migration.
CREATE VIRTUAL TABLE robots_search USING fts5 (
    name,
    content = 'robots', content_rowid = 'id',
    tokenize = 'trigram case_sensitive 1',
    detail = none, columnsize = 0
);
INSERT INTO robots_search (robots_search, rank) VALUES ('pgsz', 1000), ('automerge', 8);
CREATE TABLE robots_unindexed (id INTEGER PRIMARY KEY) STRICT;
CREATE TRIGGER robots_index AFTER INSERT ON robots_unindexed
WHEN (SELECT count(*) FROM robots_unindexed) >= 256 BEGIN
    INSERT INTO robots_search (rowid, name)
    SELECT id, name FROM robots_unindexed CROSS JOIN robots USING (id);
    DELETE FROM robots_unindexed;
END;
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
