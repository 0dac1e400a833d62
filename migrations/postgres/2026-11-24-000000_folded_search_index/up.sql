-- Search index: the trigrams of all names in the form that `robots_search_text` returns, without case and
-- diacritics. It serves searches that ignore these and searches that do not: it yields candidates, and the
-- exact comparison decides. Without it, searches read every name.
--
-- If the extension pg_trgm is not installed, or the user may not create it, this leaves the database without
-- the index; the program runs this file again at each start until the index exists.

-- The form of a name with other characters than ASCII: its canonical decomposition without
-- diacritics, in lower case. Only frequent scripts have a lower case here, because every letter of the lists
-- takes time, and the decomposition depends on the version of Unicode that the server has.
-- `server/postgres/candidates.rs` knows for which characters the result is certain, and a test compares it
-- with this function for all of them.
--
-- The index has the results: another definition needs another name, and another index. E'' has the same
-- meaning with any settings.
CREATE OR REPLACE FUNCTION robots_search_text_unicode(name text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 4 AS $$
DECLARE
    folded text COLLATE "C";
BEGIN
    -- Besides diacritics (U+0300-036F, 1AB0-1AFF, 1DC0-1DFF, 20D0-20FF, FE20-FE2F), marks that frequent
    -- letters are decomposed into: of Arabic (U+0653-0655), Indic scripts (U+093C, 09BC, 0A3C, 0B3C) and
    -- kana (U+3099, 309A).
    folded := regexp_replace(
        normalize(name, NFD),
        E'[\u0300-\u036F\u0653-\u0655\u093C\u09BC\u0A3C\u0B3C\u1AB0-\u1AFF\u1DC0-\u1DFF'
        '\u20D0-\u20FF\u3099\u309A\uFE20-\uFE2F]+',
        '',
        'g'
    );
    IF octet_length(folded) = char_length(folded) THEN
        RETURN lower(folded);
    END IF;
    -- translate() compares every character with the whole list. So a list is used if it is needed.
    -- Latin
    IF folded ~ '[µÆÐØÞĐĦĲĿŁŊŒŦſƏẞ]' THEN
        folded := translate(
            folded,
            'µÆÐØÞĐĦĲĿŁŊŒŦſƏẞ',
            'μæðøþđħĳŀłŋœŧsəß'
        );
    END IF;
    -- Greek
    IF folded ~ '[Α-Ως]' THEN
        folded := translate(
            folded,
            'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩς',
            'αβγδεζηθικλμνξοπρστυφχψωσ'
        );
    END IF;
    -- Cyrillic
    IF folded ~ '[Ѐ-Я]' THEN
        folded := translate(
            folded,
            'ЂЄЅІЈЉЊЋЏАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ',
            'ђєѕіјљњћџабвгдежзиклмнопрстуфхцчшщъыьэюя'
        );
    END IF;
    -- Armenian
    IF folded ~ '[Ա-Ֆ]' THEN
        folded := translate(
            folded,
            'ԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿՀՁՂՃՄՅՆՇՈՉՊՋՌՍՎՏՐՑՒՓՔՕՖ',
            'աբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆ'
        );
    END IF;
    -- Rare letters of these scripts, full width, and Georgian
    IF folded ~ E'[Ɓ-ɎͰ-ͿϏ-ϿѠ-Ԯᲀ-ᲿỺ-ỾＡ-ＺⱾⱿꟜ\U0001DF95]' THEN
        folded := translate(
            folded,
            E'ƁƂƄƆƇƉƊƋƎƐƑƓƔƖƗƘƜƝƟƢƤƦƧƩƬƮƱƲƳƵƷƸƼǄǅǇǈǊǋǤǱǲǶǷȜȠȢȤȺȻȽȾɁɃɄɅɆɈɊɌɎỺỼỾⱾⱿꟜͰͲͶ'
            'ͿϏϐϑϕϖϘϚϜϞϠϢϤϦϨϪϬϮϰϱϴϵϷϹϺϽϾϿѠѢѤѦѨѪѬѮѰѲѴѸѺѼѾҀҊҌҎҐҒҔҖҘҚҜҞҠҢҤҦҨҪҬҮҰҲҴҶҸҺҼ'
            'ҾӀӃӅӇӉӋӍӔӘӠӨӶӺӼӾԀԂԄԆԈԊԌԎԐԒԔԖԘԚԜԞԠԢԤԦԨԪԬԮᲀᲁᲂᲃᲄᲅᲆᲇᲈＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵ'
            'ＶＷＸＹＺᲐᲑᲒᲓᲔᲕᲖᲗᲘᲙᲚᲛᲜᲝᲞᲟᲠᲡᲢᲣᲤᲥᲦᲧᲨᲩᲪᲫᲬᲭᲮᲯᲰᲱᲲᲳᲴᲵᲶᲷᲸᲹᲺᲽᲾᲿ\U0001DF95',
            'ɓƃƅɔƈɖɗƌǝɛƒɠɣɩɨƙɯɲɵƣƥʀƨʃƭʈʊʋƴƶʒƹƽǆǆǉǉǌǌǥǳǳƕƿȝƞȣȥⱥȼƚⱦɂƀʉʌɇɉɋɍɏỻỽỿȿɀƛͱͳͷ'
            'ϳϗβθφπϙϛϝϟϡϣϥϧϩϫϭϯκρθεϸϲϻͻͼͽѡѣѥѧѩѫѭѯѱѳѵѹѻѽѿҁҋҍҏґғҕҗҙқҝҟҡңҥҧҩҫҭүұҳҵҷҹһҽ'
            'ҿӏӄӆӈӊӌӎӕәӡөӷӻӽӿԁԃԅԇԉԋԍԏԑԓԕԗԙԛԝԟԡԣԥԧԩԫԭԯвдосттъѣꙋａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕ'
            'ｖｗｘｙｚაბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰჱჲჳჴჵჶჷჸჹჺჽჾჿß'
        );
    END IF;
    RETURN lower(folded);
END
$$;

-- The form of a name in the index: one expression, which the planner inserts into statements. PostgreSQL
-- parses it here, so that the other function is found with any search path.
CREATE OR REPLACE FUNCTION robots_search_text(name text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN octet_length(name) = char_length(name) THEN lower(name COLLATE "C")
    ELSE robots_search_text_unicode(name)
END;

DO $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_indexes
        WHERE schemaname = current_schema() AND indexname = 'robots_folded_search'
    ) THEN
        CREATE EXTENSION IF NOT EXISTS pg_trgm;
        -- A database has the extension once, in any schema, which need not be in the search path.
        -- Rows that were added last wait in a list that every search reads: it is kept short.
        EXECUTE format(
            'CREATE INDEX robots_folded_search ON robots
             USING gin (robots_search_text(name) %I.gin_trgm_ops)
             WITH (gin_pending_list_limit = 1024)',
            (SELECT nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
             WHERE extname = 'pg_trgm')
        );
        -- For the planner.
        ANALYZE robots;
    END IF;
    -- The index of earlier versions.
    DROP INDEX IF EXISTS robots_search;
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'the index robots_folded_search cannot be created: %', SQLERRM;
END
$$;
