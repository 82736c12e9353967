//! Limits by IP address on what needs no key (ruling 2.9).

use std::net::IpAddr;

use crate::Rate;

/// A kind of unauthenticated request that is limited by address. Each is counted on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum IpLane {
    /// iCal feeds.
    Feed,
    /// The list of plans.
    Plans,
    /// Reads of booking pages and their slots.
    BookingPage,
    /// Submissions of bookings.
    Booking,
    /// Joining the waiting list.
    Waitlist,
    /// Signing in to the console, and whatever else tries a password or a code there.
    SignIn,
    /// An agent's self-signup (Authentication, rule 7).
    SignUp,
}

impl IpLane {
    /// Every kind.
    pub const ALL: [Self; 7] =
        [Self::Feed, Self::Plans, Self::BookingPage, Self::Booking, Self::Waitlist, Self::SignIn, Self::SignUp];

    /// The name in `KALENDS_IP_LIMITS`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Feed => "feed",
            Self::Plans => "plans",
            Self::BookingPage => "booking_page",
            Self::Booking => "booking",
            Self::Waitlist => "waitlist",
            Self::SignIn => "sign_in",
            Self::SignUp => "sign_up",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|lane| lane.as_str() == name)
    }

    /// Requests a minute unless the operator says otherwise.
    pub const fn default_per_minute(self) -> u32 {
        match self {
            Self::Feed => 120,
            Self::Plans | Self::BookingPage => 60,
            Self::Booking | Self::SignIn => 10,
            Self::Waitlist | Self::SignUp => 5,
        }
    }
}

/// The limits in force: what `KALENDS_IP_LIMITS` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IpLimits([Option<u32>; IpLane::ALL.len()]);

/// Why a text is no list of limits. The messages follow the name of the setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IpLimitsError {
    /// An entry without `=`.
    #[error("must be default, off, or a list such as feed=600,booking=100; {0:?} is none of them")]
    Form(String),
    /// A name that is no lane's.
    #[error("knows no {name:?}; known are {known}")]
    Unknown {
        /// The name that was got.
        name: String,
        /// All names.
        known: String,
    },
    /// A number that is no limit.
    #[error("must give {name} as requests a minute from 1 to {max}, or off; got {got:?}", max = IpLimits::PER_MINUTE_MAX)]
    Number {
        /// The lane.
        name: &'static str,
        /// What was got.
        got: String,
    },
    /// One lane twice.
    #[error("names {0} twice")]
    Twice(&'static str),
}

impl Default for IpLimits {
    fn default() -> Self {
        Self(IpLane::ALL.map(|lane| Some(lane.default_per_minute())))
    }
}

impl IpLimits {
    /// The most requests a minute that an operator may grant; more is `off`.
    pub const PER_MINUTE_MAX: u32 = 1_000_000;
    /// No limits at all.
    pub const OFF: Self = Self([None; IpLane::ALL.len()]);

    /// Reads `default`, `off`, or a list such as `feed=600,booking=off`; what the list does not name keeps
    /// its default.
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
            let (name, value) = entry.split_once('=').ok_or_else(|| IpLimitsError::Form(shown(entry)))?;
            let (name, value) = (name.trim(), value.trim());
            let lane = IpLane::from_name(name).ok_or_else(|| IpLimitsError::Unknown {
                name: shown(name),
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
                Some(number.ok_or_else(|| IpLimitsError::Number { name: lane.as_str(), got: shown(value) })?)
            };
        }
        Ok(limits)
    }

    /// The limit of a lane: a burst of one minute; `None` is unlimited.
    pub fn rate(&self, lane: IpLane) -> Option<Rate> {
        self.0[lane as usize].map(Rate::per_minute)
    }
}

fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}

/// What an address is counted under: an IPv4 address whole, an IPv6 address by its /64, which one caller
/// commands. An IPv4-mapped address is the IPv4 address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IpKey {
    /// An IPv4 address.
    V4(u32),
    /// The upper half of an IPv6 address.
    V6(u64),
}

impl From<IpAddr> for IpKey {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.to_bits()),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments().map(u64::from);
                Self::V6(a << 48 | b << 32 | c << 16 | d)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// The ruling's table, written again so that a slip in either shows.
    #[rstest]
    #[case(IpLane::Feed, "feed", 120)]
    #[case(IpLane::Plans, "plans", 60)]
    #[case(IpLane::BookingPage, "booking_page", 60)]
    #[case(IpLane::Booking, "booking", 10)]
    #[case(IpLane::Waitlist, "waitlist", 5)]
    #[case(IpLane::SignIn, "sign_in", 10)]
    #[case(IpLane::SignUp, "sign_up", 5)]
    fn defaults(#[case] lane: IpLane, #[case] name: &str, #[case] per_minute: u32) {
        assert_eq!((lane.as_str(), IpLane::from_name(name)), (name, Some(lane)));
        assert_eq!(IpLimits::default().rate(lane), Some(Rate::per_minute(per_minute)));
        assert_eq!(IpLimits::parse(" default ").unwrap().rate(lane), Some(Rate::per_minute(per_minute)));
        assert_eq!(IpLimits::parse("off").unwrap().rate(lane), None);
        assert_eq!(IpLimits::parse(&format!("{name}=7")).unwrap().rate(lane), Some(Rate::per_minute(7)));
    }

    #[test]
    fn a_list_changes_what_it_names() {
        let limits = IpLimits::parse("feed=600, booking = 100,plans=off").unwrap();
        assert_eq!(limits.rate(IpLane::Feed), Some(Rate::per_minute(600)));
        assert_eq!(limits.rate(IpLane::Booking), Some(Rate::per_minute(100)));
        assert_eq!(limits.rate(IpLane::Plans), None);
        assert_eq!(limits.rate(IpLane::Waitlist), Some(Rate::per_minute(5)));
    }

    #[rstest]
    #[case::empty("", "default, off, or a list")]
    #[case::a_word("on", "\"on\" is none")]
    #[case::off_among_others("feed=1,off", "\"off\" is none")]
    #[case::an_empty_entry("feed=1,", "\"\" is none")]
    #[case::unknown("feeds=1", "known are feed, plans, booking_page, booking, waitlist, sign_in, sign_up")]
    #[case::zero("feed=0", "from 1 to 1000000, or off; got \"0\"")]
    #[case::negative("feed=-1", "feed as requests a minute")]
    #[case::a_fraction("feed=1.5", "feed as requests a minute")]
    #[case::too_many("feed=1000001", "feed as requests a minute")]
    #[case::twice("feed=1,feed=2", "names feed twice")]
    fn what_is_wrong_is_named(#[case] text: &str, #[case] part: &str) {
        let message = IpLimits::parse(text).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }

    #[rstest]
    #[case::v4_whole("203.0.113.7", "203.0.113.8", false)]
    #[case::one_v4("203.0.113.7", "203.0.113.7", true)]
    #[case::mapped("203.0.113.7", "::ffff:203.0.113.7", true)]
    #[case::mapped_ones_differ("::ffff:203.0.113.7", "::ffff:203.0.113.8", false)]
    #[case::one_64("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", true)]
    #[case::two_64s("2001:db8:1:2::1", "2001:db8:1:3::1", false)]
    #[case::compatible_is_v6("::203.0.113.7", "203.0.113.7", false)]
    #[case::zero("0.0.0.0", "::", false)]
    fn addresses_are_counted_together(#[case] one: &str, #[case] other: &str, #[case] together: bool) {
        let key = |text: &str| IpKey::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(key(one) == key(other), together);
    }
}
