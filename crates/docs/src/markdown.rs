//! Markdown as HTML: headings with anchors, tables that scroll, and links to pages of the site.

use std::collections::HashMap;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd, html};

use crate::{
    assets,
    guides::{ALL, DECISIONS, Part, Source},
    site::{ROOT, escape},
};

/// A rendered Markdown file.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// The text of the first heading.
    pub(crate) title: String,
    /// The first paragraph as plain text.
    pub(crate) summary: String,
    /// Everything, as HTML.
    pub(crate) html: String,
    /// The headings below the title, in order.
    pub(crate) headings: Vec<Heading>,
    /// The text by section. The first one is the text before the first heading below the title.
    pub(crate) sections: Vec<Section>,
}

/// A heading below the title.
#[derive(Debug, Clone)]
pub(crate) struct Heading {
    pub(crate) level: u8,
    pub(crate) id: String,
    pub(crate) text: String,
}

/// The plain text under a heading.
#[derive(Debug, Default)]
pub(crate) struct Section {
    /// Empty before the first heading.
    pub(crate) id: String,
    pub(crate) heading: String,
    pub(crate) text: String,
}

/// The Markdown that the repository uses.
fn options() -> Options {
    Options::ENABLE_TABLES
}

/// Renders a guide.
pub(crate) fn render(source: &Source) -> Document {
    let mut document = Document { sections: vec![Section::default()], ..Document::default() };
    let mut ids = Ids::default();
    let mut events = Vec::new();
    let mut parser = Parser::new_ext(source.text, options());
    // Whether each open link leads to something.
    let mut links = Vec::new();
    while let Some(event) = parser.next() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let level = level as u8;
                let inside: Vec<Event<'_>> =
                    parser.by_ref().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_)))).collect();
                let text = plain(&inside);
                let id = ids.of(&text);
                let (open, close) =
                    if level > 1 { (format!("<a href=\"#{id}\">"), "</a>") } else { (String::new(), "") };
                events.push(Event::Html(format!("<h{level} id=\"{id}\">{open}").into()));
                events.extend(inside.into_iter().filter(is_not_a_link));
                if level > 1 {
                    document.sections.push(Section { id: id.clone(), heading: text.clone(), text: String::new() });
                    document.headings.push(Heading { level, id, text });
                } else {
                    document.title = text;
                }
                events.push(Event::Html(format!("{close}</h{level}>\n").into()));
            }
            // Comments for those who edit the file. Nothing else is written in HTML.
            Event::Html(_) | Event::InlineHtml(_) | Event::Start(Tag::HtmlBlock) | Event::End(TagEnd::HtmlBlock) => {}
            Event::Start(Tag::Table(alignments)) => {
                events.push(Event::Html("<div class=\"wide\" tabindex=\"0\">".into()));
                events.push(Event::Start(Tag::Table(alignments)));
            }
            Event::End(TagEnd::Table) => {
                events.push(Event::End(TagEnd::Table));
                events.push(Event::Html("</div>\n".into()));
                add(&mut document, " ");
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                let language = match &kind {
                    CodeBlockKind::Fenced(info) => info.split([',', ' ']).next().unwrap_or_default().to_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                let inside: Vec<Event<'_>> =
                    parser.by_ref().take_while(|event| !matches!(event, Event::End(TagEnd::CodeBlock))).collect();
                let text = plain(&inside);
                add(&mut document, &text);
                events.push(Event::Html(code(&language, &text).into()));
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let target = resolve(source, &dest_url);
                links.push(target.is_some());
                if let Some(target) = target {
                    events.push(Event::Start(Tag::Link { link_type, dest_url: target.into(), title, id }));
                }
            }
            Event::End(TagEnd::Link) => {
                if links.pop().unwrap_or_default() {
                    events.push(Event::End(TagEnd::Link));
                }
            }
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                let target = image(source, &dest_url).map_or(dest_url, CowStr::from);
                events.push(Event::Start(Tag::Image { link_type, dest_url: target, title, id }));
            }
            other => {
                match &other {
                    Event::Text(text) | Event::Code(text) => add(&mut document, text),
                    Event::SoftBreak
                    | Event::HardBreak
                    | Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell) => {
                        add(&mut document, " ");
                    }
                    _ => {}
                }
                if matches!(other, Event::End(TagEnd::Paragraph)) && document.summary.is_empty() {
                    document.summary = document.sections.last().map_or("", |section| section.text.trim()).to_owned();
                }
                events.push(other);
            }
        }
    }
    html::push_html(&mut document.html, events.into_iter());
    // A cell that heads nothing is not a heading.
    document.html = document.html.replace("<th></th>", "<td></td>");
    document
}

