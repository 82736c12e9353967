//! Limits on the depth and the number of values of JSON. They are checked on the text, before anything is built from
//! it.

use crate::{
    error::ApiError,
    limits::{DEPTH_MAX, VALUES_MAX},
};

/// Counts the values of JSON text as it arrives, in pieces of any size.
///
/// It does not check whether the text is JSON. If it is, the result is what a parser would count.
pub(crate) struct Bounds {
    depth: usize,
    values: usize,
    /// Whether the next value is the first in its array or object, or in the text.
    first: bool,
    quoted: bool,
    escaped: bool,
}

impl Bounds {
    pub(super) const fn new() -> Self {
        Self { depth: 0, values: 0, first: true, quoted: false, escaped: false }
    }

    /// Checks a complete text.
    ///
    /// # Errors
    /// The errors of [`Bounds::add`].
    pub(crate) fn check(text: &[u8]) -> Result<(), ApiError> {
        Self::new().add(text)
    }

    /// Scans the next piece of the text.
    ///
    /// # Errors
    /// [`ApiError::TooDeep`] and [`ApiError::TooManyValues`].
    pub(super) fn add(&mut self, piece: &[u8]) -> Result<(), ApiError> {
        let mut bytes = piece.iter();
        while let Some(byte) = bytes.next() {
            if self.quoted {
                self.pass(*byte, &mut bytes);
                continue;
            }
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => {}
                b',' => self.count()?,
                b']' | b'}' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.first = false;
                }
                other => {
                    if std::mem::take(&mut self.first) {
                        self.count()?;
                    }
                    match other {
                        b'"' => self.quoted = true,
                        b'[' | b'{' => {
                            self.depth += 1;
                            if self.depth > DEPTH_MAX {
                                return Err(ApiError::TooDeep);
                            }
                            self.first = true;
                        }
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// Skips the content of a string, up to its end or the end of the piece. Long texts consist mostly of strings.
    fn pass(&mut self, first: u8, rest: &mut std::slice::Iter<'_, u8>) {
        let mut byte = first;
        loop {
            match (std::mem::take(&mut self.escaped), byte) {
                (false, b'\\') => self.escaped = true,
                (false, b'"') => {
                    self.quoted = false;
                    return;
                }
                _ => {}
            }
            match rest.next() {
                Some(next) => byte = *next,
                None => return,
            }
        }
    }

    const fn count(&mut self) -> Result<(), ApiError> {
        self.values += 1;
        if self.values > VALUES_MAX { Err(ApiError::TooManyValues) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use kalends_wire::ErrorCode;
    use proptest::{collection::vec, prelude::*};
    use rstest::rstest;
    use serde_json::{Map, Value, json};

    use super::*;

    /// The depth of a parsed value and the number of values in it.
    fn measure(value: &Value) -> (usize, usize) {
        let of_parts = |parts: &mut dyn Iterator<Item = &Value>| {
            parts.map(measure).fold((1, 1), |(deepest, all), (depth, values)| (deepest.max(depth + 1), all + values))
        };
        match value {
            Value::Array(parts) => of_parts(&mut parts.iter()),
            Value::Object(parts) => of_parts(&mut parts.values()),
            _ => (0, 1),
        }
    }

    /// The maximum depth of the text and the number of values in it, scanned in pieces of that size.
    fn scanned(text: &str, piece: usize) -> (usize, usize) {
        let (mut bounds, mut deepest) = (Bounds::new(), 0);
        for piece in text.as_bytes().chunks(piece) {
            for byte in piece.chunks(1) {
                bounds.add(byte).unwrap();
                deepest = deepest.max(bounds.depth);
            }
        }
        let mut whole = Bounds::new();
        text.as_bytes().chunks(piece).for_each(|piece| whole.add(piece).unwrap());
        assert_eq!((bounds.depth, bounds.values), (whole.depth, whole.values));
        (deepest, whole.values)
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let text = prop_oneof![any::<String>(), "[\\[\\]{}\",:\\\\ 0-9a-z]{0,12}"];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            text.clone().prop_map(Value::from),
        ];
        leaf.prop_recursive(6, 64, 6, move |part| {
            let named = vec((text.clone(), part.clone()), 0..6);
            prop_oneof![
                vec(part, 0..6).prop_map(Value::from),
                named.prop_map(|parts| Value::from(parts.into_iter().collect::<Map<_, _>>())),
            ]
        })
    }

    proptest! {
        /// A scan of a request's JSON, in pieces of any size, counts its depth and values as a parser does.
        #[test]
        fn a_scan_counts_like_a_parser(value in any_json(), pretty: bool, piece in 1_usize..40) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            prop_assert_eq!(scanned(&text.unwrap(), piece), measure(&value));
        }

        /// A scan of any bytes as JSON ends without a panic.
        #[test]
        fn a_scan_accepts_any_bytes(bytes: Vec<u8>) {
            let _ = Bounds::check(&bytes);
        }
    }

    fn nested(depth: usize) -> String {
        format!("{}{}", "[".repeat(depth), "]".repeat(depth))
    }

    #[rstest]
    #[case::empty("".to_owned(), None)]
    #[case::maximum_depth(nested(DEPTH_MAX), None)]
    #[case::one_level_deeper(nested(DEPTH_MAX + 1), Some(ErrorCode::JsonTooDeep))]
    #[case::nested_objects(format!("{}1{}", "{\"a\":".repeat(DEPTH_MAX + 1), "}".repeat(DEPTH_MAX + 1)), Some(ErrorCode::JsonTooDeep))]
    #[case::never_closed("[".repeat(DEPTH_MAX + 1), Some(ErrorCode::JsonTooDeep))]
    #[case::brackets_in_a_string(json!("[".repeat(DEPTH_MAX + 1)).to_string(), None)]
    #[case::after_an_escaped_quote(json!(format!("\\\"{}", "[".repeat(DEPTH_MAX + 1))).to_string(), None)]
    #[case::maximum_number(json!(vec![0; VALUES_MAX - 1]).to_string(), None)]
    #[case::one_value_more(json!(vec![0; VALUES_MAX]).to_string(), Some(ErrorCode::JsonTooLarge))]
    #[case::empty_objects(format!("[{}{{}}]", "{},".repeat(VALUES_MAX)), Some(ErrorCode::JsonTooLarge))]
    #[case::commas_in_a_string(json!(",".repeat(2 * VALUES_MAX)).to_string(), None)]
    fn exceeded_limits_have_their_codes(#[case] text: String, #[case] code: Option<ErrorCode>) {
        let refused = Bounds::check(text.as_bytes()).err().map(|error| match error {
            ApiError::TooDeep => ErrorCode::JsonTooDeep,
            ApiError::TooManyValues => ErrorCode::JsonTooLarge,
            other => panic!("{other:?}"),
        });
        assert_eq!(refused, code);
    }
}
