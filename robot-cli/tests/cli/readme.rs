//! Tests of the examples in documents.

use std::{fs, path::Path};

use crate::sandbox::Sandbox;

const README: &str = include_str!("../../README.md");
const PROJECT: &str = include_str!("../../../README.md");

#[test]
fn readme_examples_print_the_output_shown() {
    for heading in ["## Common tasks", "## Fields of your own"] {
        run_examples(section(README, heading), &Sandbox::new(), 6);
    }
}

#[test]
fn example_folders_print_the_output_shown() {
    let museum = ["definition.json", "exhibits.csv", "README.md"];
    let lab = ["definition.json", "instruments.csv", "README.md"];
    for (folder, files) in [("museum", museum), ("lab", lab)] {
        let folder = Path::new("../examples").join(folder);
        let sandbox = || {
            let sandbox = Sandbox::new();
            for file in files {
                sandbox.write(file, fs::read(folder.join(file)).unwrap());
            }
            sandbox
        };
        run_examples(&sandbox().read("README.md"), &sandbox(), 5);
        if files == museum {
            run_examples(section(PROJECT, "## Define your own fields"), &sandbox(), 3);
        }
    }
}

/// The part of a document from a heading to the next one.
fn section<'a>(document: &'a str, heading: &str) -> &'a str {
    let (_, section) = document.split_once(heading).unwrap();
    section.split("\n## ").next().unwrap()
}

/// Runs the commands of a text, at least so many, and compares what they print.
fn run_examples(text: &str, sandbox: &Sandbox, least: usize) {
    let blocks = text.split("```console").skip(1);
    let blocks = blocks.map(|block| block.split("\n```").next().unwrap());
    let steps = blocks.flat_map(|block| block.split("\n$ "));
    let examples: Vec<_> = steps
        .filter_map(|step| step.strip_prefix("robot-cli "))
        .collect();
    assert!(examples.len() >= least, "{examples:?}");
    for example in examples {
        let (arguments, output) = example.split_once('\n').unwrap();
        sandbox.prints(arguments, &format!("{output}\n"));
    }
}
