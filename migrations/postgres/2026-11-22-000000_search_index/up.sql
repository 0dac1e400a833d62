-- Search index: the trigrams of all names. pg_trgm indexes letters and digits only, in either case:
-- the exact comparison of the candidate names decides. Without the index, searches read every name.
--
-- Databases of earlier versions contain the index already. If the extension is not installed, or the
-- user may not create it, this leaves the database without the index; the program runs this file again
-- at each start until the index exists.
DO $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_indexes WHERE schemaname = current_schema() AND indexname = 'robots_search'
    ) THEN
        CREATE EXTENSION IF NOT EXISTS pg_trgm;
        -- A database has the extension once, in any schema, which need not be in the search path.
        -- Rows that were added last wait in a list that every search reads: it is kept short.
        EXECUTE format(
            'CREATE INDEX robots_search ON robots USING gin (name %I.gin_trgm_ops)
             WITH (gin_pending_list_limit = 1024)',
            (SELECT nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
             WHERE extname = 'pg_trgm')
        );
    END IF;
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'the index robots_search cannot be created: %', SQLERRM;
END
$$;
