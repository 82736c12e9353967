//! The status of an event.

use crate::named_values;

named_values! {
    /// The status of an event.
    pub enum EventStatus {
        /// The event takes place.
        Confirmed = "confirmed",
        /// The event may take place. It blocks its time.
        Tentative = "tentative",
        /// The event does not take place. Its time is free.
        Cancelled = "cancelled",
        /// The event is a hold, which blocks its time until it expires.
        Hold = "hold",
    }
}
