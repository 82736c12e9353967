//! JSON text for people.

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

    #[test]
    fn a_deep_text_stays_small() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(pretty_json(&deep).len() < deep.len() * 70);
        assert_eq!(pretty_json(&json!([]).to_string()), "[]");
    }
}
