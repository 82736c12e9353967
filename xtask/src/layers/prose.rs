//! The phrases that comments, documents and names avoid (`docs/contribute/glossary.md`), and citations of documents
//! that are not here.

use super::Violation;
use super::model::{File, Model};
use super::rust;

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
/// Beginnings of sentences that put `Of` before the subject.
const FRONTED: &[&str] = &["Of a ", "Of an ", "Of the ", "Of its ", "Of this ", "Of those ", "Of what ", "Of all "];
/// Words that are not part of a name in Rust, with what to write.
const NAMES: &[(&str, &str)] = &[
    ("told", "name what it is: an answer, a report, a message"),
    ("anew", "write again, or what happens again"),
    ("in_sight", "write visible"),
    ("in_vain", "say which effect is missing"),
    ("whoever", "name the caller, the client or the worker"),
    ("heeded", "write followed or used"),
];
/// The page that lists the phrases, and this list.
const LISTS: &[&str] = &["docs/contribute/glossary.md", "xtask/src/layers/prose.rs"];
/// Files of others, what was written before, and what is generated.
const ELSEWHERE: &[&str] = &[
    "crates/feeds/tests/corpus/",
    "fuzz/corpus/",
    "LICENSE",
    "clients/python/kalends_api/",
    "clients/typescript/src/generated/",
];

pub(super) fn check(model: &Model) -> Vec<Violation> {
    let ours = || model.files.iter().filter(|file| is_ours(file));
    ours().flat_map(phrases_of).chain(ours().flat_map(names_of)).collect()
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

fn names_of(file: &File) -> Vec<Violation> {
    if !file.path.ends_with(".rs") {
        return Vec::new();
    }
    let violation = |(line, name): (usize, String)| {
        let words = format!("_{}_", name.to_lowercase());
        let (word, instead) = NAMES.iter().find(|(word, _)| words.contains(&format!("_{word}_")))?;
        Some(Violation::new(format!("{}:{line}", file.path), format!("`{name}` has the word \"{word}\": {instead}")))
    };
    rust::identifiers(&file.text).into_iter().filter_map(violation).collect()
}

/// The marks that begin a comment in a file of this kind. The list is empty if the whole file is prose. `None` if the
/// file has no prose.
fn marks(path: &str) -> Option<&'static [&'static str]> {
    match path.rsplit_once('.')?.1 {
        "rs" | "js" | "cjs" | "mjs" | "ts" | "mts" | "css" => Some(&["///", "//!", "//"]),
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

/// The problem with a line of prose, if there is one.
fn problem(prose: &str) -> Option<String> {
    let lower = prose.to_lowercase();
    let phrase = PHRASES.iter().find(|(phrase, _)| has(&lower, phrase));
    if let Some((phrase, instead)) = phrase {
        return Some(format!("says \"{phrase}\": {instead}"));
    }
    let begins = |fronted: &&&str| prose.trim_start().starts_with(**fronted) || prose.contains(&format!(". {fronted}"));
    FRONTED.iter().find(begins).map(|_| "a sentence begins with \"Of\": begin with the subject".to_owned())
}

/// Whether the text contains the phrase as whole words.
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

    fn named(path: &str, text: &str) -> Vec<String> {
        let file = File { path: path.to_owned(), text: text.to_owned() };
        names_of(&file).into_iter().map(|violation| violation.to_string()).collect()
    }

    #[test]
    fn words_are_found_in_names() {
        let text = "const TOLD_MAX: u8 = 1;\nfn events_in_sight() {\n    assert!(sealed_anew);\n}";
        assert_eq!(
            named("crates/feeds/src/lib.rs", text),
            [
                "crates/feeds/src/lib.rs:1: `TOLD_MAX` has the word \"told\": name what it is: an answer, a report, a message",
                "crates/feeds/src/lib.rs:2: `events_in_sight` has the word \"in_sight\": write visible",
                "crates/feeds/src/lib.rs:3: `sealed_anew` has the word \"anew\": write again, or what happens again",
            ]
        );
    }

    #[test]
    fn longer_words_strings_and_other_files_are_not_names() {
        let text = "fn untold(insight: u8) { query!(\"told\") } // told";
        assert_eq!(named("crates/feeds/src/lib.rs", text), Vec::<String>::new());
        assert_eq!(named("told.py", "told = 1"), Vec::<String>::new());
    }

    #[test]
    fn code_and_longer_words_are_not_prose() {
        assert_eq!(found("a.rs", "let told = anew; // told\n/// `told` and untold, foretells\n"), Vec::<String>::new());
        assert_eq!(found("a.json", "told"), Vec::<String>::new());
        assert_eq!(found("a.rs", "/// Bytes. Often a list.\n"), Vec::<String>::new());
    }
}
