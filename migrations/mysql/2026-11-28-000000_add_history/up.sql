-- The state of the catalogue: one row. A transaction that changes robots holds its lock, so that transactions are
-- committed in the order of their revisions. Each step can be repeated.
CREATE TABLE IF NOT EXISTS robots_catalogue (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    -- Another one, and positions in the order of changes mean nothing any more.
    identity VARCHAR(255) NOT NULL,
    -- The greatest revision of a robot: the number of the last change.
    revision BIGINT NOT NULL,
    -- The versions that later changes have replaced are complete.
    complete_from BIGINT NOT NULL,
    -- Who deletes robots, or drops their values, in the present transaction.
    actor VARCHAR(255)
) ENGINE = InnoDB CHARACTER SET utf8mb4
    /*M!100202 COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */;
INSERT IGNORE INTO robots_catalogue (id, identity, revision, complete_from)
SELECT 1, REPLACE(UUID(), '-', ''), COALESCE(MAX(revision), 0), 0 FROM robots;

-- One row, whose change writes the log of the database to the disk.
CREATE TABLE IF NOT EXISTS robots_flushes (id BIGINT NOT NULL PRIMARY KEY, number BIGINT NOT NULL) ENGINE = InnoDB;
INSERT IGNORE INTO robots_flushes VALUES (1, 0);

