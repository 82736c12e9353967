//! Identifiers: a prefix and a UUID v7, written as 26 characters of lower-case Crockford base32 (the TypeID
//! encoding), so that they sort by creation time.

use std::{fmt, str::FromStr};

use kalends_time::Timestamp;
use uuid::Uuid;

use crate::{Entropy, random_bytes, text::deserialized};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH: usize = 26;
/// What [`VALUES`] has for bytes that are not in [`ALPHABET`].
const NO_VALUE: u8 = u8::MAX;
/// The place of each byte in [`ALPHABET`].
const VALUES: [u8; 256] = {
    let mut values = [NO_VALUE; 256];
    let mut value = 0u8;
    while value < 32 {
        values[ALPHABET[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// A text that is not an identifier of the expected kind.
///
/// ```
/// use kalends_kernel::{AgentId, CalendarId};
///
/// let agent = "agt_00000000000000000000000001";
/// assert!(agent.parse::<AgentId>().is_ok());
/// let error = agent.parse::<CalendarId>().map_err(|error| error.to_string());
/// assert_eq!(error, Err("not an identifier: expected cal_ followed by 26 base32 characters".to_owned()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an identifier: expected {prefix}_ followed by 26 base32 characters")]
#[non_exhaustive]
pub struct IdError {
    /// The prefix that was expected.
    pub prefix: &'static str,
}

/// A UUID v7 for the time `now`, with random bits from `entropy`.
///
/// ```
/// use kalends_kernel::{Entropy, new_uuid};
///
/// struct Fixed;
/// impl Entropy for Fixed {
///     fn fill(&self, bytes: &mut [u8]) {
///         bytes.fill(0xff);
///     }
/// }
///
/// let earlier = new_uuid("2026-03-01T09:00:00Z".parse()?, &Fixed);
/// let later = new_uuid("2026-03-01T09:00:00.001Z".parse()?, &Fixed);
/// assert!(earlier < later);
/// assert_eq!(earlier.get_version_num(), 7);
/// # Ok::<(), kalends_kernel::ParseTimestampError>(())
/// ```
pub fn new_uuid(now: Timestamp, entropy: &dyn Entropy) -> Uuid {
    let millis = u64::try_from(now.as_micros() / 1_000).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(millis, &random_bytes::<10>(entropy)).into_uuid()
}

fn encode(uuid: Uuid, out: &mut [u8; LENGTH]) {
    let mut bits = uuid.as_u128();
    for slot in out.iter_mut().rev() {
        *slot = ALPHABET[(bits & 31) as usize];
        bits >>= 5;
    }
}

fn decode(text: &str) -> Option<Uuid> {
    let bytes = text.as_bytes();
    // 26 characters carry 130 bits, so the first one may use only three of its five.
    if bytes.len() != LENGTH || bytes[0] > b'7' {
        return None;
    }
    let mut bits = 0u128;
    for byte in bytes {
        let value = VALUES[usize::from(*byte)];
        if value == NO_VALUE {
            return None;
        }
        bits = (bits << 5) | u128::from(value);
    }
    Some(Uuid::from_u128(bits))
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// ```
        #[doc = concat!("use kalends_kernel::", stringify!($name), ";")]
        ///
        #[doc = concat!("let id = ", stringify!($name), "::from_bytes([0; 16]);")]
        #[doc = concat!("assert_eq!(id.to_string(), \"", $prefix, "_00000000000000000000000000\");")]
        /// assert_eq!(id.to_string().parse(), Ok(id));
        #[doc = concat!("assert_eq!(", stringify!($name), "::from_uuid(id.uuid()), id);")]
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Uuid);

        impl $name {
            /// The prefix of the written form, without the underscore.
            pub const PREFIX: &'static str = $prefix;

            /// A new identifier, ordered by `now`. The [crate](crate) has an example.
            pub fn new(now: Timestamp, entropy: &dyn Entropy) -> Self {
                Self(new_uuid(now, entropy))
            }

            /// The identifier of a bare UUID, as stores keep it. The type has an example.
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The identifier of these bytes, as compact encodings carry it. The type has an example.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }

            /// The bare UUID, as stores keep it.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut text = [0u8; LENGTH];
                encode(self.0, &mut text);
                f.write_str(concat!($prefix, "_"))?;
                f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserialized(deserializer, str::parse)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                text.strip_prefix(concat!($prefix, "_"))
                    .and_then(decode)
                    .map(Self)
                    .ok_or(IdError { prefix: $prefix })
            }
        }
    )*};
}

