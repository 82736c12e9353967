//! The keys that seal the stored fields.

use askama::Template;
use kalends_time::{Timestamp, Zone};

use super::frame::OperatorShell;
use crate::{
    english::in_english,
    time::{date_text, in_utc},
};

const UNFINISHED: &str = "A rotation has begun and is not done.";
const UNRECORDED: &str = "The end of the last rotation is not recorded, because older releases did not record it.";

/// A data key. Neither the key nor its wrapped form is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorDataKey<'a> {
    /// The identifier.
    pub id: &'a str,
    /// When it was made.
    pub made_at: Timestamp,
    /// Whether it seals new values. The others only open values that are sealed already.
    pub seals: bool,
    /// When every value had been sealed with it, since it last began to seal; `None` if that was not recorded.
    pub resealed_at: Option<Timestamp>,
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

/// The data keys.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "operator_keys.html")]
pub struct OperatorKeys<'a> {
    /// The frame.
    pub shell: &'a OperatorShell,
    /// The data keys, the oldest first; `None` if they cannot be read.
    pub keys: Option<&'a [OperatorDataKey<'a>]>,
}

impl<'a> OperatorKeys<'a> {
    fn all(&self) -> &'a [OperatorDataKey<'a>] {
        self.keys.unwrap_or_default()
    }

    /// What the keys say about a rotation that is not done; `None` if they say nothing.
    fn rotation(&self) -> Option<&'static str> {
        let keys = self.all();
        let newest = keys.last()?;
        if !newest.seals || keys.iter().any(|key| key.master != newest.master) {
            return Some(UNFINISHED);
        }
        if keys.len() == 1 || newest.resealed_at.is_some() {
            return None;
        }
        // A key that was recorded shows that the end of this rotation would have been recorded too.
        Some(if keys.iter().any(|key| key.resealed_at.is_some()) { UNFINISHED } else { UNRECORDED })
    }

    /// Which values the key has sealed; `None` if that is not known, or not of interest.
    fn values(&self, key: &OperatorDataKey<'_>) -> Option<String> {
        match key.resealed_at.filter(|_| key.seals) {
            Some(at) => Some(format!("All values are sealed with it since {}.", in_utc(at))),
            None if self.all().len() == 1 => Some("All values are sealed with it: there is no other key.".to_owned()),
            None => None,
        }
    }
}

in_english!(OperatorKeys<'_>);

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::OperatorPlace;

    const fn key(seals: bool, resealed: bool, master: &str) -> OperatorDataKey<'_> {
        let resealed_at = if resealed { Some(Timestamp::EPOCH) } else { None };
        OperatorDataKey { id: "key", made_at: Timestamp::EPOCH, seals, resealed_at, master }
    }

    const fn page<'a>(keys: &'a [OperatorDataKey<'a>]) -> OperatorKeys<'a> {
        const SHELL: OperatorShell = OperatorShell { place: OperatorPlace::Keys, ends_at: Timestamp::EPOCH };
        OperatorKeys { shell: &SHELL, keys: Some(keys) }
    }

    #[rstest]
    #[case::none(&[], None)]
    #[case::one_key(&[key(true, true, "a")], None)]
    #[case::one_key_of_an_older_release(&[key(true, false, "a")], None)]
    #[case::published(&[key(true, true, "a"), key(false, false, "b")], Some(UNFINISHED))]
    #[case::rewrapped(&[key(true, true, "b"), key(false, false, "b")], Some(UNFINISHED))]
    #[case::resealing(&[key(false, true, "b"), key(true, false, "b")], Some(UNFINISHED))]
    #[case::done(&[key(false, true, "b"), key(true, true, "b")], None)]
    #[case::done_after_an_older_release(&[key(false, false, "b"), key(true, true, "b")], None)]
    #[case::rotated_by_an_older_release(&[key(false, false, "b"), key(true, false, "b")], Some(UNRECORDED))]
    fn a_rotation_is_named_until_its_end_is_recorded(#[case] keys: &[OperatorDataKey<'_>], #[case] says: Option<&str>) {
        assert_eq!(page(keys).rotation(), says);
    }

    #[rstest]
    #[case::done(&[key(false, true, "b"), key(true, true, "b")], Some("All values are sealed with it since "))]
    #[case::resealing(&[key(false, true, "b"), key(true, false, "b")], None)]
    #[case::one_key_of_an_older_release(&[key(true, false, "a")], Some("there is no other key"))]
    fn the_page_says_whether_one_key_seals_all_values(
        #[case] keys: &[OperatorDataKey<'_>],
        #[case] says: Option<&str>,
    ) {
        let page = page(keys);
        let values: Vec<_> = keys.iter().filter_map(|key| page.values(key)).collect();
        assert_eq!(values.len(), usize::from(says.is_some()), "{values:?}");
        assert!(says.is_none_or(|says| values[0].contains(says)), "{values:?}");
    }
}
