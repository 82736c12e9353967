//! Filters on metadata: `metadata.KEY=VALUE`.

use serde_json::{Number, Value};

use crate::{FieldError, Metadata};

/// An entry of metadata as filters compare it.
///
/// Only entries at the top level whose value is a text, a number or a boolean have one. Two numbers are the same if
/// their values are: `7` and `7.0`. A number and a text are never the same.
///
/// ```
/// use kalends_kernel::{Metadata, serde_json::json};
///
/// let terms = |value| Metadata::parse("metadata", value).map(|metadata| metadata.terms());
/// assert_eq!(terms(json!({ "n": 7 }))?, terms(json!({ "n": 7.0, "tags": ["a"], "owner": null }))?);
/// assert_ne!(terms(json!({ "n": 7 }))?, terms(json!({ "n": "7" }))?);
/// # Ok::<(), kalends_kernel::FieldError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MetadataTerm(Vec<u8>);

impl MetadataTerm {
    /// The term as bytes. They are the same if and only if the terms are, in every version: stores keep hashes of them.
    ///
    /// ```
    /// use kalends_kernel::{Metadata, serde_json::json};
    ///
    /// let terms = Metadata::parse("metadata", json!({ "ok": true }))?.terms();
    /// assert_eq!(terms[0].as_bytes(), b"\x02\0\0\0ok=true");
    /// # Ok::<(), kalends_kernel::FieldError>(())
    /// ```
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn of(key: &str, value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::text(key, text)),
            Value::Bool(flag) => Some(Self::text(key, if *flag { "true" } else { "false" })),
            Value::Number(number) => Some(Self::number(key, number)),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    fn text(key: &str, text: &str) -> Self {
        Self::written(key, b'=', text)
    }

    fn number(key: &str, number: &Number) -> Self {
        Self::written(key, b'#', &same_for_equal_numbers(number))
    }

    fn written(key: &str, kind: u8, value: &str) -> Self {
        // The length keeps the key apart from the value, whatever they contain. Metadata is shorter than 4 GiB.
        let length = u32::try_from(key.len()).unwrap_or(u32::MAX).to_le_bytes();
        Self([&length, key.as_bytes(), &[kind], value.as_bytes()].concat())
    }
}

/// The number in decimal digits, without a fraction if it is whole.
#[expect(clippy::cast_possible_truncation, reason = "the bounds are those of i64 and u64")]
fn same_for_equal_numbers(number: &Number) -> String {
    const WHOLE: std::ops::Range<f64> = -9_223_372_036_854_775_808.0..18_446_744_073_709_551_616.0;
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && WHOLE.contains(&float) => (float as i128).to_string(),
        _ => number.to_string(),
    }
}

impl Metadata {
    /// The maximum number of entries by which an event is found.
    pub const TERMS_MAX: usize = 50;

    /// The terms of the entries by which filters find it: the first [`Self::TERMS_MAX`] that have one, in the order of
    /// their keys. [`MetadataTerm`] has an example.
    pub fn terms(&self) -> Vec<MetadataTerm> {
        let mut entries: Vec<_> =
            self.as_map().iter().filter_map(|(key, value)| Some((key, MetadataTerm::of(key, value)?))).collect();
        if entries.len() > Self::TERMS_MAX {
            entries.sort_unstable_by_key(|(key, _)| *key);
            entries.truncate(Self::TERMS_MAX);
        }
        entries.into_iter().map(|(_, term)| term).collect()
    }
}

/// Selects metadata by its entries: each filter names a key and a value, and all of them must match.
///
/// A value is text. It matches a text that is the same, a number of the same value, and a boolean of this name.
///
/// ```
/// use kalends_kernel::{Metadata, MetadataFilter, serde_json::json};
///
/// let filter = MetadataFilter::parse("metadata", [("project", "apollo"), ("round", "2")])?;
/// let matches = |value| Metadata::parse("metadata", value).map(|metadata| filter.matches(&metadata));
/// assert!(matches(json!({ "project": "apollo", "round": 2, "note": "any" }))?);
/// assert!(matches(json!({ "project": "apollo", "round": "2" }))?);
/// assert!(!matches(json!({ "project": "Apollo", "round": 2 }))?);
/// assert!(!matches(json!({ "round": 2 }))?);
/// # Ok::<(), kalends_kernel::FieldError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MetadataFilter {
    /// For each filter the terms that it matches: one for the text, and one for the number that it writes, if any.
    filters: Vec<Vec<MetadataTerm>>,
}

impl MetadataFilter {
    /// The maximum number of filters.
    pub const FILTERS_MAX: usize = 10;

