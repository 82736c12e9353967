//! JSON text for people.

use kalends_kernel::is_invisible;

/// Puts each entry of the JSON text on a line of its own, indented. Nothing else changes: the order of the fields and
/// the digits of numbers stay as they were sent. A text that is not JSON loses no characters either, except for white
/// space.
pub fn pretty_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0usize;
    let mut rest = text.chars().peekable();
    while let Some(char) = rest.next() {
        match char {
            '"' => {
                out.push(char);
                let mut escaped = false;
                for char in rest.by_ref() {
                    out.push(char);
                    if char == '"' && !escaped {
                        break;
                    }
                    escaped = char == '\\' && !escaped;
                }
            }
            '{' | '[' => {
                out.push(char);
                while rest.next_if(char::is_ascii_whitespace).is_some() {}
                match rest.next_if(|close| matches!(close, '}' | ']')) {
                    Some(close) => out.push(close),
                    None => {
                        depth += 1;
                        line(&mut out, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(char);
            }
            ',' => {
                out.push(char);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ if char.is_ascii_whitespace() => {}
            _ => out.push(char),
        }
    }
    out
}

/// The deepest indentation. A deeper text stays readable, and does not grow with the square of its length.
const DEEPEST: usize = 32;

fn line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth.min(DEEPEST)));
}

/// The beginning of a text, and how much is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Beginning {
    /// The text.
    pub text: String,
    /// The number of whole lines that are left out.
    pub lines_left: usize,
    /// Whether anything is left out.
    pub is_cut: bool,
}

/// The first lines of a text, at most that many and that many bytes. Characters that change the direction or are not
/// visible are written as JSON escapes, so the text cannot look like another one.
pub(crate) fn beginning(text: &str, lines_max: usize, bytes_max: usize) -> Beginning {
    let (mut out, mut lines, mut rest) = (String::new(), 1, text.char_indices());
    while let Some((at, char)) = rest.next() {
        if char == '\n' {
            lines += 1;
        }
        if lines > lines_max || at + char.len_utf8() > bytes_max {
            let cut = char == '\n' || out.ends_with('\n') || out.is_empty();
            let lines_left = rest.as_str().matches('\n').count() + usize::from(cut);
            return Beginning { text: out, lines_left, is_cut: true };
        }
        if (char.is_control() && char != '\n') || is_invisible(char) {
            out.extend(char.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(char);
        }
    }
    Beginning { text: out, lines_left: 0, is_cut: false }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn entries_are_on_lines_of_their_own() {
        let pretty = pretty_json(r#"{"b":1.50,"a":["x, {y}: \"z\"\\",{}],"c":[ ]}"#);
        let lines =
            ["{", "  \"b\": 1.50,", "  \"a\": [", r#"    "x, {y}: \"z\"\\","#, "    {}", "  ],", "  \"c\": []", "}"];
        assert_eq!(pretty, lines.join("\n"));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,12}".prop_map(Value::from),
            "[\"\\\\{}\\[\\],: \n]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec(("[a-z\"\\\\]{0,4}", inner), 0..5)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// The value stays the same, and the text is what another printer writes.
        #[test]
        fn the_value_stays_the_same(value in value()) {
            let pretty = pretty_json(&value.to_string());
            prop_assert_eq!(&pretty, &serde_json::to_string_pretty(&value).unwrap());
            prop_assert_eq!(&pretty_json(&pretty), &pretty);
        }

        /// Any text keeps its characters, so nothing of a payload is hidden.
        #[test]
        fn a_text_that_is_not_json_keeps_its_characters(text in "\\PC{0,60}") {
            let kept = |text: &str| text.chars().filter(|char| !char.is_ascii_whitespace()).collect::<String>();
            prop_assert_eq!(kept(&pretty_json(&text)), kept(&text));
        }
    }

    #[rstest::rstest]
    #[case::all("a\nb", 2, 9, "a\nb", 0, false)]
    #[case::nothing("", 2, 9, "", 0, false)]
    #[case::many_lines("a\nb\nc\nd", 2, 9, "a\nb", 2, true)]
    #[case::long_line("abcdef", 2, 3, "abc", 0, true)]
    #[case::never_within_a_character("aäö", 2, 4, "aä", 0, true)]
    #[case::direction("a\u{202e}b\u{200b}", 2, 9, "a\\u202eb\\u200b", 0, false)]
    #[case::tag("a\u{e0041}b", 2, 9, "a\\udb40\\udc41b", 0, false)]
    #[case::variation("a\u{fe0f}", 2, 9, "a\\ufe0f", 0, false)]
    #[case::control("a\u{0}\t", 2, 9, "a\\u0000\\u0009", 0, false)]
    fn only_the_beginning_is_shown(
        #[case] whole: &str,
        #[case] lines: usize,
        #[case] bytes: usize,
        #[case] text: &str,
        #[case] lines_left: usize,
        #[case] is_cut: bool,
    ) {
        assert_eq!(beginning(whole, lines, bytes), Beginning { text: text.to_owned(), lines_left, is_cut });
    }

    #[test]
    fn a_deep_text_stays_small() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(pretty_json(&deep).len() < deep.len() * 70);
        assert_eq!(pretty_json(&json!([]).to_string()), "[]");
    }
}
