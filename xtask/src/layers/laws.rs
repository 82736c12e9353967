//! The laws of the workspace: what `proptest!` blocks test. Each has a sentence, and a page lists the sentences.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::FromStr as _;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree, token_stream};

use super::Violation;
use super::model::{File, Model};
use super::rust::{is_punct, next_group, string};

/// The page that lists the laws.
pub(crate) const PAGE: &str = "docs/contribute/properties.md";

/// The heading of the list. The list is the rest of the page.
const HEADING: &str = "\n## The laws\n";

/// The command that writes the list.
const RENEW: &str = "cargo xtask properties --renew";

/// A property-based test.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Law {
    /// The name of the package.
    pub(crate) package: String,
    /// The integration test that contains it. `None` if the library or the program does.
    pub(crate) binary: Option<String>,
    /// The name of the test, with its modules.
    pub(crate) test: String,
    /// Its file, relative to the root.
    file: String,
    /// The line of its name.
    line: usize,
    /// The first paragraph of its doc comment, in one line. Empty if it has none.
    sentence: String,
}

impl Law {
    /// The name of the function.
    fn name(&self) -> &str {
        self.test.rsplit("::").next().unwrap_or(&self.test)
    }
}

/// Every law of the repository, by package, file and line.
pub(crate) fn laws(model: &Model) -> Vec<Law> {
    let mut found: Vec<Law> = model.files.iter().flat_map(|file| laws_of(model, file)).collect();
    found.sort_by(|one, other| (&one.package, &one.file, one.line).cmp(&(&other.package, &other.file, other.line)));
    found
}

/// The page with the list of these laws. `None` if it has no heading for the list.
pub(crate) fn renewed(page: &str, laws: &[Law]) -> Option<String> {
    let (before, _) = page.split_once(HEADING)?;
    let mut by_package: BTreeMap<&str, Vec<&Law>> = BTreeMap::new();
    for law in laws {
        by_package.entry(&law.package).or_default().push(law);
    }
    let mut text = format!("{before}{HEADING}");
    for (package, laws) in by_package {
        text.push_str(&format!("\n### `{package}`\n\n"));
        for law in laws {
            text.push_str(&format!("- `{}`: {}\n", law.name(), law.sentence));
        }
    }
    Some(text)
}

pub(super) fn check(model: &Model) -> Vec<Violation> {
    let laws = laws(model);
    let unnamed = laws.iter().filter(|law| !law.sentence.ends_with('.') || law.sentence.contains(". "));
    let mut violations: Vec<Violation> = unnamed
        .map(|law| {
            let what = format!("the law `{}` needs a doc comment that states it in one sentence", law.name());
            Violation::new(format!("{}:{}", law.file, law.line), what)
        })
        .collect();
    if laws.is_empty() {
        return violations;
    }
    let page = model.file(PAGE).map(|page| page.text.as_str());
    match page.map(|page| (page, renewed(page, &laws))) {
        Some((page, Some(renewed))) if page == renewed => {}
        Some((_, Some(_))) => {
            violations.push(Violation::new(PAGE, format!("the list differs from the laws; {RENEW} writes it")));
        }
        Some((_, None)) => violations.push(Violation::new(PAGE, format!("has no heading `{}`", HEADING.trim()))),
        None => violations.push(Violation::new(PAGE, "the list of the laws is missing")),
    }
    violations
}

/// The laws of one file.
fn laws_of(model: &Model, file: &File) -> Vec<Law> {
    if !file.path.ends_with(".rs") {
        return Vec::new();
    }
    let within = |folder: &str| file.path.strip_prefix(folder)?.strip_prefix('/');
    let packages = model.packages.iter().filter_map(|package| Some((package, within(&package.folder)?)));
    let Some((package, path)) = packages.max_by_key(|(package, _)| package.folder.len()) else { return Vec::new() };
    let (Some((binary, mut modules)), Ok(tokens)) = (place(path), TokenStream::from_str(&file.text)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    in_modules(tokens, &mut modules, &mut found);
    let law = |Found { test, line, sentence }| Law {
        package: package.name.clone(),
        binary: binary.clone(),
        test,
        file: file.path.clone(),
        line,
        sentence,
    };
    found.into_iter().map(law).collect()
}

/// The integration test and the modules of a file of a package. `None` if the file is not part of a test program.
fn place(path: &str) -> Option<(Option<String>, Vec<String>)> {
    let (folder, rest) = path.strip_suffix(".rs")?.split_once('/')?;
    let mut names: Vec<String> = rest.split('/').map(String::from).collect();
    let binary = match folder {
        "src" => None,
        "tests" => Some(names.remove(0)),
        _ => return None,
    };
    if names.last().is_some_and(|name| matches!(name.as_str(), "lib" | "main" | "mod")) {
        names.pop();
    }
    Some((binary, names))
}

/// A law as its file shows it.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    test: String,
    line: usize,
    sentence: String,
}

