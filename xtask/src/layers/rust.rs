//! The facts that rules need from Rust code: the paths and strings it contains, without tests and comments.

use std::iter::Peekable;
use std::str::FromStr as _;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree, token_stream};

/// Paths and strings of one file, each with its line.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Each `a::b`, also if `b` is in braces.
    pub(super) paths: Vec<(usize, [String; 2])>,
    pub(super) strings: Vec<(usize, String)>,
}

/// Reads a file. A file that does not lex has no facts, since the compiler will refuse it.
pub(super) fn facts(text: &str) -> Facts {
    let mut facts = Facts::default();
    if let Ok(tokens) = TokenStream::from_str(text) {
        facts.read(tokens);
    }
    facts
}

/// Every identifier of a file with its line, in tests and macro calls too.
pub(super) fn identifiers(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    if let Ok(tokens) = TokenStream::from_str(text) {
        add_identifiers(tokens, &mut found);
    }
    found
}

fn add_identifiers(tokens: TokenStream, found: &mut Vec<(usize, String)>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => found.push((ident.span().start().line, ident.to_string())),
            TokenTree::Group(group) => add_identifiers(group.stream(), found),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

impl Facts {
    fn read(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    tokens.next_if(|token| is_punct(token, '!'));
                    if let Some(attribute) = next_group(&mut tokens, Delimiter::Bracket) {
                        self.attribute(&attribute, &mut tokens);
                    }
                }
                TokenTree::Ident(head) => {
                    if skip_path_separator(&mut tokens) {
                        self.path(&head.to_string(), tokens.peek());
                    }
                }
                TokenTree::Literal(literal) => {
                    if let Some(text) = string(&literal.to_string()) {
                        self.strings.push((literal.span().start().line, text));
                    }
                }
                TokenTree::Group(group) => self.read(group.stream()),
                TokenTree::Punct(_) => {}
            }
        }
    }

    /// Skips documentation, and items that an attribute marks as tests.
    fn attribute(&mut self, attribute: &Group, rest: &mut Peekable<token_stream::IntoIter>) {
        let mut inside = attribute.stream().into_iter();
        let name = inside.next().map(|token| token.to_string()).unwrap_or_default();
        let condition = inside.next().map(|token| token.to_string()).unwrap_or_default();
        if name == "cfg" && condition.contains("test") && !condition.contains("not") {
            let ends = |token: &TokenTree| match token {
                TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                other => is_punct(other, ';'),
            };
            rest.by_ref().find(ends);
        } else if name != "doc" {
            self.read(attribute.stream());
        }
    }

    fn path(&mut self, head: &str, next: Option<&TokenTree>) {
        let mut add = |token: &TokenTree| {
            if let TokenTree::Ident(ident) = token {
                self.paths.push((ident.span().start().line, [head.into(), ident.to_string()]));
            }
        };
        match next {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                group.stream().into_iter().for_each(|token| add(&token));
            }
            Some(token) => add(token),
            None => {}
        }
    }
}

pub(super) fn is_punct(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == char)
}

pub(super) fn next_group(tokens: &mut Peekable<token_stream::IntoIter>, delimiter: Delimiter) -> Option<Group> {
    match tokens.next_if(|token| matches!(token, TokenTree::Group(group) if group.delimiter() == delimiter)) {
        Some(TokenTree::Group(group)) => Some(group),
        _ => None,
    }
}

/// Consumes `::` if it comes next. A single `:` is consumed too, because no path needs it.
fn skip_path_separator(tokens: &mut Peekable<token_stream::IntoIter>) -> bool {
    let colon = |token: &TokenTree| is_punct(token, ':');
    tokens.next_if(colon).is_some() && tokens.next_if(colon).is_some()
}

/// The text of a string literal, precise enough to recognize a statement.
pub(super) fn string(literal: &str) -> Option<String> {
    let plain = literal.trim_start_matches(['b', 'c']);
    if let Some(raw) = plain.strip_prefix('r') {
        let raw = raw.trim_matches('#');
        return Some(raw.strip_prefix('"')?.strip_suffix('"')?.into());
    }
    let text = plain.strip_prefix('"')?.strip_suffix('"')?;
    Some(text.replace("\\\n", " ").replace("\\n", "\n").replace("\\\"", "\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        facts(text).paths.iter().map(|(line, [a, b])| format!("{line} {a}::{b}")).collect()
    }

    fn strings(text: &str) -> Vec<String> {
        facts(text).strings.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn paths_are_found_in_uses_and_calls() {
        assert_eq!(
            paths("use std::env::{self, var};\nfn f() { env::var(\"A\") }"),
            ["1 std::env", "1 env::self", "1 env::var", "2 env::var"]
        );
        assert_eq!(paths("let a: b = c;"), Vec::<String>::new());
    }

    #[test]
    fn identifiers_are_found_in_tests_and_macros_too() {
        let text = "/// a\nfn b(c: D) {}\n#[cfg(test)]\nmod e { f!(g, \"h\", 'i'); }";
        let found: Vec<_> = identifiers(text).into_iter().filter(|(line, _)| *line != 3).collect();
        let expected = [(1, "doc"), (2, "fn"), (2, "b"), (2, "c"), (2, "D"), (4, "mod"), (4, "e"), (4, "f"), (4, "g")];
        assert_eq!(found, expected.map(|(line, name)| (line, name.to_owned())));
    }

    #[test]
    fn strings_are_found_in_macros_too() {
        assert_eq!(
            strings(r##"query!("select \"a\"", r#"raw "b""#, b"bytes", 'c', 1)"##),
            ["select \"a\"", "raw \"b\"", "bytes"]
        );
    }

    #[test]
    fn comments_and_documentation_are_not_strings() {
        assert!(strings("//! select a\n/// select b\n/* \"c\" */ // \"d\"\nfn f() {}").is_empty());
        assert_eq!(strings("#[expect(x, reason = \"e\")] fn f() {}"), ["e"]);
    }

    #[test]
    fn tests_are_left_out() {
        let text = "fn f() {}\n#[cfg(test)]\nmod tests { const A: &str = \"a\"; }\nconst B: &str = \"b\";";
        assert_eq!(strings(text), ["b"]);
        assert_eq!(strings("#[cfg(not(test))]\nconst A: &str = \"a\";"), ["a"]);
        assert_eq!(strings("#[cfg(test)]\nmod tests;\nconst A: &str = \"a\";"), ["a"]);
    }
}
