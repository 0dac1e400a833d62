-- The unique index decides races, and is the order of lists. Types and years are checked by the program.
CREATE TABLE robots (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 255 AND instr(name, char(0)) = 0),
    type TEXT,
    year INTEGER,
    -- 1 for a new robot, and greater by one after each change.
    revision INTEGER NOT NULL DEFAULT 1,
    -- The folded name, as the program writes it. NULL if it is not in the search index yet.
    search_text TEXT,
    -- The folded texts of the fields that searches include, as the program writes them with the folded name.
    own_text TEXT,
    -- The values of other fields, as a JSON object. NULL if there is none.
    own TEXT CHECK (json_type(own) = 'object')
) STRICT;
CREATE UNIQUE INDEX robots_name ON robots (name);
-- Filters and lists by year. The type and the name are compared without reading the robot.
CREATE INDEX robots_year ON robots (year, id, type, name);
CREATE INDEX robots_unindexed ON robots (id) WHERE search_text IS NULL;

-- The search index: the trigrams (sequences of three characters) of search texts. It stores neither the
-- texts (content) nor positions (detail): the comparison of the candidates decides.
CREATE VIRTUAL TABLE robots_search USING fts5 (
    search_text, own_text,
    content = 'robots', content_rowid = 'id',
    tokenize = 'trigram case_sensitive 1',
    detail = none, columnsize = 0
);

-- FTS5 merges as many pages as it has written whenever that number reaches a multiple of 64, and the
-- commit waits for it. Pages of 1,000 instead of 4,050 bytes make a merge a quarter as long; merging
-- eight instead of four segments of a level makes it rarer.
INSERT INTO robots_search (robots_search, rank) VALUES ('pgsz', 1000), ('automerge', 8);

CREATE TRIGGER robots_search_insert AFTER INSERT ON robots WHEN new.search_text IS NOT NULL BEGIN
    INSERT INTO robots_search (rowid, search_text, own_text)
    VALUES (new.id, new.search_text, new.own_text);
END;

CREATE TRIGGER robots_search_delete AFTER DELETE ON robots WHEN old.search_text IS NOT NULL BEGIN
    INSERT INTO robots_search (robots_search, rowid, search_text, own_text)
    VALUES ('delete', old.id, old.search_text, old.own_text);
END;

CREATE TRIGGER robots_search_update AFTER UPDATE OF id, search_text, own_text ON robots
WHEN (new.id, new.search_text, new.own_text) IS NOT (old.id, old.search_text, old.own_text) BEGIN
    INSERT INTO robots_search (robots_search, rowid, search_text, own_text)
    SELECT 'delete', old.id, old.search_text, old.own_text WHERE old.search_text IS NOT NULL;
    INSERT INTO robots_search (rowid, search_text, own_text)
    SELECT new.id, new.search_text, new.own_text WHERE new.search_text IS NOT NULL;
END;

-- A change by another program, which does not know of the revision and the search text.
CREATE TRIGGER robots_change AFTER UPDATE OF name, type, year, own ON robots
WHEN new.revision = old.revision
    AND (new.name, new.type, new.year, new.own) IS NOT (old.name, old.type, old.year, old.own)
BEGIN
    UPDATE robots SET
        revision = revision + 1,
        search_text = CASE WHEN new.name = old.name AND new.own IS old.own THEN search_text END,
        own_text = CASE WHEN new.name = old.name AND new.own IS old.own THEN own_text END
    WHERE id = new.id;
END;

-- The fields of the robots: a document of JSON Schema. Without keywords, it is the built-in definition.
CREATE TABLE robots_definition (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    revision INTEGER NOT NULL,
    document TEXT NOT NULL
) STRICT;
INSERT INTO robots_definition (id, revision, document) VALUES (1, 1, '{}');
