//! The modules, items and paths of one file, without its tests.

use std::collections::HashSet;
use std::str::FromStr as _;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// What a file declares and names.
#[derive(Debug, Default)]
pub(super) struct Source {
    /// The modules with a file of their own that the file declares.
    pub(super) children: HashSet<String>,
    /// The modules of tests with a file of their own.
    pub(super) tests: HashSet<String>,
    /// The modules inside the file, by their names below it.
    pub(super) inside: HashSet<Vec<String>>,
    /// The names that the file defines.
    pub(super) items: HashSet<String>,
    /// What `use` declarations bring into the file.
    pub(super) uses: Vec<Use>,
    /// Other paths of at least two segments.
    pub(super) paths: Vec<Path>,
    /// The names that occur outside `use` declarations.
    pub(super) names: HashSet<String>,
}

/// A path and its place.
#[derive(Debug, Clone)]
pub(super) struct Path {
    pub(super) line: usize,
    /// The modules inside the file in which it is.
    pub(super) inside: Vec<String>,
    pub(super) segments: Vec<String>,
}

/// One name of a `use` declaration.
#[derive(Debug)]
pub(super) struct Use {
    pub(super) path: Path,
    /// The name under which it is known; `None` for `*`.
    pub(super) name: Option<String>,
    /// Whether other files can use the name.
    pub(super) public: bool,
}

/// Keywords after which an item's name comes.
const ITEMS: [&str; 9] = ["struct", "enum", "union", "trait", "type", "const", "static", "fn", "macro_rules"];

impl Source {
    /// Reads a file. A file that does not lex is empty, since the compiler will refuse it.
    pub(super) fn read(text: &str) -> Self {
        let mut source = Self::default();
        if let Ok(tokens) = TokenStream::from_str(text) {
            source.module(tokens, &[]);
        }
        source
    }

    fn module(&mut self, tokens: TokenStream, inside: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let (mut at, mut public) = (0, false);
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' => at = self.attribute(&tokens, at, inside),
                TokenTree::Ident(ident) => match ident.to_string().as_str() {
                    "pub" => {
                        public = true;
                        at += usize::from(group(tokens.get(at), Delimiter::Parenthesis).is_some());
                        continue;
                    }
                    "mod" => at = self.declared(&tokens, at, inside),
                    "use" => at = self.used(&tokens, at, inside, public),
                    _ => at = self.named(&tokens, at - 1, inside),
                },
                TokenTree::Group(group) => self.module(group.stream(), inside),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            public = false;
        }
    }

    /// Skips documentation, and items that an attribute marks as tests. Returns where to continue.
    fn attribute(&mut self, tokens: &[TokenTree], mut at: usize, inside: &[String]) -> usize {
        at += usize::from(is_punct(tokens.get(at), '!'));
        let Some(attribute) = group(tokens.get(at), Delimiter::Bracket) else { return at };
        at += 1;
        let mut parts = attribute.stream().into_iter();
        let name = parts.next().map(|token| token.to_string()).unwrap_or_default();
        let condition = parts.next().map(|token| token.to_string()).unwrap_or_default();
        if name == "cfg" && condition.contains("test") && !condition.contains("not") {
            if ident(tokens.get(at)).as_deref() == Some("mod")
                && let Some(name) = ident(tokens.get(at + 1))
                && is_punct(tokens.get(at + 2), ';')
            {
                self.tests.insert(name);
            }
            let ends = |token: &TokenTree| is_punct(Some(token), ';') || group(Some(token), Delimiter::Brace).is_some();
            return tokens[at..].iter().position(ends).map_or(tokens.len(), |end| at + end + 1);
        }
        if name != "doc" {
            self.module(attribute.stream(), inside);
        }
        at
    }

    /// Reads what follows `mod`.
    fn declared(&mut self, tokens: &[TokenTree], at: usize, inside: &[String]) -> usize {
        let Some(name) = ident(tokens.get(at)) else { return at };
        match group(tokens.get(at + 1), Delimiter::Brace) {
            Some(body) => {
                let inside: Vec<String> = inside.iter().cloned().chain([name]).collect();
                self.inside.insert(inside.clone());
                self.module(body.stream(), &inside);
            }
            None => {
                self.children.insert(name);
            }
        }
        at + 2
    }

    /// Reads what follows `use`.
    fn used(&mut self, tokens: &[TokenTree], at: usize, inside: &[String], public: bool) -> usize {
        let end = tokens[at..].iter().position(|token| is_punct(Some(token), ';')).map_or(tokens.len(), |end| at + end);
        self.tree(&tokens[at..end], &[], inside, public);
        end + 1
    }

    /// Reads a tree of a `use` declaration below `prefix`.
    fn tree(&mut self, tokens: &[TokenTree], prefix: &[String], inside: &[String], public: bool) {
        let mut segments = prefix.to_vec();
        let Some(first) = tokens.first() else { return };
        let line = first.span().start().line;
        let mut alias = None;
        let mut glob = false;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token {
                TokenTree::Ident(name) if name == "as" => {
                    alias = ident(tokens.get(at));
                    at += 1;
                }
                TokenTree::Ident(name) => segments.push(name.to_string()),
                TokenTree::Punct(punct) => glob |= punct.as_char() == '*',
                TokenTree::Group(group) => {
                    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
                    for tree in tokens.split(|token| is_punct(Some(token), ',')) {
                        self.tree(tree, &segments, inside, public);
                    }
                    return;
                }
                TokenTree::Literal(_) => {}
            }
        }
        // `a::{self}` names `a` itself.
        if segments.len() > 1 {
            segments.pop_if(|last| last == "self");
        }
        let name = if glob { None } else { alias.or_else(|| segments.last().cloned()) };
        self.uses.push(Use { path: Path { line, inside: inside.to_vec(), segments }, name, public });
    }

    /// Reads a name, or the path that begins with it.
    fn named(&mut self, tokens: &[TokenTree], at: usize, inside: &[String]) -> usize {
        let Some(first) = tokens.get(at) else { return at };
        let name = first.to_string();
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let follows = |keyword: &str| ident(before).as_deref() == Some(keyword);
        if ITEMS.into_iter().any(follows) {
            self.items.insert(name);
            return at + 1;
        }
        if !is_punct(before, '.') {
            self.names.insert(name.clone());
        }
        let line = first.span().start().line;
        let (mut segments, mut end) = (vec![name], at + 1);
        while is_punct(tokens.get(end), ':')
            && is_punct(tokens.get(end + 1), ':')
            && let Some(next) = ident(tokens.get(end + 2))
        {
            segments.push(next);
            end += 3;
        }
        // The rest of a path such as `<A as B>::c` is not a path of its own. A single colon precedes a type or a value.
        let is_rest = is_punct(before, ':') && is_punct(at.checked_sub(2).and_then(|before| tokens.get(before)), ':');
        if segments.len() > 1 && !is_rest {
            self.paths.push(Path { line, inside: inside.to_vec(), segments });
        }
        end
    }
}

fn is_punct(token: Option<&TokenTree>, char: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == char)
}

fn ident(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
        _ => None,
    }
}

fn group(token: Option<&TokenTree>, delimiter: Delimiter) -> Option<&Group> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}
