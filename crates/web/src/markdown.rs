//! The booking page for agents: the same facts as in HTML, and how to list the free times and book one over HTTP.

use std::fmt::Write as _;

use kalends_bookings::{ANSWER_MAX, LONG_ANSWER_MAX, PHONE_MAX, Question, QuestionType};
use kalends_time::{Span, Timestamp};

use crate::form::Limits;
use crate::link::Href;
use crate::page::{DisplaySettings, Page};

/// The `Content-Type` of the text.
pub const CONTENT_TYPE: &str = "text/markdown; charset=utf-8";

/// A booking page, for an agent that sends `Accept: text/markdown`.
#[derive(Debug, Clone)]
pub struct Guide<'a> {
    /// The booking page.
    pub page: Page<'a>,
    /// How times are shown: in the requested zone, or else in the page's.
    pub shown: DisplaySettings<'a>,
    /// The absolute address of the page.
    pub address: &'a Href,
    /// The span in which bookings may begin.
    pub bookable: Span,
    /// The first free times, in order.
    pub offers: &'a [Span],
    /// The maximum lengths of the fields.
    pub limits: Limits,
}

/// The text of a page that is closed for bookings.
pub fn closed(title: &str) -> String {
    format!(
        "# {}\n\nBooking is closed for now: no more bookings can be taken at the moment, so no times are offered. \
         Existing bookings are not affected. Try again another day.\n",
        line(title)
    )
}

impl Guide<'_> {
    /// The text.
    pub fn markdown(&self) -> String {
        let Self { page, shown, address, bookable, limits, .. } = self;
        let mut text = format!("# {}\n", line(page.title));
        if let Some(host) = page.host {
            let _ = write!(text, "\nA meeting with {}, booked here.\n", line(host));
        }
        if let Some(location) = page.location {
            let _ = write!(text, "\nPlace: {}.\n", line(location));
        }
        if page.has_call {
            text.push_str("\nIt takes place in a call. The answer to the booking contains the link.\n");
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
            shown.duration(page),
            page.zone,
            second(bookable.start()),
            second(bookable.end()),
        );
        self.write_offers(&mut text);
        let asks = !page.questions.is_empty();
        let answers = if asks { " \"answers\": {...}," } else { "" };
        let asked = if asks { "| `answers` | the answers to the questions below, by their ids |\n" } else { "" };
        let example = self.offers.first().map_or(bookable.start(), |offer| offer.start());
        let _ = write!(
            text,
            "\n## List the free times\n\n\
             `GET {address}/slots?from={from}&to={to}`\n\n\
             Both are optional RFC 3339 times. The answer is JSON: `{{\"booking_page\": {{...}}, \"slots\": [{{\"start\", \"end\"}}]}}`, \
             in UTC. No key is needed. If there are more than fit in one answer, `next_from` is the `from` of the next request.\n\n\
             ## Book one\n\n\
             Ask the person you are booking for first: a booking is made at once.\n\n\
             ```http\nPOST {address}\nContent-Type: application/json\nAccept: application/json\n\n\
             {{\"name\": \"Ada Example\", \"email\": \"ada@example.com\", \"notes\": \"\",{answers} \"start\": \"{example}\"}}\n```\n\n\
             | field | |\n|---|---|\n\
             | `name` | required, up to {} characters |\n\
             | `email` | required, up to {} characters; the confirmation goes there |\n\
             | `notes` | optional, up to {} characters |\n{asked}\
             | `timezone` | optional, an IANA name such as `{zone}`; emails show times in it |\n\
             | `language` | optional, the language of emails: en, de, fr, es, pt or ja, with or without a region, such as pt-BR |\n\
             | `start` | required, the `start` of a free time |\n\n\
             | status | meaning |\n|---|---|\n\
             | 201 | booked: `{{\"booking_page_id\", \"event\": {{\"id\", \"title\", \"start_time\", \"end_time\", \"status\", \"location\", \"conference_url\"}}, \"cancel_url\", \"reschedule_url\"}}` |\n\
             | 400 | a field is invalid or missing (`error.param` names it), or the page never offers this start |\n\
             | 404 | the page does not exist, or no longer exists |\n\
             | 409 | the time has been taken: list the free times again |\n\
             | 429 | too many requests, or booking is closed for now: wait for `Retry-After` seconds |\n",
            limits.name,
            limits.email,
            limits.notes,
            from = second(bookable.start()),
            to = second(bookable.end()),
            zone = page.zone,
        );
        self.write_questions(&mut text);
        text
    }

    fn write_questions(&self, text: &mut String) {
        if self.page.questions.is_empty() {
            return;
        }
        text.push_str(
            "\n## Questions\n\nThe host asks these. `answers` is an object, such as `{\"id\": \"answer\"}`.\n\n",
        );
        text.push_str("| id | the host asks | answer | |\n|---|---|---|---|\n");
        for Question { id, label, kind, required, options } in self.page.questions {
            let answer = match kind {
                QuestionType::Text => format!("text, up to {ANSWER_MAX} characters on one line"),
                QuestionType::Textarea => format!("text, up to {LONG_ANSWER_MAX} characters"),
                QuestionType::Select => {
                    let options: Vec<String> = options.iter().map(|option| line(option)).collect();
                    format!("one of: {}", options.join("; "))
                }
                QuestionType::Checkbox => "true or false".to_owned(),
                QuestionType::Phone => format!("a phone number, up to {PHONE_MAX} characters"),
            };
            let needed = match (required, kind) {
                (true, QuestionType::Checkbox) => "required: true",
                (true, _) => "required",
                (false, _) => "optional",
            };
            let _ = writeln!(text, "| `{id}` | {} | {answer} | {needed} |", line(label));
        }
    }

    fn write_offers(&self, text: &mut String) {
        let Self { shown, bookable, .. } = self;
        if self.offers.is_empty() {
            text.push_str("\n## Free times\n\nNo times are free at the moment.\n");
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

/// The timestamp rounded up to a whole second, which is precise enough and easier to read.
fn second(at: Timestamp) -> Timestamp {
    Timestamp::from_micros(
        at.as_micros().div_euclid(1_000_000).saturating_add(i64::from(at.as_micros() % 1_000_000 != 0)) * 1_000_000,
    )
}

/// Third-party text as one line of plain text. Every ASCII character that Markdown could interpret is escaped. Line
/// breaks and control characters become spaces.
fn line(foreign: &str) -> String {
    let mut text = String::with_capacity(foreign.len() + 8);
    let mut chars = foreign.trim().chars().peekable();
    let mut before = ' ';
    while let Some(char) = chars.next() {
        // A full stop after a word ends a sentence. After a number it could begin a list, and within a word it could
        // form an address.
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
    fn foreign_text_is_escaped(#[case] foreign: &str, #[case] escaped: &str) {
        assert_eq!(line(foreign), escaped);
    }

    #[rstest]
    #[case("2026-03-01T09:00:00Z", "2026-03-01T09:00:00Z")]
    #[case("2026-03-01T09:00:00.000001Z", "2026-03-01T09:00:01Z")]
    fn timestamps_are_rounded_up_to_seconds(#[case] at: &str, #[case] expected: &str) {
        assert_eq!(second(at.parse().unwrap()).to_string(), expected);
    }
}
