//! Cancelled bookings.

/// The maximum number of characters of the reason with which a host cancels a booking.
pub const REASON_MAX: usize = 500;

/// Who cancelled a booking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelledBy {
    /// The guest, with the link.
    Guest,
    /// The owner of the page.
    Host,
}

impl CancelledBy {
    /// Every value.
    pub const ALL: &'static [Self] = &[Self::Guest, Self::Host];

    /// The name in JSON and in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Guest => "guest",
            Self::Host => "host",
        }
    }

    /// The value with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|by| by.as_str() == name)
    }
}
