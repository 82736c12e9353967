//! The index of the search: one entry for each section of a guide, each operation and each object.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::{page, reference::Reference, rendered::Guide, site::ROOT};

/// The length of the text that a result shows, in characters.
const SHOWN: usize = 160;

/// An entry of the index. The names of the fields are short, because there are many entries.
#[derive(Debug, Serialize)]
struct Entry {
    /// The address.
    a: String,
    /// The title of the page.
    t: String,
    /// The heading of the section.
    h: String,
    /// The beginning of the text.
    s: String,
    /// Every word of the text once, in lower case.
    w: String,
}

/// The index as JSON.
pub(crate) fn index(guides: &[Guide], reference: &Reference) -> String {
    let mut entries = Vec::new();
    for Guide { source, document } in guides {
        for section in &document.sections {
            let hash = if section.id.is_empty() { String::new() } else { format!("#{}", section.id) };
            let address = format!("{ROOT}{}{hash}", source.page);
            entries.push(entry(address, &document.title, &section.heading, &section.text));
        }
    }
    for group in &reference.groups {
        for operation in &group.operations {
            let title = format!("{} {}", operation.method, operation.path);
            let fields = operation
                .parameters
                .iter()
                .chain(operation.body.iter().flat_map(|body| &body.forms).flat_map(|form| &form.fields));
            let names: Vec<&str> = fields.map(|field| field.name.as_str()).collect();
            let words = format!("{} {}", operation.words, names.join(" "));
            let heading = format!("{} · {}", operation.title, operation.id);
            entries.push(entry(group.address(operation), &title, &heading, &words));
        }
    }
    for object in &reference.objects {
        let fields = object.shape.forms.iter().flat_map(|form| &form.fields);
        let names: Vec<&str> = fields.map(|field| field.name.as_str()).collect();
        entries.push(entry(page::address_of_object(&object.name), &object.name, "Object", &names.join(" ")));
    }
    serde_json::to_string(&entries).unwrap_or_default()
}

fn entry(address: String, title: &str, heading: &str, text: &str) -> Entry {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let words: BTreeSet<String> = text
        .split(|char: char| !char.is_alphanumeric() && char != '_')
        .filter(|word| word.chars().nth(1).is_some())
        .map(str::to_lowercase)
        .collect();
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    Entry {
        a: address,
        t: title.to_owned(),
        h: heading.to_owned(),
        s: shown,
        w: words.into_iter().collect::<Vec<_>>().join(" "),
    }
}
