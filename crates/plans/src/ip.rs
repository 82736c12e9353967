//! Limits by IP address on requests that need no key.

use kalends_quotas::Rate;

/// A lane: a kind of unauthenticated request that is limited by address. Each lane is counted separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum IpLane {
    /// iCalendar feeds.
    Feed,
    /// The list of plans.
    Plans,
    /// Reads of booking pages and their slots.
    BookingPage,
    /// Submissions of bookings.
    Booking,
    /// Invitations and the replies to them. Many attendees may share an address.
    Rsvp,
    /// Joining the waiting list.
    Waitlist,
    /// Signing in to the console, and every other request that tries a password or a code there.
    SignIn,
    /// The sign-up of an agent.
    SignUp,
    /// Wrong tokens of the operator.
    Operator,
    /// Registrations of clients of OAuth. The clients of a hosted assistant share its addresses.
    ConnectorRegistration,
    /// Exchanges of codes and refresh tokens for access tokens, and revocations.
    ConnectorToken,
}

impl IpLane {
    /// Every lane.
    pub const ALL: [Self; 11] = [
        Self::Feed,
        Self::Plans,
        Self::BookingPage,
        Self::Booking,
        Self::Rsvp,
        Self::Waitlist,
        Self::SignIn,
        Self::SignUp,
        Self::Operator,
        Self::ConnectorRegistration,
        Self::ConnectorToken,
    ];

    /// The name in `KALENDS_IP_LIMITS`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Feed => "feed",
            Self::Plans => "plans",
            Self::BookingPage => "booking_page",
            Self::Booking => "booking",
            Self::Rsvp => "rsvp",
            Self::Waitlist => "waitlist",
            Self::SignIn => "sign_in",
            Self::SignUp => "sign_up",
            Self::Operator => "operator",
            Self::ConnectorRegistration => "connector_registration",
            Self::ConnectorToken => "connector_token",
        }
    }

    /// The lane with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|lane| lane.as_str() == name)
    }

    /// The default number of requests per minute.
    pub const fn default_per_minute(self) -> u32 {
        match self {
            // Hosted assistants renew the tokens of all their users from few addresses.
            Self::ConnectorToken => 600,
            Self::Feed | Self::Rsvp => 120,
            Self::Plans | Self::BookingPage => 60,
            Self::ConnectorRegistration => 30,
            Self::Booking | Self::SignIn | Self::Operator => 10,
            Self::Waitlist | Self::SignUp => 5,
        }
    }
}

/// The limits in force, from `KALENDS_IP_LIMITS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IpLimits([Option<u32>; IpLane::ALL.len()]);

/// Why a text is not a list of limits. The messages follow the name of the setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IpLimitsError {
    /// An entry without `=`.
    #[error("must be default, off, or a list such as feed=600,booking=100; {0:?} is not valid")]
    Form(String),
    /// A name that is not the name of a lane.
    #[error("has no limit named {name:?}; the names are {known}")]
    Unknown {
        /// The name that was given.
        name: String,
        /// All names.
        known: String,
    },
    /// A value that is not a limit.
    #[error("must give {name} as 1 to {max} requests per minute, or off; got {got:?}", max = IpLimits::PER_MINUTE_MAX)]
    Number {
        /// The name of the lane.
        name: &'static str,
        /// The value that was given.
        got: String,
    },
    /// One lane named twice.
    #[error("names {0} twice")]
    Twice(&'static str),
}

impl Default for IpLimits {
    fn default() -> Self {
        Self(IpLane::ALL.map(|lane| Some(lane.default_per_minute())))
    }
}

impl IpLimits {
    /// The highest limit in requests per minute. For more, use `off`.
    pub const PER_MINUTE_MAX: u32 = 1_000_000;
    /// No limits at all.
    pub const OFF: Self = Self([None; IpLane::ALL.len()]);