ids! {
    /// An organization.
    OrgId = "org";
    /// An agent: the software, person or resource that owns calendars.
    AgentId = "agt";
    /// A calendar.
    CalendarId = "cal";
    /// An event.
    EventId = "evt";
    /// Holds that were placed together.
    HoldSetId = "hst";
    /// A calendar's availability rules.
    RulesId = "avr";
    /// An API key (its row, not its secret).
    KeyId = "key";
    /// An audit entry.
    AuditId = "aud";
    /// A webhook message, as stored in the outbox. All its deliveries name it.
    MessageId = "msg";
    /// An email on behalf of an organization.
    LetterId = "eml";
    /// A webhook endpoint.
    WebhookId = "whk";
    /// The delivery of one message to one endpoint. All attempts share it.
    DeliveryId = "whd";
    /// A subscription to an iCalendar feed.
    SubscriptionId = "isub";
    /// A scheduling proposal.
    ProposalId = "spr";
    /// A slot that a proposal offers.
    SlotId = "slt";
    /// A participant's response to a proposal.
    ResponseId = "rsp";
    /// A booking page.
    BookingPageId = "bkp";
    /// A guest's booking on a booking page.
    BookingId = "bkg";
    /// A user of the console.
    UserId = "usr";
    /// A console session.
    SessionId = "ses";
    /// An invitation to become a member of an organization.
    MemberInvitationId = "inv";
    /// A user's claim on an organization that an agent signed up.
    ClaimId = "clm";
    /// A link on which a user connects a calendar account.
    ConnectionLinkId = "cln";
    /// A connection: a user's account at a calendar provider.
    ConnectionId = "con";
    /// A calendar of a connected account.
    ExternalCalendarId = "xcl";
    /// A grant: the agents for which a user's calendars count as busy.
    GrantId = "grt";
    /// A write that waits for approval, or did.
    ApprovalId = "apr";
    /// A program that acts for agents by OAuth.
    ConnectorClientId = "oac";
    /// One write of a run to one resource.
    RunWriteId = "rnw";
    /// A request, as `X-Request-Id` and error envelopes show it.
    RequestId = "req";
    /// A data key that encrypts fields at rest.
    DataKeyId = "dky";
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("00000000000000000000000000", 0)]
    #[case("00000000000000000000000001", 1)]
    #[case("7zzzzzzzzzzzzzzzzzzzzzzzzz", u128::MAX)]
    // The example of the TypeID specification.
    #[case("01h2xcejqtf2nbrexx3vqjhp41", 0x0188_bac7_4afa_78aa_bc3b_bd1e_ef28_d881)]
    fn writes_typeid_base32(#[case] text: &str, #[case] bits: u128) {
        let id = AgentId::from_uuid(Uuid::from_u128(bits));
        assert_eq!(id.to_string(), format!("agt_{text}"));
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(serde_json::from_value::<AgentId>(serde_json::to_value(id).unwrap()).unwrap(), id);
    }

    #[rstest]
    #[case::another_prefix("cal_00000000000000000000000001")]
    #[case::too_short("agt_0000000000000000000000001")]
    #[case::too_large("agt_80000000000000000000000000")]
    #[case::upper_case("agt_0000000000000000000000000A")]
    #[case::excluded_letter("agt_0000000000000000000000000u")]
    #[case::not_ascii("agt_000000000000000000000000é")]
    #[case::empty("")]
    fn refuses(#[case] text: &str) {
        assert_eq!(text.parse::<AgentId>(), Err(IdError { prefix: "agt" }));
        assert!(serde_json::from_value::<AgentId>(text.into()).is_err());
    }

    proptest! {
        /// An identifier is read back from its text, and texts sort as identifiers do.
        #[test]
        fn text_round_trips_and_keeps_the_order(a: u128, b: u128) {
            let (a, b) = (EventId::from_uuid(Uuid::from_u128(a)), EventId::from_uuid(Uuid::from_u128(b)));
            prop_assert_eq!(a.to_string().parse::<EventId>(), Ok(a));
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
        }
    }
}
