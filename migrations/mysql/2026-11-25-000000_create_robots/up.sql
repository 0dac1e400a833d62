-- Names are compared and ordered by code points, without ignoring trailing spaces. MariaDB and MySQL
-- have different names for this collation; each executes its own kind of comment.
-- The unique index decides races, and is the order of lists. Types and years are checked by the program.
-- IF NOT EXISTS: DDL is not transactional here, so an interrupted migration may have created the table
-- already.
CREATE TABLE IF NOT EXISTS robots (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name VARCHAR(255) NOT NULL CHECK (char_length(name) > 0 AND instr(name, char(0)) = 0),
    type VARCHAR(255),
    year BIGINT,
    -- 1 for a new robot, and greater by one after each change.
    revision BIGINT NOT NULL DEFAULT 1,
    -- The folded name, as the program writes it. NULL in rows of other programs.
    search_text VARCHAR(255),
    -- The folded texts of the fields that searches include, as the program writes them with the folded name.
    own_text LONGTEXT,
    -- The values of other fields, as a JSON object. NULL if there is none.
    own LONGTEXT CHECK (json_valid(own)),
    CONSTRAINT robots_name UNIQUE (name),
    INDEX robots_year (year),
    INDEX robots_type_year (type, year),
    -- Finds rows without a search text.
    INDEX robots_unindexed (search_text(1))
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4
    /*M!100202 COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */;

-- The fields of the robots: a document of JSON Schema. Without keywords, it is the built-in definition.
CREATE TABLE IF NOT EXISTS robots_definition (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    revision BIGINT NOT NULL,
    document LONGTEXT NOT NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4;
INSERT IGNORE INTO robots_definition (id, revision, document) VALUES (1, 1, '{}');
