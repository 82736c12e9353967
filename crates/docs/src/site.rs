//! What every part of the site needs: the path, its files, and text as HTML.

use std::borrow::Cow;

/// The path below which the site is served. Links to other pages of the site are absolute and begin with this path.
pub const ROOT: &str = "/docs/";

/// A file of the site.
#[derive(Debug, Clone)]
pub struct File {
    /// The path below [`ROOT`], such as `use/quickstart`. The first page has an empty path.
    pub path: String,
    /// The `Content-Type`.
    pub content_type: &'static str,
    /// The bytes to send.
    pub content: Cow<'static, [u8]>,
    /// Whether the path changes with the content, so that the file may be cached forever.
    pub is_lasting: bool,
}

/// The content type of every page.
pub(crate) const HTML: &str = "text/html; charset=utf-8";

/// Renders a template.
pub(crate) fn render(template: &impl askama::Template) -> String {
    #[expect(clippy::expect_used, reason = "writing to a String does not fail, and neither do our filters")]
    template.render().expect("a template is written to a String")
}

/// Escapes text for HTML, also between quotation marks.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}
