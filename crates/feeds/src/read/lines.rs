//! Content lines: unfolding, decoding and splitting (RFC 5545 section 3.1).
//!
//! Lines are borrowed from the feed, and only the relevant ones are unfolded and decoded, because most of a feed is
//! descriptions, attendees and alarms. calcard is not used for the lines: it allocates every value that it parses, and
//! gives no exact control over bytes that are not UTF-8.

use std::borrow::Cow;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// The content lines of a feed.
#[derive(Debug, Clone)]
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    ends_with: u8,
}

/// A content line as it is in the feed, with folds.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawLine<'a> {
    bytes: &'a [u8],
    ends_with: u8,
    folded: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let rest = bytes.strip_prefix(BOM).unwrap_or(bytes);
        // In a file without any LF, lines end with CR, as old systems wrote them.
        let ends_with = if rest.contains(&b'\n') { b'\n' } else { b'\r' };
        Self { rest, ends_with }
    }

    fn end_of_physical(&self, from: usize) -> usize {
        let rest = self.rest.get(from..).unwrap_or_default();
        rest.iter().position(|byte| *byte == self.ends_with).map_or(self.rest.len(), |at| from + at)
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = RawLine<'a>;

    fn next(&mut self) -> Option<RawLine<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let mut end = self.end_of_physical(0);
        let mut folded = false;
        while matches!(self.rest.get(end + 1), Some(b' ' | b'\t')) {
            folded = true;
            end = self.end_of_physical(end + 1);
        }
        let bytes = self.rest.get(..end).unwrap_or_default();
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        Some(RawLine { bytes, ends_with: self.ends_with, folded })
    }
}

impl<'a> RawLine<'a> {
    /// The name of the property, in its original case. Empty if the line is not a property.
    pub(super) fn name(&self) -> Cow<'a, [u8]> {
        let name = name_of(self.bytes);
        // A name may be folded too.
        if self.folded && matches!(self.bytes.get(name.len()), Some(b'\r' | b'\n')) {
            return Cow::Owned(name_of(self.text().as_bytes()).to_vec());
        }
        Cow::Borrowed(name)
    }

    /// The line as text, unfolded. Bytes that are not UTF-8 are read as Latin-1.
    pub(super) fn text(&self) -> Cow<'a, str> {
        if !self.folded {
            return decoded(self.bytes.trim_ascii_end());
        }
        let mut unfolded = Vec::with_capacity(self.bytes.len());
        for (index, line) in self.bytes.split(|byte| *byte == self.ends_with).enumerate() {
            let line = if index == 0 { line } else { line.get(1..).unwrap_or_default() };
            // Spaces at the end of a physical line belong to the text, which continues on the next line.
            let length = line.iter().rposition(|byte| *byte != b'\r').map_or(0, |last| last + 1);
            unfolded.extend_from_slice(line.get(..length).unwrap_or_default());
        }
        Cow::Owned(decoded(&unfolded).into_owned())
    }
}

fn name_of(line: &[u8]) -> &[u8] {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let length = line.iter().position(|byte| !is_name(byte)).unwrap_or(line.len());
    line.get(..length).unwrap_or_default()
}

fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            let mut text = String::with_capacity(bytes.len() + 16);
            for chunk in bytes.utf8_chunks() {
                text.push_str(chunk.valid());
                text.extend(chunk.invalid().iter().copied().map(char::from));
            }
            Cow::Owned(text)
        }
    }
}

/// A property: its parameters and its value, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Property<'a> {
    params: &'a str,
    pub(super) value: &'a str,
}

impl<'a> Property<'a> {
    /// Splits a line. `None` if it has no colon.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let mut quoted = false;
        let colon = line.bytes().position(|byte| {
            quoted ^= byte == b'"';
            byte == b':' && !quoted
        });
        // An unclosed quote must not swallow the value.
        Self::split(line, colon.or_else(|| line.find(':'))?)
    }

    /// Splits a line whose value, such as a date, has no colon. So parameters may have colons that should have been
    /// quoted, as in `TZID=(UTC+01:00) Berlin`.
    pub(super) fn parse_dates(line: &'a str) -> Option<Self> {
        Self::split(line, line.rfind(':')?)
    }

    fn split(line: &'a str, colon: usize) -> Option<Self> {
        let (before, value) = (line.get(..colon)?, line.get(colon + 1..)?);
        let params = before.split_once(';').map_or("", |(_, params)| params);
        Some(Self { params, value })
    }

    /// The value of a parameter, without quotes.
    pub(super) fn param(&self, wanted: &str) -> Option<&'a str> {
        let mut rest = self.params;
        while !rest.is_empty() {
            let mut quoted = false;
            let end = rest.bytes().position(|byte| {
                quoted ^= byte == b'"';
                byte == b';' && !quoted
            });
            let (param, after) = match end {
                Some(end) => (rest.get(..end)?, rest.get(end + 1..)?),
                None => (rest, ""),
            };
            if let Some((name, value)) = param.split_once('=')
                && name.trim().eq_ignore_ascii_case(wanted)
            {
                return Some(value.trim().trim_matches('"'));
            }
            rest = after;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn texts(bytes: &[u8]) -> Vec<String> {
        Lines::new(bytes).map(|line| line.text().into_owned()).collect()
    }

    #[rstest]
    #[case::crlf(b"A:1\r\nB:2\r\n", &["A:1", "B:2"])]
    #[case::bare_lf(b"A:1\nB:2", &["A:1", "B:2"])]
    #[case::bare_cr(b"A:1\rB:2\r", &["A:1", "B:2"])]
    #[case::double_cr(b"A:1\r\r\nB:2\r\r\n", &["A:1", "B:2"])]
    #[case::bom(b"\xEF\xBB\xBFA:1\r\n", &["A:1"])]
    #[case::folded(b"A:one\r\n  two\r\n\tthree\r\nB:2", &["A:one twothree", "B:2"])]
    #[case::folded_within_a_character(b"A:\xC3\r\n \xBC\r\n", &["A:\u{fc}"])]
    #[case::latin_1(b"A:M\xFCller\r\n", &["A:M\u{fc}ller"])]
    #[case::latin_1_and_utf_8(b"A:\xFC\xC3\xBC\r\n", &["A:\u{fc}\u{fc}"])]
    #[case::spaces_before_a_fold(b"A:one \r\n two", &["A:one two"])]
    #[case::nothing(b"", &[])]
    fn lines_are_unfolded_and_decoded(#[case] bytes: &[u8], #[case] expected: &[&str]) {
        assert_eq!(texts(bytes), expected);
    }

    #[rstest]
    #[case("DTSTART;TZID=Europe/Berlin:20260101T090000", Some("Europe/Berlin"), "20260101T090000")]
    #[case("DTSTART;VALUE=DATE;tzid=\"a;b:c\":20260101", Some("a;b:c"), "20260101")]
    #[case("DTSTART:20260101", None, "20260101")]
    fn properties_are_split(#[case] line: &str, #[case] zone: Option<&str>, #[case] value: &str) {
        let property = Property::parse(line).unwrap();
        assert_eq!((property.param("TZID"), property.value), (zone, value));
    }

    #[test]
    fn odd_quotes_and_colons() {
        let zoned = Property::parse_dates("DTSTART;TZID=(UTC+01:00) Berlin:20260101T090000").unwrap();
        assert_eq!((zoned.param("TZID"), zoned.value), (Some("(UTC+01:00) Berlin"), "20260101T090000"));
        assert_eq!(Property::parse("SUMMARY;X=\"a:b").unwrap().value, "b");
        assert_eq!(Property::parse("SUMMARY"), None);
    }
}
