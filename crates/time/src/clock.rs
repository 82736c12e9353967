//! The port through which a program receives the current time.

use crate::Timestamp;

/// A source of the time. Production reads the system's clock; tests set it by hand.
///
/// ```
/// use kalends_time::{Clock, Timestamp};
///
/// struct Stopped(Timestamp);
///
/// impl Clock for Stopped {
///     fn now(&self) -> Timestamp {
///         self.0
///     }
/// }
///
/// assert_eq!(Stopped(Timestamp::EPOCH).now(), Timestamp::EPOCH);
/// ```
pub trait Clock: Send + Sync {
    /// The current time, to the microsecond.
    fn now(&self) -> Timestamp;
}
