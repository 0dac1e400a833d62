-- The trigrams of all names, which tell where a search has to look. pg_trgm knows letters and
-- digits alone, in either case: the exact test of the names that it proposes decides.
-- PostgreSQL lets whoever may create in the database install this extension.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
-- What was added last waits in a list that every search reads: it is kept short.
CREATE INDEX IF NOT EXISTS robots_search ON robots USING gin (name gin_trgm_ops)
    WITH (gin_pending_list_limit = 1024);
