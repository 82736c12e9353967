//! A parser for the HTML subset of the templates, and tests that hold for every page.

use std::collections::HashSet;
use std::io::Write as _;

use super::fixture::{ACCENT, every_page};
use crate::{accent::style, assets};

/// A tag of a page.
#[derive(Debug)]
pub(super) struct Tag {
    pub(super) name: String,
    /// Names and unescaped values.
    pub(super) attributes: Vec<(String, String)>,
}

impl Tag {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }
}

const VOID: &[&str] = &["meta", "link", "input", "br", "hr"];

/// Reads a page: its tags in order, and its unescaped text. Panics if tags are not balanced, an attribute is not
/// quoted or is repeated, or a `<` or `&` is neither markup nor an escape.
pub(super) fn read(page: &str) -> (Vec<Tag>, String) {
    let mut rest = page.strip_prefix("<!doctype html>\n").expect("a page begins with its type");
    let (mut tags, mut text, mut open) = (Vec::new(), String::new(), Vec::<String>::new());
    while let Some(begin) = rest.find('<') {
        text.push_str(&unescape(&rest[..begin]));
        rest = &rest[begin + 1..];
        let (inside, after) = tag_end(rest);
        rest = after;
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closes what is open");
            continue;
        }
        let closed = inside.ends_with('/');
        let tag = read_tag(inside.trim_end_matches('/'));
        if !closed && !VOID.contains(&tag.name.as_str()) {
            open.push(tag.name.clone());
        }
        tags.push(tag);
    }
    text.push_str(&unescape(rest));
    assert!(open.is_empty(), "left open: {open:?}");
    (tags, text)
}

/// Splits at the `>` that is not part of a value.
fn tag_end(rest: &str) -> (&str, &str) {
    let mut quoted = false;
    for (at, char) in rest.char_indices() {
        match char {
            '"' => quoted = !quoted,
            '>' if !quoted => return (&rest[..at], &rest[at + 1..]),
            _ => {}
        }
    }
    panic!("a tag has no end: {rest:.60}");
}

fn read_tag(inside: &str) -> Tag {
    let (name, mut rest) = inside.split_once(char::is_whitespace).unwrap_or((inside, ""));
    assert!(
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()),
        "<{name}>"
    );
    let mut attributes: Vec<(String, String)> = Vec::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Tag { name: name.to_owned(), attributes };
        }
        let end = rest.find(|char: char| char == '=' || char.is_whitespace()).unwrap_or(rest.len());
        let (attribute, after) = rest.split_at(end);
        assert!(!attribute.contains(['"', '\'', '<']), "{inside}");
        assert!(attributes.iter().all(|(given, _)| given != attribute), "{attribute} is repeated in {inside}");
        let mut value = "";
        rest = after;
        if let Some(after) = after.strip_prefix('=') {
            let quoted = after.strip_prefix('"').expect("values are quoted");
            (value, rest) = quoted.split_once('"').expect("quotes are closed");
        }
        assert!(!value.contains('<'), "{inside}");
        attributes.push((attribute.to_owned(), unescape(value)));
    }
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let (number, after) = rest[at..].strip_prefix("&#").and_then(|rest| rest.split_once(';')).expect("an escape");
        out.push(char::from_u32(number.parse().unwrap()).unwrap());
        rest = after;
    }
    out + rest
}

#[test]
fn every_page_is_well_formed_and_has_no_inline_code() {
    for (name, page) in every_page("Plain & simple") {
        let (tags, _) = read(&page);
        for tag in &tags {
            let inline = |(attribute, _): &(String, String)| attribute.starts_with("on") || attribute == "style";
            assert!(!tag.attributes.iter().any(inline), "{name}: {tag:?}");
            // The style of the page's own colour is allowed by its hash.
            let allowed = page.contains(&format!("<style>{}</style>", style(ACCENT)));
            assert!(tag.name != "style" || allowed, "{name}");
            assert!(tag.name != "script" || tag.get("src").is_some(), "{name}");
        }
        let count = |wanted: &str| tags.iter().filter(|tag| tag.name == wanted).count();
        assert_eq!((count("h1"), count("main"), count("title")), (1, 1, 1), "{name}");
        assert!(count("style") <= 1, "{name}");
    }
}

