//! The curl commands in the README, and the answers that it shows.

use crate::Server;

const README: &str = include_str!("../../../README.md");

/// The words of a shell command, without single quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for character in command.chars() {
        match character {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            other => words.last_mut().unwrap().push(other),
        }
    }
    words
}

/// Sends the request of a `curl` command.
fn send(server: &Server, command: &str) -> String {
    let (mut method, mut target, mut body) = ("GET".to_owned(), String::new(), String::new());
    let mut words = words(command).into_iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-X" => method = words.next().unwrap(),
            "-d" => {
                body = words.next().unwrap();
                if method == "GET" {
                    "POST".clone_into(&mut method);
                }
            }
            url => url
                .strip_prefix("http://127.0.0.1:8000")
                .unwrap()
                .clone_into(&mut target),
        }
    }
    server.call(&method, &target, &body).text()
}

#[test]
fn readme_tour_shows_the_real_answers() {
    let server = Server::sqlite(&[]);
    let tour: Vec<_> = README
        .split("\n$ ")
        .skip(1)
        .filter(|step| step.starts_with("curl"))
        .collect();
    assert!(tour.len() >= 8, "{tour:?}");
    for step in tour {
        let (command, shown) = step.split_once('\n').unwrap();
        let shown = shown.lines().next().unwrap();
        assert_eq!(send(&server, command), shown, "{command}");
    }
}
