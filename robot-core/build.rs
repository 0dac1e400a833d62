//! Migrations are compiled in from SQL files, which the compiler does not watch by itself.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
}