-- added: the revision by which the robot was added. The times are milliseconds since 1970; NULL if that is not known.
-- updated_by: who has made the last change; NULL for other programs.
SET @is_missing = NOT EXISTS (SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'robots' AND column_name = 'added');
SET @add_columns = IF(@is_missing, 'ALTER TABLE robots
    ADD COLUMN added BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN created_at BIGINT,
    ADD COLUMN updated_at BIGINT,
    ADD COLUMN updated_by VARCHAR(255),
    ADD INDEX robots_revision (revision)', 'DO 0');
PREPARE add_columns FROM @add_columns;
EXECUTE add_columns;
DEALLOCATE PREPARE add_columns;

-- The versions of robots that changes have replaced.
CREATE TABLE IF NOT EXISTS robots_versions (
    -- Ascending, so that the oldest versions are found without an index of times.
    number BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id BIGINT NOT NULL,
    -- The change that has replaced the version, which may be a deletion.
    replaced BIGINT NOT NULL,
    is_deleted BIGINT NOT NULL,
    replaced_at BIGINT NOT NULL,
    replaced_by VARCHAR(255),
    -- The version.
    revision BIGINT NOT NULL,
    added BIGINT NOT NULL,
    name VARCHAR(255) NOT NULL,
    type VARCHAR(255),
    year BIGINT,
    own LONGTEXT,
    created_at BIGINT,
    updated_at BIGINT,
    updated_by VARCHAR(255),
    -- The revision, if the robot was added by it.
    addition BIGINT,
    INDEX robots_versions_id (id, revision),
    INDEX robots_versions_deleted (is_deleted, replaced),
    INDEX robots_versions_added (addition)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4
    /*M!100202 COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */;

-- From here on, each change of a robot gets the next revision of the catalogue. Robots are numbered in the order of
-- their ids, above all revisions that clients may know.
DROP TRIGGER IF EXISTS robots_change;
DROP TRIGGER IF EXISTS robots_insert;
DROP TRIGGER IF EXISTS robots_delete;
SET @robots_revision = (SELECT revision FROM robots_catalogue WHERE id = 1);
UPDATE robots SET revision = (@robots_revision := @robots_revision + 1), added = revision WHERE added = 0 ORDER BY id;
UPDATE robots_catalogue SET revision = GREATEST(revision, (SELECT COALESCE(MAX(revision), 0) FROM robots));
UPDATE robots_catalogue SET complete_from = revision WHERE complete_from = 0;

-- In a transaction of the program, the next revision is a variable, and the last one is stored at the end: updating a row
-- for each change takes longer. A Galera node that ends the transaction for another one does not say so if the next request
-- prepares a statement: then the revision is NULL, and the statement fails. A statement that inserts several robots alone
-- takes all its revisions at its first robot, whose "added" is 1 minus their number; it is 1 for the others. The statement
-- of the program inserts NULL as the revision if the definition is another one, and fails.
CREATE TRIGGER robots_insert BEFORE INSERT ON robots FOR EACH ROW
IF NEW.revision IS NOT NULL AND @robots_raises_id IS NULL THEN
    IF @robots_next IS NOT NULL THEN
        SET @robots_revision = @robots_next /*M! * NULLIF(@@in_transaction, 0) */, @robots_next = @robots_next + 1;
    ELSEIF NEW.added = 1 THEN
        SET @robots_revision = @robots_revision + 1;
    ELSE
        UPDATE robots_catalogue SET revision = (@robots_revision := revision + 1) - NEW.added WHERE id = 1;
    END IF;
    SET NEW.revision = @robots_revision, NEW.added = @robots_revision;
    SET NEW.created_at = COALESCE(NEW.created_at, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000),
        NEW.updated_at = COALESCE(NEW.updated_at, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000);
END IF;

-- A program that does not know the revision leaves it as it is, and knows neither the search text nor who changes the
-- robot.
CREATE TRIGGER robots_change BEFORE UPDATE ON robots FOR EACH ROW
IF NEW.revision <> OLD.revision OR NOT (NEW.name = OLD.name AND NEW.type <=> OLD.type AND NEW.year <=> OLD.year
    AND NEW.own <=> OLD.own)
THEN
    IF NEW.revision = OLD.revision THEN
        SET NEW.updated_by = (SELECT actor FROM robots_catalogue WHERE id = 1);
        IF NOT (NEW.name = OLD.name AND NEW.own <=> OLD.own) THEN
            SET NEW.search_text = NULL, NEW.own_text = NULL;
        END IF;
    END IF;
    IF @robots_next IS NULL THEN
        UPDATE robots_catalogue SET revision = (@robots_revision := revision + 1) WHERE id = 1;
    ELSE
        SET @robots_revision = @robots_next /*M! * NULLIF(@@in_transaction, 0) */, @robots_next = @robots_next + 1;
    END IF;
    SET NEW.revision = @robots_revision;
    SET NEW.updated_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000;
    INSERT INTO robots_versions (id, replaced, is_deleted, replaced_at, replaced_by,
        revision, added, name, type, year, own, created_at, updated_at, updated_by, addition)
    VALUES (OLD.id, NEW.revision, 0, NEW.updated_at, NEW.updated_by,
        OLD.revision, OLD.added, OLD.name, OLD.type, OLD.year, OLD.own, OLD.created_at, OLD.updated_at, OLD.updated_by,
        IF(OLD.revision = OLD.added, OLD.revision, NULL));
END IF;

CREATE TRIGGER robots_delete BEFORE DELETE ON robots FOR EACH ROW
IF @robots_raises_id IS NULL THEN
    IF @robots_next IS NULL THEN
        UPDATE robots_catalogue SET revision = (@robots_revision := revision + 1) WHERE id = 1;
    ELSE
        SET @robots_revision = @robots_next /*M! * NULLIF(@@in_transaction, 0) */, @robots_next = @robots_next + 1;
    END IF;
    INSERT INTO robots_versions (id, replaced, is_deleted, replaced_at, replaced_by,
        revision, added, name, type, year, own, created_at, updated_at, updated_by, addition)
    SELECT OLD.id, @robots_revision, 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000, actor,
        OLD.revision, OLD.added, OLD.name, OLD.type, OLD.year, OLD.own, OLD.created_at, OLD.updated_at, OLD.updated_by,
        IF(OLD.revision = OLD.added, OLD.revision, NULL)
    FROM robots_catalogue WHERE robots_catalogue.id = 1;
END IF;
