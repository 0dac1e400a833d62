//! Tests of the examples in the README.

use crate::sandbox::Sandbox;

const README: &str = include_str!("../../README.md");

#[test]
fn readme_examples_print_the_output_shown() {
    run_examples("## Common tasks");
    run_examples("## Fields of your own");
}

fn run_examples(heading: &str) {
    let (_, tasks) = README.split_once(heading).unwrap();
    let (_, tasks) = tasks.split_once("```console\n$ robot-cli ").unwrap();
    let (tasks, _) = tasks.split_once("```\n").unwrap();
    let sandbox = Sandbox::new();
    for example in tasks.split("$ robot-cli ") {
        let (arguments, output) = example.split_once('\n').unwrap();
        sandbox.prints(&arguments.split(' ').collect::<Vec<_>>(), output);
    }
}
