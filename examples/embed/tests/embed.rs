//! The tour prints the same with every store; errors are one line.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails if the program cannot be run"
)]

use std::{
    io,
    process::{Command, Output},
};

/// The output with a catalogue that has assigned no id yet.
const TOUR: &str = "\
Added, and listed by name:
   3  virtual     1968  HAL 9000
   2  mechanical  1978  Marvin
   1  droid       1977  R2-D2
Not added:
  Value of field 'type' must be part of list: droid, mechanical, virtual
  The robot name must be unique
  The year cannot be less than zero
Names that contain R:
   1  droid       1977  R2-D2
Page 1:
   3  virtual     1968  HAL 9000
   2  mechanical  1978  Marvin the Paranoid Android
Page 2:
   1  droid       1977  R2-D2
Deleted; 0 left.
";

fn embed(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_embed"))
        .args(arguments)
        .output()
        .unwrap()
}

/// Asserts that the tour succeeds, and returns its output.
fn printed(arguments: &[&str]) -> String {
    let output = embed(arguments);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn memory_is_the_default_store() {
    assert_eq!(printed(&["memory:"]), TOUR);
    assert_eq!(printed(&[]), TOUR);
}

#[test]
fn tour_runs_again_on_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/tour.db", folder.path().display());
    assert_eq!(printed(&[&url]), TOUR);
    // The names of the deleted robots are free; their ids are not used again.
    let again = TOUR
        .replace("\n   3  ", "\n   6  ")
        .replace("\n   2  ", "\n   5  ")
        .replace("\n   1  ", "\n   4  ");
    assert_eq!(printed(&[&url]), again);
}

#[test]
fn unknown_scheme_prints_one_error_line() {
    let output = embed(&["ftp://robots"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        message.starts_with("embed: no store has URLs that begin with 'ftp'"),
        "{message}"
    );
    assert_eq!(message.lines().count(), 1, "{message}");
}

#[test]
fn closed_output_is_no_error() {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_embed"))
        .stdout(writer)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}
