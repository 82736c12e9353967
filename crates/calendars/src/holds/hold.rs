//! What makes an event a hold.

use kalends_kernel::FieldError;
use kalends_time::{SignedDuration, Span, Timestamp};

use crate::{EventStatus, named_values};

/// The shortest time for which a hold can be placed.
pub const HOLD_LEAST: SignedDuration = SignedDuration::seconds(30);
/// The longest time for which a hold can be placed or prolonged.
pub const HOLD_MOST: SignedDuration = SignedDuration::minutes(15);
/// The longest time for which a long hold can be placed or prolonged. Not every plan has them.
pub const LONG_HOLD_MOST: SignedDuration = SignedDuration::days(7);
/// The highest priority of a hold; the lowest is 0.
pub const HOLD_PRIORITY_MAX: u8 = 100;

named_values! {
    /// The calendars that a hold must fit.
    #[derive(Default)]
    pub enum HoldScope {
        /// Its own calendar.
        #[default]
        Calendar = "calendar",
        /// All calendars of the agent that owns its calendar.
        Agent = "agent",
    }
}

/// The fields that make an event a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hold {
    /// From this instant on, it blocks no time.
    pub expires_at: Timestamp,
    /// From 0 to [`HOLD_PRIORITY_MAX`]. A hold gives way to holds of a higher priority.
    pub priority: u8,
    /// The calendars that it must fit.
    pub scope: HoldScope,
}

impl Hold {
    /// Checks a hold that is placed or prolonged at `now`. `longest` is [`HOLD_MOST`] or [`LONG_HOLD_MOST`].
    ///
    /// # Errors
    /// If it lasts less than [`HOLD_LEAST`] or more than `longest`.
    pub fn placed(self, now: Timestamp, longest: SignedDuration) -> Result<Self, FieldError> {
        let lasts = self.expires_at - now;
        if (HOLD_LEAST..=longest).contains(&lasts) {
            return Ok(self);
        }
        let least = HOLD_LEAST.as_seconds();
        let most = match longest.as_seconds() / 60 {
            minutes if minutes % 1_440 == 0 => format!("{} days", minutes / 1_440),
            minutes => format!("{minutes} minutes"),
        };
        let (from, to) = (now + HOLD_LEAST, now + longest);
        let message = format!(
            "must be {least} seconds to {most} ahead: from {from} to {to} by the service's clock, got {at}",
            at = self.expires_at
        );
        Err(FieldError::new("hold_expires_at", message))
    }

    /// Checks the time that a hold is placed on or moved to at `now`.
    ///
    /// # Errors
    /// If the time is over.
    pub fn keeps(span: Span, now: Timestamp) -> Result<(), FieldError> {
        if span.end() > now {
            return Ok(());
        }
        let message = format!("must be after {now}, now by the service's clock, for a hold; got {}", span.end());
        Err(FieldError::new("end_time", message))
    }

    /// Whether it has expired at `now`.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at <= now
    }
}

/// A hold that a request wants to place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewHold {
    /// The hold.
    pub hold: Hold,
    /// The longest time for which it can be placed.
    pub longest: SignedDuration,
}

/// A new expiry of a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HoldExpiry {
    /// From this instant on, the hold blocks no time.
    pub at: Timestamp,
    /// The longest time from now to the expiry.
    pub longest: SignedDuration,
}

/// Why an operation on a hold is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HoldError {
    /// The event is not a hold, or no longer one: it was confirmed, released or pre-empted.
    #[error("the event is not a live hold: its status is {}; only a live hold can be confirmed, released or prolonged", .0.as_str())]
    NotHeld(EventStatus),
    /// The hold has expired.
    #[error("the hold expired at {0}; place a new one")]
    Expired(Timestamp),
    /// The status of a hold cannot be set. Only a hold's own operations change it.
    #[error("the status of a hold cannot be set; confirm it, release it or delete it")]
    StatusIsNotSet,
}
