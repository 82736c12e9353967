//! The elements of a small XML document, with their namespaces.

use std::collections::BTreeMap;

/// The namespace of WebDAV (RFC 4918).
pub(super) const DAV: &str = "DAV:";
/// The namespace of CalDAV (RFC 4791).
pub(super) const CALDAV: &str = "urn:ietf:params:xml:ns:caldav";
/// The namespace of `getctag`.
pub(super) const CALENDAR_SERVER: &str = "http://calendarserver.org/ns/";

/// An element.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) namespace: String,
    pub(super) name: String,
    /// The number of elements around it.
    pub(super) depth: usize,
    /// Whether one of those is `prop` of WebDAV.
    pub(super) within_prop: bool,
    attributes: BTreeMap<String, String>,
}

impl Element {
    pub(super) fn is(&self, namespace: &str, name: &str) -> bool {
        (self.namespace.as_str(), self.name.as_str()) == (namespace, name)
    }

    /// An attribute without a namespace, or an empty text.
    pub(super) fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

/// An element that is open, with the namespaces of its prefixes.
struct Open {
    tag: String,
    is_prop: bool,
    namespaces: BTreeMap<String, String>,
}

/// The elements of a document, in order.
pub(super) fn elements(xml: &str) -> Result<Vec<Element>, &'static str> {
    let mut open: Vec<Open> = Vec::new();
    let mut found: Vec<Element> = Vec::new();
    let mut rest = xml;
    while let Some((_, after)) = rest.split_once('<') {
        if let Some(declaration) = after.strip_prefix('?') {
            rest = declaration.split_once("?>").ok_or("an open declaration")?.1;
            continue;
        }
        if after.starts_with('!') {
            return Err("a comment or a document type");
        }
        let (tag, after) = after.split_once('>').ok_or("an open tag")?;
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            let ended = open.pop().ok_or("an end without a start")?;
            if ended.tag != name.trim() {
                return Err("an end of another element");
            }
            continue;
        }
        if open.is_empty() && !found.is_empty() {
            return Err("two documents");
        }
        let (tag, empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
        let attributes = pairs(attributes)?;
        let mut namespaces = open.last().map_or_else(BTreeMap::new, |parent| parent.namespaces.clone());
        for (key, value) in &attributes {
            if let Some(prefix) = key.strip_prefix("xmlns") {
                namespaces.insert(prefix.trim_start_matches(':').to_owned(), value.clone());
            }
        }
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let namespace = namespaces.get(prefix).ok_or("a name without a namespace")?.clone();
        let is_prop = namespace == DAV && local == "prop";
        found.push(Element {
            namespace,
            name: local.to_owned(),
            depth: open.len(),
            within_prop: open.iter().any(|around| around.is_prop),
            attributes,
        });
        if !empty {
            open.push(Open { tag: name.to_owned(), is_prop, namespaces });
        }
    }
    if open.is_empty() { Ok(found) } else { Err("an element without an end") }
}

/// The attributes of a tag.
fn pairs(text: &str) -> Result<BTreeMap<String, String>, &'static str> {
    let mut pairs = BTreeMap::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=').ok_or("an attribute without a value")?;
        let after = after.trim_start();
        let quote = after.chars().next().filter(|first| ['"', '\''].contains(first)).ok_or("a value without quotes")?;
        let (value, after) = after[1..].split_once(quote).ok_or("an open value")?;
        pairs.insert(name.trim().to_owned(), value.to_owned());
        rest = after.trim_start();
    }
    Ok(pairs)
}

/// A text as it is written in XML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_and_defaults_name_the_same_element() {
        for text in [
            r#"<?xml version="1.0"?><propfind xmlns="DAV:"><prop><a xmlns='urn:x' b="1"/></prop></propfind>"#,
            r#"<d:propfind xmlns:d="DAV:" xmlns:x="urn:x"><d:prop><x:a b="1"></x:a></d:prop></d:propfind>"#,
        ] {
            let found = elements(text).unwrap();
            let names: Vec<_> = found.iter().map(|one| (&*one.namespace, &*one.name, one.depth)).collect();
            assert_eq!(names, [(DAV, "propfind", 0), (DAV, "prop", 1), ("urn:x", "a", 2)]);
            assert_eq!((found[2].attribute("b"), found[2].within_prop, found[1].within_prop), ("1", true, false));
        }
    }

    #[test]
    fn broken_documents_are_refused() {
        for text in ["<a xmlns='x'>", "</a>", "<a/>", "<a xmlns='x'/><b xmlns='x'/>", "<a xmlns='x'></b>", "<a b=c/>"] {
            assert!(elements(text).is_err(), "{text}");
        }
    }
}