/// Renders text that is not a file, such as a description of the API. Its links are absolute.
pub(crate) fn text(markdown: &str) -> String {
    let mut written = String::new();
    html::push_html(&mut written, Parser::new_ext(markdown, options()).map(without_html));
    written
}

/// Renders one paragraph without its element.
pub(crate) fn line(markdown: &str) -> String {
    let events = Parser::new_ext(markdown, options())
        .map(without_html)
        .filter(|event| !matches!(event, Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph)));
    let mut written = String::new();
    html::push_html(&mut written, events);
    written.trim().to_owned()
}

/// Shows HTML as text: descriptions contain none, but may contain `<` for other reasons.
fn without_html(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        other => other,
    }
}

/// A block of code. It can be scrolled with the keyboard.
pub(crate) fn code(language: &str, text: &str) -> String {
    let class = if language.is_empty() { String::new() } else { format!(" class=\"language-{}\"", escape(language)) };
    format!("<pre tabindex=\"0\"><code{class}>{}</code></pre>\n", escape(text))
}

/// Headings link to themselves, so they contain no other links.
fn is_not_a_link(event: &Event<'_>) -> bool {
    !matches!(event, Event::Start(Tag::Link { .. }) | Event::End(TagEnd::Link))
}

fn add(document: &mut Document, text: &str) {
    if let Some(section) = document.sections.last_mut() {
        section.text.push_str(text);
    }
}

fn plain(events: &[Event<'_>]) -> String {
    let text = |event: &Event<'_>| match event {
        Event::Text(text) | Event::Code(text) => text.to_string(),
        Event::SoftBreak | Event::HardBreak => " ".to_owned(),
        _ => String::new(),
    };
    events.iter().map(text).collect()
}

/// Makes the anchors of headings, as GitHub does: lower case, hyphens for spaces, and nothing else but letters, digits
/// and `_`. A repeated one gets a number.
#[derive(Debug, Default)]
struct Ids(HashMap<String, u32>);

impl Ids {
    fn of(&mut self, heading: &str) -> String {
        let kept = heading.chars().filter(|char| char.is_alphanumeric() || [' ', '-', '_'].contains(char));
        let id: String = kept.flat_map(char::to_lowercase).map(|char| if char == ' ' { '-' } else { char }).collect();
        let times = self.0.entry(id.clone()).or_default();
        *times += 1;
        if *times == 1 { id } else { format!("{id}-{}", *times - 1) }
    }
}

/// The address on the site to which a link in a guide leads. `None` if the link leads to a file of the repository that
/// the site does not have.
fn resolve(source: &Source, link: &str) -> Option<String> {
    if link.starts_with('#') || link.contains("://") || link.starts_with("mailto:") {
        return Some(link.to_owned());
    }
    let (path, anchor) = link.split_once('#').map_or((link, ""), |(path, anchor)| (path, anchor));
    let file = join(source.file, path);
    let page = ALL.iter().find(|source| source.file == file).map(|source| source.page.to_owned());
    let folder = || {
        let parts = Part::ALL.into_iter().map(|part| part.path().to_owned());
        let folder = file.strip_prefix("docs/")?;
        parts.chain([DECISIONS.to_owned()]).find(|part| part == folder)
    };
    let page = page.or_else(folder)?;
    let hash = if anchor.is_empty() { String::new() } else { format!("#{anchor}") };
    Some(format!("{ROOT}{page}{hash}"))
}

/// The address on the site of an image in a guide.
fn image(source: &Source, link: &str) -> Option<String> {
    let file = join(source.file, link);
    assets::IMAGES.iter().find(|(path, _)| *path == file).map(|(path, _)| assets::image_address(path))
}

/// The path of a file in the repository, from a link in another file.
pub(crate) fn join(file: &str, link: &str) -> String {
    let mut segments: Vec<&str> = file.split('/').collect();
    segments.pop();
    for segment in link.split('/').filter(|segment| !segment.is_empty() && *segment != ".") {
        if segment == ".." {
            segments.pop();
        } else {
            segments.push(segment);
        }
    }
    segments.join("/")
}
