//! Tests of the guides in the repository. The pages with the real description are tested in `kalends-http`.

use std::{
    collections::{BTreeSet, HashMap},
    fs,
    path::{Path, PathBuf},
};

use pulldown_cmark::{Event, Parser, Tag};
use serde_json::json;

use crate::{
    assets::IMAGES,
    guides::{ALL, Part, Source},
    markdown,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below a folder of the repository, by their path in it.
fn files_below(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let paths = entries.flat_map(|entry| {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() { files_below(&path) } else { vec![path] }
    });
    paths.collect()
}

/// Every Markdown file of the documentation with its text.
fn pages() -> HashMap<String, String> {
    let own = files_below("docs").into_iter().filter(|path| path.ends_with(".md"));
    let all = own.chain(["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(str::to_owned));
    all.map(|path| (path.clone(), fs::read_to_string(root().join(&path)).unwrap())).collect()
}

fn source(text: &'static str) -> Source {
    Source { part: Part::Use, page: "use/test", file: "docs/use/test.md", text }
}

/// Except for the tables that tests compare, and for the pictures of the console, which are for contributors and would
/// make the server several megabytes larger.
#[test]
fn every_file_of_the_documentation_is_on_the_site() {
    let is_left_out = |path: &String| path.ends_with(".tsv") || path.starts_with("docs/console/");
    let there: BTreeSet<String> = files_below("docs").into_iter().filter(|path| !is_left_out(path)).collect();
    let guides = ALL.iter().map(|source| source.file).filter(|file| file.starts_with("docs/"));
    let listed: BTreeSet<String> = guides.chain(IMAGES.iter().map(|(path, _)| *path)).map(str::to_owned).collect();
    assert_eq!(listed, there);
}

#[test]
fn links_in_markdown_lead_to_files_and_headings() {
    let pages = pages();
    let anchors = |path: &str| -> Option<BTreeSet<String>> {
        let text: &'static str = pages.get(path)?.clone().leak();
        Some(markdown::render(&source(text)).headings.into_iter().map(|heading| heading.id).collect())
    };
    let mut wrong = Vec::new();
    for (file, text) in &pages {
        for event in Parser::new(text) {
            let (Event::Start(Tag::Link { dest_url, .. }) | Event::Start(Tag::Image { dest_url, .. })) = event else {
                continue;
            };
            if dest_url.contains("://") {
                continue;
            }
            let (path, anchor) = dest_url.split_once('#').unwrap_or((&dest_url, ""));
            let target = if path.is_empty() { file.clone() } else { markdown::join(file, path) };
            let is_there = root().join(&target).exists();
            if !is_there || !anchor.is_empty() && !anchors(&target).is_some_and(|ids| ids.contains(anchor)) {
                wrong.push(format!("{file}: {dest_url}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_guide_has_one_title_and_contains_no_html() {
    for guide in ALL {
        let titles = guide.text.lines().filter(|line| line.starts_with("# ")).count();
        let in_code = guide.text.split("```").skip(1).step_by(2).flat_map(str::lines);
        assert_eq!(titles - in_code.filter(|line| line.starts_with("# ")).count(), 1, "{}", guide.file);
        for event in Parser::new(guide.text) {
            if let Event::Html(html) | Event::InlineHtml(html) = event {
                assert!(html.trim().is_empty() || html.starts_with("<!--"), "{}: {html}", guide.file);
            }
        }
        let document = markdown::render(guide);
        assert!(!document.title.is_empty() && !document.summary.is_empty(), "{}", guide.file);
    }
}

#[test]
fn headings_get_anchors_and_links_stay_on_the_site() {
    let document = markdown::render(&source(
        "# One\n\nSee [two](#two), [limits](limits.md#plans), [run](../run), [code](../../crates) and \
         [out](https://example.com).\n\n## Two: `a_b`\n\n## Two: `a_b`\n",
    ));
    assert_eq!(document.title, "One");
    assert_eq!(document.summary, "See two, limits, run, code and out.");
    assert!(document.html.contains("<h2 id=\"two-a_b\"><a href=\"#two-a_b\">Two: <code>a_b</code></a></h2>"));
    assert!(document.html.contains("<h2 id=\"two-a_b-1\">"));
    assert!(document.html.contains("<a href=\"/docs/use/limits#plans\">limits</a>"));
    assert!(document.html.contains("<a href=\"/docs/run\">run</a>"));
    assert!(document.html.contains(", code and <a href=\"https://example.com\">out</a>"));
}

#[test]
fn the_search_finds_sections() {
    let document = markdown::render(&source("# One\n\nFirst.\n\n## Two\n\nSecond, `third`.\n"));
    let texts: Vec<(&str, &str)> =
        document.sections.iter().map(|section| (section.id.as_str(), section.text.trim())).collect();
    assert_eq!(texts, [("", "First."), ("two", "Second, third.")]);
}

#[test]
fn an_operation_is_shown_in_every_language() {
    let description = json!({
        "info": { "x-kalends-version": "1.2.3" },
        "servers": [{ "url": "https://calendar.example.com" }],
        "tags": [{ "name": "Events", "description": "Events & <series>." }],
        "paths": { "/v1/events/{id}": { "patch": {
            "operationId": "updateEvent",
            "tags": ["Events"],
            "summary": "Changes an event.",
            "security": [{ "apiKey": [] }],
            "parameters": [{ "name": "id", "in": "path", "required": true, "description": "The event, `evt_…`.", "schema": { "type": "string" } }],
            "requestBody": { "content": { "application/json": {
                "schema": { "$ref": "#/components/schemas/UpdateEvent" },
                "example": { "title": "It's <new>", "all_day": true, "description": null }
            } } },
            "responses": {
                "200": { "description": "The event.", "content": { "application/json": {
                    "schema": { "$ref": "#/components/schemas/Event" },
                    "example": { "id": "evt_01jn8r7d2xe9tvn4a6k8m0pqrs" }
                } } },
                "404": { "$ref": "#/components/responses/404" }
            }
        } } },
        "components": {
            "responses": { "404": { "description": "`not_found`: nothing there." } },
            "schemas": {
                "UpdateEvent": { "properties": { "title": { "type": ["string", "null"], "minLength": 1, "maxLength": 500 } } },
                "Event": { "properties": { "id": { "type": "string" } }, "required": ["id"] }
            }
        }
    });
    let files = crate::files(&description);
    let text = |path: &str| {
        let file = files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("{path}"));
        String::from_utf8(file.content.to_vec()).unwrap()
    };
    let page = text("reference/events");
    for part in [
        "Events &amp; &lt;series&gt;.",
        "<h2>Changes an event</h2>",
        "<b>PATCH</b> /v1/events/{id}",
        "Needs an API key.",
        "<code>title</code> <span class=\"kind\">string or null</span>",
        "1 to 500 characters.",
        "<a href=\"/docs/reference/objects/Event\">Event</a>",
        "<code>not_found</code>: nothing there.",
        "evt_01jn8r7d2xe9tvn4a6k8m0pqrs",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let reference = crate::reference::Reference::of(&description);
    let sample = |language: &str| {
        let samples = &reference.groups[0].operations[0].samples;
        samples.iter().find(|sample| sample.language == language).unwrap().code.clone()
    };
    assert_eq!(
        sample("curl"),
        "curl \"https://calendar.example.com/v1/events/evt_01jn8r7d2xe9tvn4a6k8m0pqrs\" \\\n  --request PATCH \\\n  \
         --header \"Authorization: Bearer $KEY\" \\\n  --json '{\n  \"all_day\": true,\n  \"description\": null,\n  \
         \"title\": \"It'\\''s <new>\"\n}'"
    );
    assert!(sample("Python").contains("requests.patch(") && sample("Python").contains("\"all_day\": True,\n"));
    assert!(sample("Python").contains("\"description\": None,\n"));
    assert!(sample("JavaScript").contains("method: 'PATCH',"));
    assert!(sample("Rust").contains("let body: wire::UpdateEvent = "));
    assert!(
        sample("Rust").contains("client.update_event(\"evt_01jn8r7d2xe9tvn4a6k8m0pqrs\", &Default::default(), &body)")
    );
    assert!(text("").contains("Kalends 1.2.3") && text("reference/objects/Event").contains("<code>id</code>"));
}