/// Adds the laws of the `proptest!` blocks of a module and of the modules in it.
fn in_modules(tokens: TokenStream, modules: &mut Vec<String>, found: &mut Vec<Found>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let TokenTree::Ident(ident) = token else { continue };
        if ident == "mod" {
            let Some(TokenTree::Ident(name)) = tokens.next() else { continue };
            if let Some(body) = next_group(&mut tokens, Delimiter::Brace) {
                modules.push(name.to_string());
                in_modules(body.stream(), modules, found);
                modules.pop();
            }
        } else if ident == "proptest"
            && tokens.next_if(|token| is_punct(token, '!')).is_some()
            && let Some(block) = next_group(&mut tokens, Delimiter::Brace)
        {
            in_block(block.stream(), modules, found);
        }
    }
}

/// Adds the tests of a `proptest!` block.
fn in_block(tokens: TokenStream, modules: &[String], found: &mut Vec<Found>) {
    let mut tokens = tokens.into_iter().peekable();
    let (mut docs, mut is_test) = (Vec::new(), false);
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                // An inner attribute is of the block.
                let of_block = tokens.next_if(|token| is_punct(token, '!')).is_some();
                if let Some(attribute) = next_group(&mut tokens, Delimiter::Bracket).filter(|_| !of_block) {
                    is_test |= attribute.to_string().trim_matches(['[', ']', ' ']) == "test";
                    docs.extend(doc_line(&attribute));
                }
            }
            TokenTree::Ident(ident) if ident == "fn" => {
                if let Some(TokenTree::Ident(name)) = tokens.next()
                    && std::mem::take(&mut is_test)
                {
                    let path = modules.iter().cloned().chain([name.to_string()]);
                    found.push(Found {
                        test: path.collect::<Vec<_>>().join("::"),
                        line: name.span().start().line,
                        sentence: sentence(&std::mem::take(&mut docs)),
                    });
                }
                skip_body(&mut tokens);
                docs.clear();
            }
            _ => {}
        }
    }
}

/// Consumes a function's parameters and body.
fn skip_body(tokens: &mut Peekable<token_stream::IntoIter>) {
    let is_body = |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    tokens.find(is_body);
}

/// The text of an attribute that is a line of documentation.
fn doc_line(attribute: &Group) -> Option<String> {
    let mut inside = attribute.stream().into_iter();
    let name = inside.next()?.to_string();
    match (name.as_str(), inside.nth(1)?) {
        ("doc", TokenTree::Literal(literal)) => string(&literal.to_string()),
        _ => None,
    }
}

/// The first paragraph of a doc comment in one line. Links within the code become plain code, because the list is not
/// part of the code's documentation.
fn sentence(docs: &[String]) -> String {
    let paragraph = docs.iter().map(|line| line.trim()).take_while(|line| !line.is_empty());
    paragraph.collect::<Vec<_>>().join(" ").replace("[`", "`").replace("`]", "`")
}

#[cfg(test)]
mod tests {
    use super::super::model::fixture;
    use super::*;

    const FILE: &str = "
        use proptest::prelude::*;

        fn helper() {}

        mod tests {
            proptest! {
                #![proptest_config(config(9))]

                /// It holds
                /// for [`Any`] number.
                ///
                /// More of it.
                #[test]
                fn holds(number in any::<u8>()) {
                    prop_assert!({ fn inner() {} true });
                }

                fn no_test(number in any::<u8>()) {}

                #[test]
                #[ignore]
                fn silent(mut a in any::<u8>(), b: bool) {}
            }

