/*M!999999\- enable the sandbox mode */ 

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;
/*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;
/*!40101 SET NAMES utf8mb4 */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;
DROP TABLE IF EXISTS `__diesel_schema_migrations`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `__diesel_schema_migrations` (
  `version` varchar(50) NOT NULL,
  `run_on` timestamp NOT NULL DEFAULT current_timestamp(),
  PRIMARY KEY (`version`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `__diesel_schema_migrations` WRITE;
/*!40000 ALTER TABLE `__diesel_schema_migrations` DISABLE KEYS */;
INSERT INTO `__diesel_schema_migrations` VALUES ('20261125000000','2026-11-25 16:44:56');
/*!40000 ALTER TABLE `__diesel_schema_migrations` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `robots`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `robots` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `name` varchar(255) NOT NULL CHECK (char_length(`name`) > 0 and locate(convert(char(0) using utf8mb4),`name`) = 0),
  `type` varchar(255) DEFAULT NULL,
  `year` bigint(20) DEFAULT NULL,
  `revision` bigint(20) NOT NULL DEFAULT 1,
  `search_text` varchar(255) DEFAULT NULL,
  `own_text` longtext DEFAULT NULL,
  `own` longtext DEFAULT NULL CHECK (json_valid(`own`)),
  PRIMARY KEY (`id`),
  UNIQUE KEY `robots_name` (`name`),
  KEY `robots_year` (`year`),
  KEY `robots_type_year` (`type`,`year`),
  KEY `robots_unindexed` (`search_text`(1))
) ENGINE=InnoDB AUTO_INCREMENT=41 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin ROW_FORMAT=DYNAMIC;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `robots` WRITE;
/*!40000 ALTER TABLE `robots` DISABLE KEYS */;
INSERT INTO `robots` VALUES (1,'R2-D2','droid',1977,1,'r2-d2',NULL,NULL);
INSERT INTO `robots` VALUES (2,'r2-d2','mechanical',0,1,'r2-d2',NULL,NULL);
INSERT INTO `robots` VALUES (3,'x','droid',9223372036854775807,1,'x',NULL,NULL);
INSERT INTO `robots` VALUES (4,'x ','virtual',1,1,'x ',NULL,NULL);
INSERT INTO `robots` VALUES (5,'café','virtual',2001,1,'cafe',NULL,NULL);
INSERT INTO `robots` VALUES (6,'café','virtual',2002,1,'cafe',NULL,NULL);
INSERT INTO `robots` VALUES (7,'100 %_\\ \'quoted\' \"twice\" ;--','mechanical',2003,1,'100 %_\\ \'quoted\' \"twice\" ;--',NULL,NULL);
INSERT INTO `robots` VALUES (8,'機械 🤖','droid',2004,1,'機械 🤖',NULL,NULL);
INSERT INTO `robots` VALUES (9,' line 1\nline 2	','droid',2005,1,' line 1\nline 2	',NULL,NULL);
INSERT INTO `robots` VALUES (10,'unit 10','mechanical',1910,1,'unit 10',NULL,NULL);
INSERT INTO `robots` VALUES (13,'unit 13','mechanical',1913,1,'unit 13',NULL,NULL);
INSERT INTO `robots` VALUES (14,'unit 14','mechanical',1914,1,'unit 14',NULL,NULL);
INSERT INTO `robots` VALUES (15,'unit 15','mechanical',1915,1,'unit 15',NULL,NULL);
INSERT INTO `robots` VALUES (16,'unit 16','mechanical',1916,1,'unit 16',NULL,NULL);
INSERT INTO `robots` VALUES (17,'unit 17','mechanical',1917,1,'unit 17',NULL,NULL);
INSERT INTO `robots` VALUES (18,'unit 18','mechanical',1918,1,'unit 18',NULL,NULL);
INSERT INTO `robots` VALUES (19,'unit 19','mechanical',1919,1,'unit 19',NULL,NULL);
INSERT INTO `robots` VALUES (20,'renamed 20','mechanical',1920,2,'renamed 20',NULL,NULL);
INSERT INTO `robots` VALUES (21,'unit 21','mechanical',1921,1,'unit 21',NULL,NULL);
INSERT INTO `robots` VALUES (22,'unit 22','mechanical',1922,1,'unit 22',NULL,NULL);
INSERT INTO `robots` VALUES (23,'unit 23','mechanical',1923,1,'unit 23',NULL,NULL);
INSERT INTO `robots` VALUES (24,'unit 24','mechanical',1924,1,'unit 24',NULL,NULL);
INSERT INTO `robots` VALUES (25,'unit 25','mechanical',1925,1,'unit 25',NULL,NULL);
INSERT INTO `robots` VALUES (26,'unit 26','mechanical',1926,1,'unit 26',NULL,NULL);
INSERT INTO `robots` VALUES (27,'unit 27','mechanical',1927,1,'unit 27',NULL,NULL);
INSERT INTO `robots` VALUES (28,'unit 28','mechanical',1928,1,'unit 28',NULL,NULL);
INSERT INTO `robots` VALUES (29,'unit 29','mechanical',1929,1,'unit 29',NULL,NULL);
INSERT INTO `robots` VALUES (30,'unit 30','mechanical',1930,1,'unit 30',NULL,NULL);
INSERT INTO `robots` VALUES (31,'unit 31','mechanical',1931,1,'unit 31',NULL,NULL);
INSERT INTO `robots` VALUES (32,'unit 32','mechanical',1932,1,'unit 32',NULL,NULL);
INSERT INTO `robots` VALUES (33,'unit 33','mechanical',1933,1,'unit 33',NULL,NULL);
INSERT INTO `robots` VALUES (34,'unit 34','mechanical',1934,1,'unit 34',NULL,NULL);
INSERT INTO `robots` VALUES (35,'unit 35','mechanical',1935,1,'unit 35',NULL,NULL);
INSERT INTO `robots` VALUES (36,'unit 36','mechanical',1936,1,'unit 36',NULL,NULL);
INSERT INTO `robots` VALUES (37,'unit 37','mechanical',1937,1,'unit 37',NULL,NULL);
INSERT INTO `robots` VALUES (38,'unit 38','mechanical',1938,1,'unit 38',NULL,NULL);
INSERT INTO `robots` VALUES (39,'unit 39','mechanical',1939,1,'unit 39',NULL,NULL);
/*!40000 ALTER TABLE `robots` ENABLE KEYS */;
UNLOCK TABLES;
DROP TABLE IF EXISTS `robots_definition`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `robots_definition` (
  `id` bigint(20) NOT NULL CHECK (`id` = 1),
  `revision` bigint(20) NOT NULL,
  `document` longtext NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `robots_definition` WRITE;
/*!40000 ALTER TABLE `robots_definition` DISABLE KEYS */;
INSERT INTO `robots_definition` VALUES (1,1,'{}');
/*!40000 ALTER TABLE `robots_definition` ENABLE KEYS */;
UNLOCK TABLES;
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;

/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;
/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;
/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;
/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;

