//! Third-party text inside emails, written so that no email client turns it into a link.

use std::{borrow::Cow, fmt};

/// The zero-width space that keeps an email client from turning text into a link.
const BREAK: char = '\u{200b}';

/// Third-party text (names, titles, notes) on one line, without anything that an email client would turn into a link.
/// Zero-width spaces interrupt web addresses, email addresses, bare domains and IP addresses.
///
/// Letters are built only from this type and from fixed text, so raw third-party text cannot get into one.
///
/// ```
/// use kalends_kernel::Foreign;
///
/// let title = Foreign::new("Lunch at evil.example");
/// assert_eq!(title.as_str(), "Lunch at evil\u{200b}.\u{200b}example");
/// assert_eq!(Foreign::new("Lunch").to_string(), "Lunch");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign(String);

impl Foreign {
    /// Breaks the text up. Line breaks and other control characters become spaces. Characters that change the direction
    /// of text are dropped. Each `.`, `@`, `:`, `/` and `\` (in any script) that could join the parts of an address
    /// gets a zero-width space on both sides. [`Foreign`] has an example.
    pub fn new(text: &str) -> Self {
        let mut broken = String::with_capacity(text.len() + 16);
        let mut letters = text.chars().filter(|letter| !turns(*letter)).map(one_line).peekable();
        // Assume a letter before the text, so that the text cannot join whatever precedes it in the email.
        let mut before = 'x';
        while let Some(letter) = letters.next() {
            if joins(letter) && !apart(before) {
                broken.push(BREAK);
            }
            broken.push(letter);
            if joins(letter) && letters.peek().is_none_or(|next| !apart(*next)) {
                broken.push(BREAK);
                before = BREAK;
            } else {
                before = letter;
            }
        }
        Self(broken)
    }

    /// The text for a plain-text email. For HTML, the caller must still escape it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Foreign> for Cow<'static, str> {
    fn from(text: Foreign) -> Self {
        Self::Owned(text.0)
    }
}

/// Whether the character separates words: white space, or a break.
fn apart(letter: char) -> bool {
    letter.is_whitespace() || letter == BREAK
}

/// Whether the character joins the parts of an address. The forms in other scripts count too, because email clients
/// and browsers map them to the same character (UTS 46).
const fn joins(letter: char) -> bool {
    matches!(
        letter,
        '.' | '\u{2024}' | '\u{3002}' | '\u{fe52}' | '\u{ff0e}' | '\u{ff61}' // full stops
            | '@' | '\u{fe6b}' | '\u{ff20}'
            | ':' | '\u{fe55}' | '\u{ff1a}'
            | '/' | '\u{2044}' | '\u{2215}' | '\u{ff0f}'
            | '\\' | '\u{fe68}' | '\u{ff3c}'
    )
}

/// Whether the character changes the direction of text. It could be used to write an address backwards.
const fn turns(letter: char) -> bool {
    matches!(letter, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn one_line(letter: char) -> char {
    match letter {
        '\u{2028}' | '\u{2029}' => ' ',
        letter if letter.is_control() => ' ',
        letter => letter,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;
    use rstest::rstest;

    use super::*;

    /// Matches everything that email clients turn into links, and more. A zero-width space is not part of a word.
    fn links() -> Vec<Regex> {
        [
            r"[\p{L}\p{N}+-]:[/\\\p{L}\p{N}\[+]",
            r"(?i)www\.",
            r"[/\\][/\\]",
            r"[\p{L}\p{N}_-][.\u{2024}\u{3002}\u{fe52}\u{ff0e}\u{ff61}][\p{L}\p{N}_-]",
            r"[^\s\u{200b}][@\u{fe6b}\u{ff20}]",
            r"[@\u{fe6b}\u{ff20}][^\s\u{200b}]",
        ]
        .map(|pattern| Regex::new(pattern).unwrap())
        .to_vec()
    }

    fn linked(text: &str) -> bool {
        links().iter().any(|link| link.is_match(text))
    }

    #[rstest]
    #[case("https://evil.example/reset")]
    #[case("HTTP://EVIL.EXAMPLE")]
    #[case("//evil.example")]
    #[case("www.evil.example")]
    #[case("evil.example")]
    #[case("evil.co.uk/path?x=1")]
    #[case("your-bank.com.")]
    #[case("(evil.example)")]
    #[case("ada@evil.example")]
    #[case("mailto:ada@evil.example")]
    #[case("tel:+15550100")]
    #[case("javascript:alert(1)")]
    #[case("ftp://127.0.0.1")]
    #[case("127.0.0.1")]
    #[case("http://[::1]/")]
    #[case(r"\\server\share")]
    #[case("file:///etc/passwd")]
    #[case("bücher.example")]
    #[case("例え。テスト")]
    #[case("evil．example")]
    #[case("ada＠evil｡example")]
    #[case("a.b\nc.d")]
    fn an_address_is_broken(#[case] text: &str) {
        assert!(linked(text), "the test would not notice {text:?}");
        let broken = Foreign::new(text);
        assert!(!linked(broken.as_str()), "{broken:?}");
    }

    #[rstest]
    #[case("Ada Lovelace")]
    #[case("Grüße an alle!")]
    #[case("Meeting (2nd floor) - room 7")]
    #[case("")]
    fn other_text_stays_as_it_is(#[case] text: &str) {
        assert_eq!(Foreign::new(text).as_str(), text);
    }

    #[test]
    fn breaks_are_on_both_sides() {
        assert_eq!(Foreign::new("www.a.b").as_str(), "www\u{200b}.\u{200b}a\u{200b}.\u{200b}b");
        assert_eq!(Foreign::new("Dr. Ada").as_str(), "Dr\u{200b}. Ada");
        assert_eq!(Foreign::new(".com").as_str(), "\u{200b}.\u{200b}com");
        assert_eq!(Foreign::new("x\u{202e}\r\ny").as_str(), "x  y");
        assert_eq!(Foreign::new("a\u{200e}.b").as_str(), "a\u{200b}.\u{200b}b");
    }

    proptest! {
        /// No third-party text becomes a link or a second line in an email, and none loses a visible character.
        #[test]
        fn no_text_becomes_a_link(text in "[ -~\u{a0}\u{200b}\u{2028}\u{202e}\u{3002}\u{ff0e}\u{ff20}\u{ff1a}éa-z.@:/\\\\\n]{0,60}") {
            let broken = Foreign::new(&text);
            prop_assert!(!linked(broken.as_str()), "{broken:?}");
            let lines = broken.as_str().contains(['\n', '\r', '\u{2028}']);
            prop_assert!(!lines);
            // Breaking twice changes nothing.
            prop_assert_eq!(&Foreign::new(broken.as_str()), &broken);
            // No visible character is lost.
            let seen = |text: &str| text.chars().filter(|letter| !turns(*letter) && *letter != BREAK).map(one_line).collect::<String>();
            prop_assert_eq!(seen(broken.as_str()), seen(&text));
        }

        /// Two third-party texts side by side make no link.
        #[test]
        fn two_texts_side_by_side_make_no_link(one in "[a-z.@:/]{0,12}", other in "[a-z.@:/]{0,12}") {
            let joined = format!("{}{}", Foreign::new(&one), Foreign::new(&other));
            prop_assert!(!linked(&joined), "{joined:?}");
        }
    }
}
