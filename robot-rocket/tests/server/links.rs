//! Links in the Markdown files of the repository.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// All Markdown files below a folder.
fn markdown_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        if path.is_dir() && name != "target" && name != "src" && !name.starts_with('.') {
            files.extend(markdown_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
    files
}

/// The lines of a file outside of code blocks.
fn prose(text: &str) -> Vec<&str> {
    let mut is_code = false;
    text.lines()
        .filter(|line| {
            let is_fence = line.trim_start().starts_with("```");
            is_code ^= is_fence;
            !is_code && !is_fence
        })
        .collect()
}

/// The anchors of the headings in a file, as GitHub derives them.
fn anchors(text: &str) -> HashSet<String> {
    prose(text)
        .into_iter()
        .filter(|line| line.starts_with('#'))
        .map(|line| {
            line.trim_start_matches('#')
                .trim()
                .to_lowercase()
                .replace(' ', "-")
                .replace(|c: char| !c.is_alphanumeric() && !"-_".contains(c), "")
        })
        .collect()
}

/// The targets of the links `[text](target)` in a file. Rustdoc checks those in its own files.
fn targets(text: &str) -> Vec<&str> {
    prose(text)
        .into_iter()
        .flat_map(|line| line.split("](").skip(1))
        .filter_map(|rest| rest.split([')', ' ']).next())
        .collect()
}

#[test]
fn relative_links_lead_to_files_and_headings() {
    let mut broken = Vec::new();
    for file in markdown_files(Path::new(ROOT)) {
        let text = fs::read_to_string(&file).unwrap();
        for target in targets(&text) {
            if target.contains(':') {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let linked = match path {
                "" => file.clone(),
                path => file.parent().unwrap().join(path),
            };
            let is_right = linked.exists()
                && (anchor.is_empty()
                    || anchors(&fs::read_to_string(&linked).unwrap()).contains(anchor));
            if !is_right {
                broken.push(format!("{}: {target}", file.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}
