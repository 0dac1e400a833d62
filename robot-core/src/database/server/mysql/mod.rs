//! MariaDB and MySQL.

mod connection;
mod migrations;
mod statements;
mod url;