    /// Reads pairs of a key and a value.
    ///
    /// # Errors
    /// More than [`Self::FILTERS_MAX`] pairs, and an empty key.
    ///
    /// ```
    /// use kalends_kernel::MetadataFilter;
    ///
    /// let error = MetadataFilter::parse("metadata", [("", "apollo")]).map_err(|error| error.to_string());
    /// assert_eq!(error, Err("metadata: must name a key, as in metadata.project=apollo".to_owned()));
    /// ```
    pub fn parse<'a>(param: &str, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, FieldError> {
        let pairs: Vec<_> = pairs.into_iter().collect();
        if pairs.len() > Self::FILTERS_MAX {
            let message = format!("must be at most {} filters, got {}", Self::FILTERS_MAX, pairs.len());
            return Err(FieldError::new(param, message));
        }
        if pairs.iter().any(|(key, _)| key.is_empty()) {
            return Err(FieldError::new(param, format!("must name a key, as in {param}.project=apollo")));
        }
        let filters = pairs.into_iter().map(|(key, value)| {
            let number = written_number(value).map(|number| MetadataTerm::number(key, &number));
            [MetadataTerm::text(key, value)].into_iter().chain(number).collect()
        });
        Ok(Self { filters: filters.collect() })
    }

    /// Whether there is no filter, so that everything matches.
    ///
    /// ```
    /// assert!(kalends_kernel::MetadataFilter::default().is_empty());
    /// ```
    pub const fn is_empty(&self) -> bool {
        self.filters.is_empty()
    }

    /// For each filter the terms of which metadata must have one.
    ///
    /// ```
    /// use kalends_kernel::MetadataFilter;
    ///
    /// let filter = MetadataFilter::parse("metadata", [("round", "2"), ("project", "apollo")])?;
    /// let terms: Vec<usize> = filter.terms().map(<[_]>::len).collect();
    /// assert_eq!(terms, [2, 1], "2 is a text and a number");
    /// # Ok::<(), kalends_kernel::FieldError>(())
    /// ```
    pub fn terms(&self) -> impl Iterator<Item = &[MetadataTerm]> {
        self.filters.iter().map(Vec::as_slice)
    }

    /// Whether metadata matches every filter. [`MetadataFilter`] has an example.
    pub fn matches(&self, metadata: &Metadata) -> bool {
        if self.is_empty() {
            return true;
        }
        let found = metadata.terms();
        self.terms().all(|terms| terms.iter().any(|term| found.contains(term)))
    }
}

