//! The keys that seal the stored fields.

use askama::Template;
use kalends_time::{Timestamp, Zone};

use super::frame::OperatorShell;
use crate::{
    english::in_english,
    numbers::{counted, grouped},
    time::date_text,
};

/// A data key. Neither the key nor its wrapped form is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorDataKey<'a> {
    /// The identifier.
    pub id: &'a str,
    /// When it was made.
    pub made_at: Timestamp,
    /// Whether it seals new values. The others only open values that are sealed already.
    pub seals: bool,
    /// The fingerprint of the master key that wraps it.
    pub master: &'a str,
}

impl OperatorDataKey<'_> {
    fn made(&self) -> String {
        date_text(Zone::UTC.to_civil(self.made_at).date)
    }

    const fn state(&self) -> &'static str {
        if self.seals { "Seals new values" } else { "Only opens values" }
    }
}

/// The number of values that another key than the current one sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatorOldValues {
    /// Nobody asked for it.
    NotCounted,
    /// It could not be counted in time.
    Unknown,
    /// It was counted.
    Counted {
        /// The number.
        count: u64,
        /// The number at which counting stops.
        max: u64,
    },
}

/// The data keys.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "operator_keys.html")]
pub struct OperatorKeys<'a> {
    /// The frame.
    pub shell: &'a OperatorShell,
    /// The data keys, the oldest first; `None` if they cannot be read.
    pub keys: Option<&'a [OperatorDataKey<'a>]>,
    /// The values that another key sealed.
    pub old_values: OperatorOldValues,
}

impl<'a> OperatorKeys<'a> {
    fn all(&self) -> &'a [OperatorDataKey<'a>] {
        self.keys.unwrap_or_default()
    }

    /// What the keys say about a rotation that has begun; `None` if they say nothing.
    fn rotation(&self) -> Option<&'static str> {
        let keys = self.all();
        let newest = keys.last()?;
        if keys.iter().any(|key| key.master != newest.master) {
            return Some("A rotation has begun: not all data keys are wrapped by the newest master key yet.");
        }
        (!newest.seals).then_some("A rotation has begun: the newest data key does not seal new values yet.")
    }

    const fn is_counted(&self) -> bool {
        !matches!(self.old_values, OperatorOldValues::NotCounted)
    }

    fn count_text(&self) -> String {
        match self.old_values {
            OperatorOldValues::NotCounted => String::new(),
            OperatorOldValues::Unknown => "The values could not be counted in time. The log says why.".to_owned(),
            OperatorOldValues::Counted { count: 0, .. } => "The current data key sealed all values.".to_owned(),
            OperatorOldValues::Counted { count, max } if count >= max => {
                format!("At least {} values are sealed under another data key.", grouped(max))
            }
            OperatorOldValues::Counted { count, .. } => {
                format!("Sealed under another data key: {}.", counted(count, "value", "values"))
            }
        }
    }
}

in_english!(OperatorKeys<'_>);

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::OperatorPlace;

    const fn key(seals: bool, master: &str) -> OperatorDataKey<'_> {
        OperatorDataKey { id: "key", made_at: Timestamp::EPOCH, seals, master }
    }

    fn page<'a>(keys: &'a [OperatorDataKey<'a>], old_values: OperatorOldValues) -> OperatorKeys<'a> {
        const SHELL: OperatorShell = OperatorShell { place: OperatorPlace::Keys, ends_at: Timestamp::EPOCH };
        OperatorKeys { shell: &SHELL, keys: Some(keys), old_values }
    }

    #[rstest]
    #[case::one_key(&[key(true, "a")], None)]
    #[case::after_a_rotation(&[key(false, "b"), key(true, "b")], None)]
    #[case::published(&[key(true, "a"), key(false, "b")], Some("newest master key"))]
    #[case::rewrapped(&[key(true, "b"), key(false, "b")], Some("does not seal new values yet"))]
    fn a_rotation_that_has_begun_is_named(#[case] keys: &[OperatorDataKey<'_>], #[case] says: Option<&str>) {
        let rotation = page(keys, OperatorOldValues::NotCounted).rotation();
        assert_eq!(rotation.is_some(), says.is_some(), "{rotation:?}");
        assert!(says.is_none_or(|says| rotation.is_some_and(|rotation| rotation.contains(says))), "{rotation:?}");
    }

    #[rstest]
    #[case(0, "The current data key sealed all values.")]
    #[case(1, "Sealed under another data key: 1 value.")]
    #[case(999, "Sealed under another data key: 999 values.")]
    #[case(1_000, "At least 1,000 values are sealed under another data key.")]
    fn a_count_stops_at_its_maximum(#[case] count: u64, #[case] says: &str) {
        let counted = OperatorOldValues::Counted { count, max: 1_000 };
        assert_eq!(page(&[], counted).count_text(), says);
    }
}