    /// Reads `default`, `off`, or a list such as `feed=600,booking=off`. A lane that the list does not name keeps its
    /// default.
    ///
    /// # Errors
    /// [`IpLimitsError`] names the entry and what is allowed.
    pub fn parse(text: &str) -> Result<Self, IpLimitsError> {
        let mut limits = match text.trim() {
            "default" => return Ok(Self::default()),
            "off" => return Ok(Self::OFF),
            _ => Self::default(),
        };
        let mut named = Vec::new();
        for entry in text.split(',').map(str::trim) {
            let (name, value) = entry.split_once('=').ok_or_else(|| IpLimitsError::Form(excerpt(entry)))?;
            let (name, value) = (name.trim(), value.trim());
            let lane = IpLane::from_name(name).ok_or_else(|| IpLimitsError::Unknown {
                name: excerpt(name),
                known: IpLane::ALL.map(IpLane::as_str).join(", "),
            })?;
            if named.contains(&lane) {
                return Err(IpLimitsError::Twice(lane.as_str()));
            }
            named.push(lane);
            limits.0[lane as usize] = if value == "off" {
                None
            } else {
                let number = value.parse().ok().filter(|number| (1..=Self::PER_MINUTE_MAX).contains(number));
                Some(number.ok_or_else(|| IpLimitsError::Number { name: lane.as_str(), got: excerpt(value) })?)
            };
        }
        Ok(limits)
    }

    /// The limit of a lane, with a burst of one minute; `None` is unlimited.
    pub fn rate(&self, lane: IpLane) -> Option<Rate> {
        self.0[lane as usize].map(Rate::per_minute)
    }
}

fn excerpt(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// The table of defaults, written a second time so that a slip in either place shows.
    #[rstest]
    #[case(IpLane::Feed, "feed", 120)]
    #[case(IpLane::Plans, "plans", 60)]
    #[case(IpLane::BookingPage, "booking_page", 60)]
    #[case(IpLane::Booking, "booking", 10)]
    #[case(IpLane::Rsvp, "rsvp", 120)]
    #[case(IpLane::Waitlist, "waitlist", 5)]
    #[case(IpLane::SignIn, "sign_in", 10)]
    #[case(IpLane::SignUp, "sign_up", 5)]
    #[case(IpLane::Operator, "operator", 10)]
    #[case(IpLane::ConnectorRegistration, "connector_registration", 30)]
    #[case(IpLane::ConnectorToken, "connector_token", 600)]
    fn every_lane_has_its_default(#[case] lane: IpLane, #[case] name: &str, #[case] per_minute: u32) {
        assert_eq!((lane.as_str(), IpLane::from_name(name)), (name, Some(lane)));
        assert_eq!(IpLimits::default().rate(lane), Some(Rate::per_minute(per_minute)));
        assert_eq!(IpLimits::parse(" default ").unwrap().rate(lane), Some(Rate::per_minute(per_minute)));
        assert_eq!(IpLimits::parse("off").unwrap().rate(lane), None);
        assert_eq!(IpLimits::parse(&format!("{name}=7")).unwrap().rate(lane), Some(Rate::per_minute(7)));
    }

    #[test]
    fn a_list_changes_only_the_lanes_it_names() {
        let limits = IpLimits::parse("feed=600, booking = 100,plans=off").unwrap();
        assert_eq!(limits.rate(IpLane::Feed), Some(Rate::per_minute(600)));
        assert_eq!(limits.rate(IpLane::Booking), Some(Rate::per_minute(100)));
        assert_eq!(limits.rate(IpLane::Plans), None);
        assert_eq!(limits.rate(IpLane::Waitlist), Some(Rate::per_minute(5)));
    }

    #[rstest]
    #[case::empty("", "default, off, or a list")]
    #[case::a_word("on", "\"on\" is not valid")]
    #[case::off_among_others("feed=1,off", "\"off\" is not valid")]
    #[case::an_empty_entry("feed=1,", "\"\" is not valid")]
    #[case::unknown(
        "feeds=1",
        "the names are feed, plans, booking_page, booking, rsvp, waitlist, sign_in, sign_up, operator, \
         connector_registration, connector_token"
    )]
    #[case::zero("feed=0", "as 1 to 1000000 requests per minute, or off; got \"0\"")]
    #[case::negative("feed=-1", "feed as 1 to")]
    #[case::a_fraction("feed=1.5", "feed as 1 to")]
    #[case::too_many("feed=1000001", "feed as 1 to")]
    #[case::twice("feed=1,feed=2", "names feed twice")]
    fn errors_name_the_entry(#[case] text: &str, #[case] part: &str) {
        let message = IpLimits::parse(text).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}
