//! The page as an agent reads it: the same facts, and how to list the free times and book one over HTTP.

use std::fmt::Write as _;

use kalends_kernel::{Span, Timestamp};

use crate::form::Limits;
use crate::link::Href;
use crate::page::{DisplaySettings, Page};

/// The `Content-Type` of the text.
pub const CONTENT_TYPE: &str = "text/markdown; charset=utf-8";

/// A booking page, for an agent that asks with `Accept: text/markdown`.
#[derive(Debug, Clone)]
pub struct Guide<'a> {
    /// The booking page.
    pub page: Page<'a>,
    /// How times are shown: in the zone asked for, else in that of the page.
    pub shown: DisplaySettings,
    /// The whole address of the page.
    pub address: &'a Href,
    /// When bookings may begin.
    pub bookable: Span,
    /// The first times that are free, in order.
    pub offers: &'a [Span],
    /// How long the fields may be.
    pub limits: Limits,
}

/// The text of a page that takes no bookings for now.
pub fn closed(title: &str) -> String {
    format!(
        "# {}\n\nBooking is closed for now: no more bookings can be taken at the moment, so no times are offered. \
         Bookings made before stay as they are. Try again another day.\n",
        line(title)
    )
}

impl Guide<'_> {
    /// The text.
    pub fn markdown(&self) -> String {
        let Self { page, address, bookable, limits, .. } = self;
        let mut text = format!("# {}\n", line(page.title));
        if let Some(host) = page.host {
            let _ = write!(text, "\nA meeting with {}, booked here.\n", line(host));
        }
        if let Some(description) = page.description {
            text.push_str("\nThe host writes:\n\n");
            for paragraph in description.lines() {
                let _ = writeln!(text, "> {}", line(paragraph));
            }
        }
        let _ = write!(
            text,
            "\n- Duration: {}\n- Zone of the page: {}\n- Bookings may begin from {} until before {}\n",
            page.duration(),
            page.zone,
            second(bookable.start()),
            second(bookable.end()),
        );
        self.write_offers(&mut text);
        let example = self.offers.first().map_or(bookable.start(), |offer| offer.start());
        let _ = write!(
            text,
            "\n## List the free times\n\n\
             `GET {address}/slots?from={from}&to={to}`\n\n\
             Both are optional RFC 3339 times. The answer is JSON: `{{\"booking_page\": {{...}}, \"slots\": [{{\"start\", \"end\"}}]}}`, \
             in UTC. It needs no key. Where there are more than fit, `next_from` is the `from` to go on with.\n\n\
             ## Book one\n\n\
             Ask the person for whom you book before you do: a booking is made at once, and the host is told.\n\n\
             ```http\nPOST {address}\nContent-Type: application/json\nAccept: application/json\n\n\
             {{\"name\": \"Ada Example\", \"email\": \"ada@example.com\", \"notes\": \"\", \"start\": \"{example}\"}}\n```\n\n\
             | field | |\n|---|---|\n\
             | `name` | required, up to {} characters |\n\
             | `email` | required, up to {} characters; the confirmation goes there |\n\
             | `notes` | optional, up to {} characters |\n\
             | `start` | required, the `start` of a free time |\n\n\
             | answer | means |\n|---|---|\n\
             | 201 | booked: `{{\"booking_page_id\", \"event\": {{\"id\", \"title\", \"start_time\", \"end_time\", \"status\"}}, \"cancel_url\", \"reschedule_url\"}}` |\n\
             | 400 | a field is wrong (`error.param` names it), or the page never offers this start |\n\
             | 404 | there is no such page, or not any more |\n\
             | 409 | the time was taken meanwhile: list the free times again |\n\
             | 429 | too many requests, or booking is closed for now: wait for `Retry-After` seconds |\n",
            limits.name,
            limits.email,
            limits.notes,
            from = second(bookable.start()),
            to = second(bookable.end()),
        );
        text
    }

    fn write_offers(&self, text: &mut String) {
        let Self { shown, bookable, .. } = self;
        if self.offers.is_empty() {
            text.push_str("\n## Free times\n\nNothing is free at the moment.\n");
            return;
        }
        let at = self.offers.first().map_or(bookable.start(), |offer| offer.start());
        let _ = write!(text, "\n## The first free times\n\n| start | in {} |\n|---|---|\n", shown.zone_at(at));
        for offer in self.offers {
            let _ = writeln!(
                text,
                "| `{}` | {}, {} to {} |",
                offer.start(),
                shown.date(offer.start()),
                shown.time(offer.start()),
                shown.until(offer.start(), offer.end())
            );
        }
    }
}

/// The instant without a fraction of a second, rounded up: nobody asks for more, and it reads better.
fn second(at: Timestamp) -> Timestamp {
    Timestamp::from_micros(
        at.as_micros().div_euclid(1_000_000).saturating_add(i64::from(at.as_micros() % 1_000_000 != 0)) * 1_000_000,
    )
}

/// Foreign text as one line that means nothing but itself: every ASCII sign that Markdown could read as its own is
/// escaped, and what ends a line or is no character to be seen becomes a space.
fn line(foreign: &str) -> String {
    let mut text = String::with_capacity(foreign.len() + 8);
    let mut chars = foreign.trim().chars().peekable();
    let mut before = ' ';
    while let Some(char) = chars.next() {
        // A full stop after a word ends a sentence; after a number it could begin a list, and within a word an address.
        let ends_sentence =
            char == '.' && before.is_alphabetic() && chars.peek().is_none_or(|next| next.is_whitespace());
        if char.is_control() || matches!(char, '\u{2028}' | '\u{2029}') {
            text.push(' ');
        } else {
            if char.is_ascii_punctuation() && !matches!(char, ',' | ';' | '?' | '\'' | '"' | '%') && !ends_sentence {
                text.push('\\');
            }
            text.push(char);
        }
        before = char;
    }
    text
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Intro call", "Intro call")]
    #[case("# Not *a* heading", "\\# Not \\*a\\* heading")]
    #[case("[x](javascript:alert(1))", "\\[x\\]\\(javascript\\:alert\\(1\\)\\)")]
    #[case("<script>", "\\<script\\>")]
    #[case("a\n\n# b", "a  \\# b")]
    #[case("1. one", "1\\. one")]
    #[case("We meet. Then we talk.", "We meet. Then we talk.")]
    #[case("www.evil.example", "www\\.evil\\.example")]
    #[case("`code` | cell \\", "\\`code\\` \\| cell \\\\")]
    #[case("https://evil.example", "https\\:\\/\\/evil\\.example")]
    #[case("line\u{2028}end", "line end")]
    fn foreign_text_means_only_itself(#[case] foreign: &str, #[case] escaped: &str) {
        assert_eq!(line(foreign), escaped);
    }

    #[rstest]
    #[case("2026-03-01T09:00:00Z", "2026-03-01T09:00:00Z")]
    #[case("2026-03-01T09:00:00.000001Z", "2026-03-01T09:00:01Z")]
    fn whole_seconds(#[case] at: &str, #[case] expected: &str) {
        assert_eq!(second(at.parse().unwrap()).to_string(), expected);
    }
}
