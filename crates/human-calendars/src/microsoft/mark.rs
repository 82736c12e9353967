//! The property that marks an event as a copy of one of ours.

use kalends_bridge::CopyKey;
use kalends_kernel::CalendarId;
use kalends_time::{Timestamp, Zone};
use serde_json::Value;

/// The identifier of the property: a named property of type String in a namespace of Kalends' own
/// (<https://learn.microsoft.com/graph/api/resources/extended-properties-overview>).
pub(super) const PROPERTY: &str = "String {6f1c2f0e-5f0d-4d0a-9c57-3b1e8a7d2c64} Name KalendsCopy";

/// What a copy is a copy of, and what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    /// Our calendar.
    pub(super) calendar: CalendarId,
    /// The event, or the occurrence.
    pub(super) key: CopyKey,
    /// [`kalends_bridge::CopyContent::visible`] of what was written.
    pub(super) visible: [u8; 32],
    /// The zone in which it was written. Whole days are days of that zone.
    pub(super) zone: Zone,
}

impl Mark {
    /// The value of the property: five words, under 255 characters.
    pub(super) fn value(&self) -> String {
        let start = self.key.original_start.map_or("-".to_owned(), |start| start.as_micros().to_string());
        let visible: String = self.visible.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{} {} {start} {visible} {}", self.calendar, self.key.event, self.zone.name())
    }

    fn parse(value: &str) -> Option<Self> {
        let mut words = value.split(' ');
        let (calendar, event) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let original_start = match words.next()? {
            "-" => None,
            micros => Some(Timestamp::from_micros(micros.parse().ok()?)),
        };
        let visible = digest(words.next()?)?;
        let zone = words.next()?.parse().ok()?;
        words.next().is_none().then_some(Self { calendar, key: CopyKey { event, original_start }, visible, zone })
    }

    /// The mark among the properties of an event. `None` if there is no valid one.
    pub(super) fn among(properties: &Value) -> Option<Self> {
        // The API writes the letters of the namespace in either case.
        let is_ours = |property: &&Value| {
            property.get("id").and_then(Value::as_str).is_some_and(|id| id.eq_ignore_ascii_case(PROPERTY))
        };
        Self::parse(properties.as_array()?.iter().find(is_ours)?.get("value")?.as_str()?)
    }
}

/// 32 bytes in hexadecimal.
fn digest(text: &str) -> Option<[u8; 32]> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    if pairs.len() != 32 {
        return None;
    }
    let nibble = |letter: u8| char::from(letter).to_digit(16).and_then(|nibble| u8::try_from(nibble).ok());
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(pairs) {
        *byte = nibble(pair[0])? * 16 + nibble(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use kalends_kernel::EventId;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn mark(original_start: Option<Timestamp>) -> Mark {
        let mut visible = [0; 32];
        visible[0] = 0xaf;
        visible[31] = 7;
        let key = CopyKey { event: EventId::from_bytes([2; 16]), original_start };
        let zone = "Europe/Berlin".parse().unwrap();
        Mark { calendar: CalendarId::from_bytes([1; 16]), key, visible, zone }
    }

    #[rstest]
    #[case::single(None)]
    #[case::occurrence(Some(Timestamp::from_micros(1_800_000_000_000_000)))]
    #[case::before_1970(Some(Timestamp::from_micros(-1)))]
    #[case::the_longest(Some(Timestamp::from_micros(i64::MIN)))]
    fn a_mark_is_read_as_it_was_written(#[case] original_start: Option<Timestamp>) {
        let mark = mark(original_start);
        let value = mark.value();
        assert!(value.len() <= 255 && value.starts_with(&format!("{} ", mark.calendar)), "{value}");
        let properties = json!([
            { "id": "String {6f1c2f0e-5f0d-4d0a-9c57-3b1e8a7d2c64} Name Other", "value": "x" },
            { "id": PROPERTY.to_ascii_lowercase(), "value": value }
        ]);
        assert_eq!(Mark::among(&properties), Some(mark));
    }

    #[rstest]
    #[case::none(json!(null))]
    #[case::empty(json!([]))]
    #[case::no_list(json!({ "id": PROPERTY, "value": mark(None).value() }))]
    #[case::another_property(json!([{ "id": "String {0} Name KalendsCopy", "value": mark(None).value() }]))]
    #[case::no_value(json!([{ "id": PROPERTY }]))]
    #[case::a_number(json!([{ "id": PROPERTY, "value": 7 }]))]
    #[case::a_word_less(json!([{ "id": PROPERTY, "value": mark(None).value().replacen(" -", "", 1) }]))]
    #[case::a_word_more(json!([{ "id": PROPERTY, "value": format!("{} x", mark(None).value()) }]))]
    #[case::another_identifier(json!([{ "id": PROPERTY, "value": mark(None).value().replacen("evt", "agt", 1) }]))]
    #[case::no_number(json!([{ "id": PROPERTY, "value": mark(None).value().replacen(" - ", " x ", 1) }]))]
    #[case::a_shorter_digest(json!([{ "id": PROPERTY, "value": mark(None).value().replacen("07 ", "0 ", 1) }]))]
    #[case::no_zone(json!([{ "id": PROPERTY, "value": mark(None).value().replace("Berlin", "x") }]))]
    #[case::no_digest(json!([{ "id": PROPERTY, "value": mark(None).value().replace("af0", "é0") }]))]
    fn anything_else_is_no_mark(#[case] properties: Value) {
        assert_eq!(Mark::among(&properties), None);
    }
}
