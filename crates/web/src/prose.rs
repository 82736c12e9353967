//! Texts that the operator writes in Markdown.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::link::Href;

/// A text of the operator, such as the terms, from Markdown. It has no HTML of its own: a tag in it is shown as it is
/// written. A link whose address is not an [`Href`] is shown as its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prose(Vec<Piece>);

/// A piece of the text as HTML. The template escapes texts and addresses. Elements are balanced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Text.
    Text(String),
    /// The beginning of an element, or an element without an end.
    Open(&'static str),
    /// The end of an element.
    Close(&'static str),
    /// The beginning of a link.
    Link(Href),
    /// The beginning of a numbered list, with the number of its first item.
    Numbered(u64),
}

impl Prose {
    /// Reads Markdown. Headings become one level lower, since the page has a title of its own.
    pub fn read(markdown: &str) -> Self {
        let mut pieces = Vec::new();
        // Whether each open link leads to something.
        let mut links = Vec::new();
        for event in Parser::new_ext(markdown, Options::empty()) {
            match event {
                Event::Start(Tag::Link { dest_url, .. }) => {
                    let address = Href::new(dest_url.into_string());
                    links.push(address.is_some());
                    pieces.extend(address.map(Piece::Link));
                }
                Event::End(TagEnd::Link) => pieces.extend(links.pop().unwrap_or_default().then_some(Piece::Close("a"))),
                Event::Start(Tag::List(Some(first))) => pieces.push(Piece::Numbered(first)),
                Event::Start(tag) => pieces.extend(element(tag.to_end()).map(Piece::Open)),
                Event::End(tag) => pieces.extend(element(tag).map(Piece::Close)),
                Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                    pieces.push(Piece::Text(text.into_string()));
                }
                Event::Code(text) => {
                    pieces.extend([Piece::Open("code"), Piece::Text(text.into_string()), Piece::Close("code")]);
                }
                Event::SoftBreak => pieces.push(Piece::Text("\n".to_owned())),
                Event::HardBreak => pieces.push(Piece::Open("br")),
                Event::Rule => pieces.push(Piece::Open("hr")),
                _ => {}
            }
        }
        Self(pieces)
    }

    /// The pieces, in order.
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.0
    }
}

/// The element for a part of the text; `None` if only its content is shown, as for an image.
const fn element(part: TagEnd) -> Option<&'static str> {
    Some(match part {
        TagEnd::Paragraph | TagEnd::HtmlBlock => "p",
        TagEnd::Heading(HeadingLevel::H1) => "h2",
        TagEnd::Heading(HeadingLevel::H2) => "h3",
        TagEnd::Heading(_) => "h4",
        TagEnd::BlockQuote(_) => "blockquote",
        TagEnd::CodeBlock => "pre",
        TagEnd::List(true) => "ol",
        TagEnd::List(false) => "ul",
        TagEnd::Item => "li",
        TagEnd::Emphasis => "em",
        TagEnd::Strong => "strong",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::Terms;

    /// The text as the page of the terms shows it.
    fn shown(markdown: &str) -> String {
        let prose = Prose::read(markdown);
        let effective_at = "2026-01-01".parse().unwrap();
        let page = Terms { version: "2026-01-01", effective_at, text: None, body: Some(&prose) }.html();
        let (_, rest) = page.split_once("<div class=\"prose\">").unwrap();
        rest.split_once("</div>").unwrap().0.to_owned()
    }

    #[rstest]
    #[case("# Terms\n\n## Scope\n\n### Law\n\n#### More", "<h2>Terms</h2><h3>Scope</h3><h4>Law</h4><h4>More</h4>")]
    #[case("One line,\nand another.\n\nTwo.", "<p>One line,\nand another.</p><p>Two.</p>")]
    #[case(
        "Ends here.  \nBegins *so* **strongly**.",
        "<p>Ends here.<br>Begins <em>so</em> <strong>strongly</strong>.</p>"
    )]
    #[case("3. three\n4. four", "<ol start=\"3\"><li>three</li><li>four</li></ol>")]
    #[case("- one\n- `two`", "<ul><li>one</li><li><code>two</code></li></ul>")]
    #[case("> quoted\n\n---", "<blockquote><p>quoted</p></blockquote><hr>")]
    #[case("    4 spaces\n", "<pre>4 spaces\n</pre>")]
    #[case(
        "[docs](/docs/) and <https://x.example>",
        "<p><a href=\"/docs/\">docs</a> and <a href=\"https://x.example\">https://x.example</a></p>"
    )]
    #[case("[a](javascript:alert(1)) [b](data:text/html,x) [c](//x.example) ![d](/x.png)", "<p>a b c d</p>")]
    #[case("<script>alert(1)</script>", "<p>&#60;script&#62;alert(1)&#60;/script&#62;</p>")]
    #[case("a <b onclick=\"x\">b</b>", "<p>a &#60;b onclick=&#34;x&#34;&#62;b&#60;/b&#62;</p>")]
    #[case("[x](/y \"t\\\" onclick=z\")", "<p><a href=\"/y\">x</a></p>")]
    fn markdown_becomes_html_without_tags_of_its_own(#[case] markdown: &str, #[case] html: &str) {
        assert_eq!(shown(markdown), html);
    }
}
