DROP INDEX IF EXISTS robots_folded_search;
DROP FUNCTION robots_search_text;
DROP FUNCTION robots_search_text_unicode;
-- 2026-11-22-000000_search_index/up.sql
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
