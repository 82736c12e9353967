//! Values that may cause trouble in a store.

use kalends_calendars::Reminders;
use kalends_kernel::Metadata;
use serde_json::json;

use crate::fixtures::metadata;

/// Text in several scripts, beyond the basic plane, with everything that may break a query.
pub(super) const TRICKY: &str = "Žluťoučký kůň 診察 🐎👩‍💻 e\u{301} 'one' \"two\" \\ % _ $1 ?1 :a {} ; -- \u{202e}";

/// Metadata of every JSON type, nested.
pub(super) fn rich_metadata() -> Metadata {
    metadata(json!({
        "": null,
        "text": TRICKY,
        "control": "\u{1}\n\t",
        "numbers": [0, -1, 0.5, 9_007_199_254_740_993_i64, i64::MIN, u64::MAX],
        "nested": { "list": [[], {}, [true, false, null]], "quote\"d": { "ключ": "значение" } },
    }))
}

/// Metadata of exactly the maximum size.
pub(super) fn largest_metadata() -> Metadata {
    let overhead = r#"{"k":""}"#.len();
    let filler = "é".repeat((Metadata::MAX_BYTES - overhead) / 2);
    let largest = metadata(json!({ "k": filler }));
    assert_eq!(largest.to_json().len(), Metadata::MAX_BYTES);
    largest
}

/// No own reminders, an empty list, one, and the maximum number.
pub(super) fn reminders() -> [Option<Reminders>; 4] {
    let parsed = |minutes: &[i64]| Some(Reminders::parse("reminders", minutes).unwrap());
    [None, parsed(&[]), parsed(&[10]), parsed(&[1, 40_320, 15, 60, 1_440])]
}
