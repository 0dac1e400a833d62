//! Rebuilds the crate when a migration changes: the SQL files are compiled in by a macro, which cargo
//! does not track.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
}