#[test]
fn ids_are_unique_and_references_resolve() {
    for (name, page) in every_page("Call") {
        let (tags, _) = read(&page);
        let mut ids = HashSet::new();
        assert!(tags.iter().filter_map(|tag| tag.get("id")).all(|id| ids.insert(id)), "{name}");
        for tag in &tags {
            let labels = ["for", "aria-labelledby", "aria-describedby"].into_iter().filter_map(|name| tag.get(name));
            let within = tag.get("href").and_then(|href| href.strip_prefix('#'));
            for id in labels.flat_map(str::split_whitespace).chain(within) {
                assert!(ids.contains(id), "{name}: no element has the ID {id}");
            }
        }
    }
}

#[test]
fn every_field_has_a_label() {
    for (name, page) in every_page("Call") {
        let (tags, _) = read(&page);
        let labelled: HashSet<&str> = tags.iter().filter_map(|tag| tag.get("for")).collect();
        for tag in tags.iter().filter(|tag| matches!(tag.name.as_str(), "input" | "select" | "textarea")) {
            let hidden = tag.get("type") == Some("hidden") || tag.get("hidden").is_some();
            assert!(hidden || tag.get("id").is_some_and(|id| labelled.contains(id)), "{name}: {tag:?}");
        }
    }
}

#[test]
fn files_that_pages_refer_to_exist() {
    for (name, page) in every_page("Call") {
        for tag in read(&page).0.iter().filter(|tag| matches!(tag.name.as_str(), "link" | "script")) {
            let path = tag.get("href").or(tag.get("src")).unwrap();
            let file = path.strip_prefix(assets::PREFIX).and_then(assets::find);
            assert!(file.is_some(), "{name}: {path}");
        }
    }
}

#[test]
fn a_list_has_a_heading_above_those_of_its_entries() {
    for (name, page) in every_page("Call") {
        if ["members", "keys", "keys of an agent"].contains(&name) {
            let (tags, _) = read(&page);
            let headings = tags.iter().map(|tag| tag.name.as_str()).filter(|name| ["h1", "h2", "h3"].contains(name));
            assert_eq!(headings.take(3).collect::<Vec<_>>(), ["h1", "h2", "h3"], "{name}");
        }
    }
}

/// The page and its files, compressed. The promised limit is 30 KB, also of the calendar with its script and its hours.
#[test]
fn a_page_with_its_files_is_small() {
    let compressed = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap().len()
    };
    for (name, page) in every_page("A title of a usual length") {
        let fetched = assets::ALL.iter().filter(|asset| page.contains(&asset.path()));
        let files: usize = fetched.map(|asset| compressed(asset.text)).sum();
        let page = compressed(&page);
        let most = if name.starts_with("calendar, ") { 30_000 } else { 15_000 };
        assert!(files + page < most, "{name}: {files} and {page} bytes");
    }
}

/// The API returns third-party text, such as the names of calendars and agents.
#[test]
fn scripts_insert_api_answers_only_as_text() {
    let scripts = assets::ALL.iter().filter(|asset| asset.name.ends_with(".js"));
    for asset in scripts {
        for way in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", ".style"]
        {
            assert!(!asset.text.contains(way), "{} in {}", way, asset.name);
        }
    }
}

#[test]
fn a_page_loads_the_script_of_copies_if_it_has_a_text_to_copy() {
    for (name, page) in every_page("Call") {
        let (tags, _) = read(&page);
        let has_text = tags.iter().any(|tag| tag.get("data-copy").is_some());
        let path = assets::copy_script();
        let has_script = tags.iter().any(|tag| tag.get("src") == Some(path.as_str()));
        assert_eq!(has_script, has_text, "{name}");
    }
}

/// A page that leads elsewhere by itself has a link too.
#[test]
fn the_pages_that_lead_elsewhere_have_the_address_twice() {
    let pages = every_page("Call");
    for wanted in ["consent", "connector, decided", "connector, decided for an app"] {
        let (_, page) = pages.iter().find(|(name, _)| *name == wanted).unwrap();
        let tags = read(page).0;
        let refresh = tags.iter().find(|tag| tag.get("http-equiv") == Some("refresh")).unwrap();
        let link = tags.iter().find(|tag| tag.get("class") == Some("primary")).unwrap();
        assert_eq!(refresh.get("content"), Some(&*format!("0;url={}", link.get("href").unwrap())));
    }
}