            #[test]
            fn plain() {}
        }

        /// proptest! { #[test] fn in_a_comment() {} }
        const TEXT: &str = \"proptest! { #[test] fn in_a_text() {} }\";

        proptest! {
            /// The last.
            #[test]
            fn last(number in any::<u8>()) {}
        }
    ";

    fn model(files: &[(&str, &str)]) -> Model {
        Model { files: fixture::files(files).files, ..fixture::crates(&[("mail", &[]), ("http", &[])]) }
    }

    #[test]
    fn the_tests_of_blocks_are_laws() {
        let found: Vec<_> = laws(&model(&[("crates/mail/src/a/b.rs", FILE)]))
            .into_iter()
            .map(|law| (law.package, law.binary, law.test, law.line, law.sentence))
            .collect();
        let law = |test: &str, line, sentence: &str| {
            ("kalends-mail".to_owned(), None, test.to_owned(), line, sentence.to_owned())
        };
        assert_eq!(
            found,
            [
                law("a::b::tests::holds", 15, "It holds for `Any` number."),
                law("a::b::tests::silent", 23, ""),
                law("a::b::last", 36, "The last."),
            ]
        );
    }

    #[test]
    fn a_file_has_a_place_in_a_test_program() {
        let at = |path: &str| place(path).map(|(binary, modules)| (binary.unwrap_or_default(), modules.join("::")));
        let some = |binary: &str, modules: &str| Some((binary.to_owned(), modules.to_owned()));
        assert_eq!(at("src/lib.rs"), some("", ""));
        assert_eq!(at("src/a/mod.rs"), some("", "a"));
        assert_eq!(at("src/a/laws.rs"), some("", "a::laws"));
        assert_eq!(at("tests/whole.rs"), some("whole", ""));
        assert_eq!(at("tests/engine/main.rs"), some("engine", ""));
        assert_eq!(at("tests/engine/laws.rs"), some("engine", "laws"));
        assert_eq!(at("examples/a.rs"), None);
        assert_eq!(at("build.rs"), None);
    }

    #[test]
    fn a_law_needs_a_sentence() {
        let said: Vec<String> =
            check(&model(&[("crates/mail/src/lib.rs", FILE)])).iter().map(Violation::to_string).collect();
        let expected = [
            "crates/mail/src/lib.rs:23: the law `silent` needs a doc comment that states it in one sentence",
            "docs/contribute/properties.md: the list of the laws is missing",
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn a_law_is_stated_in_one_sentence() {
        let violations = |docs: &str| {
            let text = format!("proptest! {{\n{docs}#[test]\nfn holds(x: u8) {{}}\n}}");
            check(&model(&[("crates/mail/src/lib.rs", text.as_str()), (PAGE, "")])).len() - 1
        };
        assert_eq!(violations("/// It holds.\n///\n/// Always. Even then.\n"), 0);
        assert_eq!(violations("/// It holds. Always.\n"), 1);
        assert_eq!(violations("/// It holds\n"), 1);
        assert_eq!(violations(""), 1);
    }

    #[test]
    fn the_page_lists_the_laws() {
        let law = "proptest! {\n/// It holds.\n#[test]\nfn holds(x: u8) {}\n}";
        let files = |page| model(&[("crates/mail/src/lib.rs", law), ("crates/http/tests/all.rs", law), (PAGE, page)]);
        let stale = files("# Properties\n\n## The laws\n\nOld.\n");
        assert_eq!(
            check(&stale)[0].to_string(),
            "docs/contribute/properties.md: the list differs from the laws; cargo xtask properties --renew writes it"
        );
        let renewed = renewed(&stale.file(PAGE).unwrap().text, &laws(&stale)).unwrap();
        assert_eq!(
            renewed,
            "# Properties\n\n## The laws\n\n### `kalends-http`\n\n- `holds`: It holds.\n\n### `kalends-mail`\n\n\
             - `holds`: It holds.\n"
        );
        assert!(check(&files(&renewed)).is_empty());
        assert_eq!(check(&files("# Properties\n"))[0].what, "has no heading `## The laws`");
    }
}
