//! The phrases that comments and documents avoid (`docs/glossary.md`), and citations of documents that are not here.

use super::Violation;
use super::model::{File, Model};

/// Phrases in lower case, with what to write.
const PHRASES: &[(&str, &str)] = &[
    ("whoever", "name the caller, the client or the worker"),
    ("tells", "write returns, reports or says"),
    ("told", "write returned, reported or said"),
    ("so many", "give the number, or write that many"),
    ("anew", "write again"),
    ("in vain", "say which effect is missing"),
    ("be had", "write exist or be available"),
    ("heeded", "write followed or used"),
    ("meanwhile", "leave it out, or write at the same time"),
    ("in sight", "write visible"),
    ("ruling", "state the fact: the document is not in this repository"),
    ("rulings", "state the fact: the document is not in this repository"),
    ("the specification", "state the fact, or name the RFC"),
];
/// Words that do not begin a sentence after `Of`.
const FRONTED: &[&str] = &["Of a ", "Of an ", "Of the ", "Of its ", "Of this ", "Of those ", "Of what ", "Of all "];
/// The page that lists the phrases, and this list.
const LISTS: &[&str] = &["docs/glossary.md", "xtask/src/layers/prose.rs"];
/// Files of others, and what was written before.
const ELSEWHERE: &[&str] = &["crates/feeds/tests/corpus/", "fuzz/corpus/", "LICENSE"];

pub(super) fn check(model: &Model) -> Vec<Violation> {
    model.files.iter().filter(|file| is_ours(file)).flat_map(phrases_of).collect()
}

fn is_ours(file: &File) -> bool {
    !LISTS.contains(&file.path.as_str()) && !ELSEWHERE.iter().any(|folder| file.path.starts_with(folder))
}

fn phrases_of(file: &File) -> Vec<Violation> {
    let Some(marks) = marks(&file.path) else { return Vec::new() };
    let mut violations = Vec::new();
    for (line, text) in (1..).zip(file.text.lines()) {
        let Some(prose) = prose(text, marks) else { continue };
        violations.extend(problem(&prose).map(|what| Violation::new(format!("{}:{line}", file.path), what)));
    }
    violations
}

/// What begins a comment in a file of this kind; nothing if all of it is prose. `None` if it is neither.
fn marks(path: &str) -> Option<&'static [&'static str]> {
    match path.rsplit_once('.')?.1 {
        "rs" | "js" | "cjs" | "mts" | "css" => Some(&["///", "//!", "//"]),
        "toml" | "py" | "yml" => Some(&["#"]),
        "md" => Some(&[]),
        _ => None,
    }
}

/// The prose of a line, without what is in backticks.
fn prose(line: &str, marks: &[&str]) -> Option<String> {
    let line = line.trim_start();
    let text = if marks.is_empty() { line } else { marks.iter().find_map(|mark| line.strip_prefix(mark))? };
    // Every second part is in backticks.
    Some(text.split('`').step_by(2).collect::<Vec<_>>().join("x"))
}

/// What is wrong with a line of prose.
fn problem(prose: &str) -> Option<String> {
    let lower = prose.to_lowercase();
    let phrase = PHRASES.iter().find(|(phrase, _)| has(&lower, phrase));
    if let Some((phrase, instead)) = phrase {
        return Some(format!("says \"{phrase}\": {instead}"));
    }
    let begins = |fronted: &&&str| prose.trim_start().starts_with(**fronted) || prose.contains(&format!(". {fronted}"));
    FRONTED.iter().find(begins).map(|_| "a sentence begins with \"Of\": begin with the subject".to_owned())
}

/// Whether the text has the phrase as words of their own.
fn has(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let (before, after) = (text.get(..at), text.get(at + phrase.len()..));
        let apart = |char: Option<char>| !char.is_some_and(|char| char.is_alphanumeric() || char == '_');
        apart(before.and_then(|text| text.chars().next_back())) && apart(after.and_then(|text| text.chars().next()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let file = File { path: path.to_owned(), text: text.to_owned() };
        phrases_of(&file).into_iter().map(|violation| violation.place).collect()
    }

    #[test]
    fn phrases_are_found_in_comments_and_documents() {
        assert_eq!(found("a.rs", "/// Whoever calls.\nlet x = 1;\n// It is told\n"), ["a.rs:1", "a.rs:3"]);
        assert_eq!(found("a.md", "Fine.\n\nOf the two, one wins. Read ruling 4.\n"), ["a.md:3"]);
        assert_eq!(found("a.toml", "# so many\nname = \"told\"\n"), ["a.toml:1"]);
        assert_eq!(found("a.md", "The first. Of a batch, one.\n"), ["a.md:1"]);
    }

    #[test]
    fn code_and_longer_words_are_not_prose() {
        assert_eq!(found("a.rs", "let told = anew; // told\n/// `told` and untold, foretells\n"), Vec::<String>::new());
        assert_eq!(found("a.json", "told"), Vec::<String>::new());
        assert_eq!(found("a.rs", "/// Bytes. Often a list.\n"), Vec::<String>::new());
    }
}
