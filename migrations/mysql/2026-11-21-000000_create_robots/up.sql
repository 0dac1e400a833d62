-- Names are compared and ordered by code points, without ignoring trailing spaces. MariaDB and MySQL
-- have different names for this collation; each executes its own kind of comment.
-- The unique index decides races, and is the order of lists.
-- IF NOT EXISTS: DDL is not transactional here, so an interrupted migration may have created the table
-- already.
CREATE TABLE IF NOT EXISTS robots (
    id   BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name VARCHAR(255) CHARACTER SET utf8mb4
         /*M!100202 COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL
         CHECK (char_length(name) > 0 AND instr(name, char(0)) = 0),
    type VARCHAR(10) CHARACTER SET utf8mb4
         /*M!100202 COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL
         CHECK (type IN ('droid', 'mechanical', 'virtual')),
    year BIGINT NOT NULL CHECK (year >= 0),
    CONSTRAINT robots_name UNIQUE (name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;