/// The number that a text writes as JSON does.
fn written_number(text: &str) -> Option<Number> {
    let spaced = text.bytes().any(|byte| byte.is_ascii_whitespace());
    (!spaced).then(|| serde_json::from_str(text).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn metadata(value: Value) -> Metadata {
        Metadata::parse("metadata", value).unwrap()
    }

    fn matches(key: &str, value: &str, entry: &Value) -> bool {
        MetadataFilter::parse("metadata", [(key, value)]).unwrap().matches(&metadata(json!({ key: entry })))
    }

    #[rstest]
    #[case::text("apollo", json!("apollo"), true)]
    #[case::case_differs("apollo", json!("Apollo"), false)]
    #[case::accent_differs("café", json!("cafe"), false)]
    #[case::part("apollo", json!("apollo 11"), false)]
    #[case::empty("", json!(""), true)]
    #[case::space(" 7", json!(" 7"), true)]
    #[case::space_before_a_number(" 7", json!(7), false)]
    #[case::number("7", json!(7), true)]
    #[case::text_of_digits("7", json!("7"), true)]
    #[case::same_number("7.0", json!(7), true)]
    #[case::same_number_with_exponent("0.7e1", json!(7.0), true)]
    #[case::other_text_of_the_number("7.0", json!("7"), false)]
    #[case::leading_zero("07", json!(7), false)]
    #[case::plus("+7", json!(7), false)]
    #[case::negative("-7", json!(-7), true)]
    #[case::negative_zero("-0", json!(0), true)]
    #[case::fraction("0.5", json!(0.5), true)]
    #[case::fraction_written_otherwise("5e-1", json!(0.5), true)]
    #[case::fraction_with_many_digits("9.048365534230699e-170", json!(9.048_365_534_230_699e-170), true)]
    #[case::largest("18446744073709551615", json!(u64::MAX), true)]
    #[case::large_neighbour("18446744073709551614", json!(u64::MAX), false)]
    #[case::smallest("-9223372036854775808", json!(i64::MIN), true)]
    #[case::float_and_integer("9007199254740992", json!(9_007_199_254_740_992.0), true)]
    #[case::beyond_integers("100000000000000000000", json!(1e20), true)]
    #[case::too_large_for_a_number("1e999", json!("1e999"), true)]
    #[case::true_("true", json!(true), true)]
    #[case::text_true("true", json!("true"), true)]
    #[case::false_("false", json!(true), false)]
    #[case::not_a_boolean("1", json!(true), false)]
    #[case::null("null", json!(null), false)]
    #[case::text_null("null", json!("null"), true)]
    #[case::array("a", json!(["a"]), false)]
    #[case::object("{}", json!({}), false)]
    fn values_match(#[case] value: &str, #[case] entry: Value, #[case] expected: bool) {
        assert_eq!(matches("key", value, &entry), expected);
    }

    #[test]
    fn only_the_top_level_matches() {
        let nested = metadata(json!({ "a": { "b": "c" }, "a.d": "e" }));
        let filter = |key, value| MetadataFilter::parse("metadata", [(key, value)]).unwrap();
        assert!(!filter("a.b", "c").matches(&nested));
        assert!(!filter("b", "c").matches(&nested));
        assert!(filter("a.d", "e").matches(&nested), "a key may contain a point");
    }

    #[test]
    fn a_key_does_not_run_into_its_value() {
        let terms = |value| metadata(value).terms();
        assert_ne!(terms(json!({ "a": "b=c" })), terms(json!({ "a=b": "c" })));
        assert_ne!(terms(json!({ "a": "#7" })), terms(json!({ "a": 7 })));
    }

    #[test]
    fn the_first_entries_in_order_of_their_keys_are_found() {
        let last = Metadata::TERMS_MAX - 1;
        let entries = (0..=Metadata::TERMS_MAX).map(|entry| (format!("k{entry:03}"), json!(entry)));
        // Entries without a term do not count.
        let entries = entries.chain((0..Metadata::TERMS_MAX).map(|entry| (format!("a{entry}"), json!(null))));
        let many = Metadata::parse("metadata", Value::Object(entries.collect())).unwrap();
        let found = |entry: usize| {
            let (key, value) = (format!("k{entry:03}"), entry.to_string());
            MetadataFilter::parse("metadata", [(key.as_str(), value.as_str())]).unwrap().matches(&many)
        };
        assert!(found(0) && found(last));
        assert!(!found(last + 1));
        assert_eq!(many.terms().len(), Metadata::TERMS_MAX);
    }

    #[test]
    fn the_number_of_filters_is_limited() {
        let keys: Vec<String> = (0..=MetadataFilter::FILTERS_MAX).map(|key| key.to_string()).collect();
        let filter =
            |count: usize| MetadataFilter::parse("metadata", keys[..count].iter().map(|key| (key.as_str(), "")));
        assert!(filter(MetadataFilter::FILTERS_MAX).is_ok());
        let refused = filter(MetadataFilter::FILTERS_MAX + 1).unwrap_err();
        assert_eq!(refused.to_string(), "metadata: must be at most 10 filters, got 11");
    }

    fn scalar() -> impl Strategy<Value = Value> {
        prop_oneof![
            "[a-z0-9.\"=# -]{0,4}".prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-20i64..20).prop_map(Value::from),
            (-40i64..40).prop_map(|half| Value::from(half as f64 / 2.0)),
            any::<f64>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            Just(Value::Null),
        ]
    }

    /// A value as a query writes it.
    fn written(value: &Value) -> Option<String> {
        match value {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            other => Some(other.to_string()),
        }
    }

    /// Whether a query's text means the value, without terms.
    fn means(text: &str, value: &Value) -> bool {
        match value {
            Value::String(own) => own == text,
            Value::Bool(flag) => text == flag.to_string(),
            Value::Number(_) if !is_json_number(text) => false,
            Value::Number(own) => match (text.parse::<i128>(), own.to_string().parse::<i128>()) {
                (Ok(one), Ok(other)) => one == other,
                _ => text.parse().ok() == own.as_f64(),
            },
            _ => false,
        }
    }

    /// Whether the text is a number of RFC 8259, section 6, as far as the strategy writes texts.
    fn is_json_number(text: &str) -> bool {
        let text = text.strip_prefix('-').unwrap_or(text);
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        digits(whole) && (whole == "0" || !whole.starts_with('0')) && digits(fraction) && digits(exponent)
    }

    proptest! {
        /// Each value that a caller stores is found by its text, and by the text of another value exactly if they
        /// mean the same.
        #[test]
        fn values_are_found_by_what_they_mean(one in scalar(), other in scalar()) {
            if let Some(text) = written(&one) {
                prop_assert!(matches("key", &text, &one), "{text} finds itself");
                prop_assert_eq!(matches("key", &text, &other), means(&text, &other), "{} finds {}", text, other);
            }
        }
    }
}
