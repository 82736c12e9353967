//! Reminders: minutes before the start at which a webhook or an email is sent.

use std::ops::RangeInclusive;

use kalends_kernel::FieldError;

/// The maximum number of reminders of one event or calendar.
pub const REMINDERS_MAX: usize = 5;
/// The allowed number of minutes between a reminder and the start: up to four weeks.
pub const REMINDER_MINUTES: RangeInclusive<i64> = 1..=40_320;
/// The reminder of an event if neither the event nor its calendar sets any.
pub const REMINDER_DEFAULT_MINUTES: u16 = 10;

/// Distinct reminders in minutes before the start, largest (earliest) first. May be empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reminders(Vec<u16>);

impl Reminders {
    /// Checks the bounds and merges duplicates.
    ///
    /// # Errors
    /// Names the entry that is out of bounds, or the count if there are more than [`REMINDERS_MAX`].
    pub fn parse(param: &str, minutes: &[i64]) -> Result<Self, FieldError> {
        Self::parse_up_to(REMINDERS_MAX, param, minutes)
    }

    /// Checks the bounds and merges duplicates.
    ///
    /// # Errors
    /// Names the entry that is out of bounds, or the count if there are more than `max`.
    pub fn parse_up_to(max: usize, param: &str, minutes: &[i64]) -> Result<Self, FieldError> {
        let mut kept = Vec::with_capacity(minutes.len().min(max));
        for (index, minute) in minutes.iter().enumerate() {
            if index >= 1_000 {
                break;
            }
            let inside = REMINDER_MINUTES.contains(minute).then(|| u16::try_from(*minute).ok()).flatten();
            let Some(minute) = inside else {
                return Err(FieldError::new(
                    format!("{param}[{index}]"),
                    format!("must be {} to {} minutes, got {minute}", REMINDER_MINUTES.start(), REMINDER_MINUTES.end()),
                ));
            };
            if !kept.contains(&minute) {
                kept.push(minute);
            }
        }
        if kept.len() > max || minutes.len() > 1_000 {
            return Err(FieldError::new(param, format!("must hold at most {max} reminders, got {}", minutes.len())));
        }
        kept.sort_unstable_by(|a, b| b.cmp(a));
        Ok(Self(kept))
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The minutes, largest first.
    pub fn minutes(&self) -> &[u16] {
        &self.0
    }

    /// The effective reminders of an event: its own, else those of its calendar, else ten minutes.
    pub fn effective(event: Option<&Self>, calendar: Option<&Self>) -> Self {
        event.or(calendar).cloned().unwrap_or_else(|| Self(vec![REMINDER_DEFAULT_MINUTES]))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&[], &[])]
    #[case(&[10, 10, 5], &[10, 5])]
    #[case(&[1, 40_320], &[40_320, 1])]
    #[case(&[1, 2, 3, 4, 5, 5, 4], &[5, 4, 3, 2, 1])]
    fn accepts(#[case] minutes: &[i64], #[case] kept: &[u16]) {
        assert_eq!(Reminders::parse("reminders", minutes).unwrap().minutes(), kept);
    }

    #[rstest]
    #[case(&[0], "reminders[0]")]
    #[case(&[5, 40_321], "reminders[1]")]
    #[case(&[-1], "reminders[0]")]
    #[case(&[1, 2, 3, 4, 5, 6], "reminders")]
    fn refuses(#[case] minutes: &[i64], #[case] param: &str) {
        assert_eq!(Reminders::parse("reminders", minutes).unwrap_err().param, param);
    }

    #[test]
    fn an_event_inherits_reminders_and_defaults_to_ten_minutes() {
        let own = Reminders::parse("reminders", &[30]).unwrap();
        let none = Reminders::default();
        assert_eq!(Reminders::effective(Some(&none), Some(&own)), none);
        assert_eq!(Reminders::effective(None, Some(&own)), own);
        assert_eq!(Reminders::effective(None, None).minutes(), [10]);
    }
}
