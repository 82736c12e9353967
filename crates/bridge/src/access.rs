//! What opens an account at a provider.

use std::fmt;

use kalends_time::{Span, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{CalendarProvider, TheirCalendar};

/// The maximum number of bytes of the address of a CalDAV server.
pub const SERVER_URL_MAX: usize = 2_048;
/// The maximum number of characters of a user name at a CalDAV server.
pub const USERNAME_MAX: usize = 255;
/// The maximum number of characters of a password at a CalDAV server.
pub const PASSWORD_MAX: usize = 1_024;
/// The maximum number of the user's own addresses that are kept.
pub const ADDRESSES_MAX: usize = 20;
/// The maximum number of busy times that a user draws in one calendar.
pub const DRAWN_MAX: usize = 1_000;
/// The maximum number of connections to [`CalendarProvider::Example`] that a user may have in an organization.
pub const EXAMPLES_MAX: usize = 5;
/// The names of the calendars of a new [`Drawing`]. The first is the primary one.
pub const DRAWN_NAMES: [&str; 2] = ["Work", "Private"];

/// What opens an account. Sealed at rest, and deleted with the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// The user consented at the provider: [`CalendarProvider::Google`] or [`CalendarProvider::Microsoft`].
    Consent(Tokens),
    /// The user entered a password: [`CalendarProvider::Caldav`].
    Password(CaldavAccount),
    /// There is no account: [`CalendarProvider::Example`].
    Drawn(Drawing),
}

/// The OAuth tokens of an account, which allow what the user consented to.
#[derive(Clone, PartialEq, Eq)]
pub struct Tokens {
    /// The access token, for requests.
    pub access: String,
    /// When the access token expires.
    pub access_until: Timestamp,
    /// The refresh token, for new access tokens.
    pub refresh: String,
    /// Whether they allow to write events.
    pub publishing: bool,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").field("access_until", &self.access_until).finish_non_exhaustive()
    }
}

/// An account at a CalDAV server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaldavAccount {
    /// The address that the user entered. The credentials are sent only to hosts of its registrable domain.
    pub server: String,
    /// The address of the collection that contains the calendars (RFC 4791 section 6.2.1).
    pub home: String,
    /// The user name.
    pub username: String,
    /// The password, usually one for this app alone.
    pub password: String,
    /// The user's own addresses (RFC 6638 section 2.4.1), such as `mailto:ada@example.com`, in lower case. An event
    /// whose invitation one of them declined does not block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
}

impl CaldavAccount {
    /// Whether both open one account. A keyboard may write a user name with a capital letter.
    pub fn is_same_account(&self, other: &Self) -> bool {
        self.home == other.home && self.username.to_lowercase() == other.username.to_lowercase()
    }
}

impl fmt::Debug for CaldavAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CaldavAccount").finish_non_exhaustive()
    }
}

/// Calendars whose busy times the user drew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawing {
    /// The calendars. The first is the primary one.
    pub calendars: Vec<DrawnCalendar>,
}

/// A calendar that the user drew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnCalendar {
    /// Its name, which also identifies it.
    pub name: String,
    /// When it is busy: at most [`DRAWN_MAX`] times, which are sorted and do not touch.
    pub busy: Vec<Span>,
}

impl Default for Drawing {
    fn default() -> Self {
        let calendar = |name: &str| DrawnCalendar { name: name.to_owned(), busy: Vec::new() };
        Self { calendars: DRAWN_NAMES.map(calendar).into() }
    }
}

impl Drawing {
    /// The calendars, as a provider lists them.
    pub fn listed(&self) -> Vec<TheirCalendar> {
        let listed = self.calendars.iter().enumerate().map(|(place, calendar)| TheirCalendar {
            reference: calendar.name.clone(),
            name: calendar.name.clone(),
            primary: place == 0,
        });
        listed.collect()
    }

    /// The drawing in which each of these calendars replaces the one with its name. The others stay as they are.
    ///
    /// # Errors
    /// The place of the first of them whose name no calendar of the drawing has.
    pub fn with(&self, drawn: &[DrawnCalendar]) -> Result<Self, usize> {
        let is_known = |name: &str| self.calendars.iter().any(|calendar| calendar.name == name);
        if let Some(unknown) = drawn.iter().position(|calendar| !is_known(&calendar.name)) {
            return Err(unknown);
        }
        let now = |calendar: &DrawnCalendar| {
            drawn.iter().find(|drawn| drawn.name == calendar.name).unwrap_or(calendar).clone()
        };
        Ok(Self { calendars: self.calendars.iter().map(now).collect() })
    }

    /// The busy times of the calendar with that reference; `None` if there is none.
    pub fn busy(&self, reference: &str) -> Option<&[Span]> {
        self.calendars.iter().find(|calendar| calendar.name == reference).map(|calendar| calendar.busy.as_slice())
    }
}

/// The plain form of [`Tokens`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainTokens {
    access: String,
    /// Microseconds.
    until: i64,
    refresh: String,
    /// Absent in documents that were written before publishing existed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    publishing: bool,
}

/// The plain form of [`DrawnCalendar`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainDrawn {
    name: String,
    /// Starts and ends, in microseconds.
    busy: Vec<(i64, i64)>,
}

/// The document does not contain the access to an account of this provider. The error does not repeat its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a document of the access to an account")]
pub struct AccessError;

impl Access {
    /// The tokens, if the user consented at the provider.
    pub const fn tokens(&self) -> Option<&Tokens> {
        match self {
            Self::Consent(tokens) => Some(tokens),
            Self::Password(_) | Self::Drawn(_) => None,
        }
    }

    /// Whether it allows to write events.
    pub const fn publishing(&self) -> bool {
        match self {
            Self::Consent(tokens) => tokens.publishing,
            Self::Password(_) | Self::Drawn(_) => false,
        }
    }

    /// Whether it belongs to accounts of this provider.
    pub const fn suits(&self, provider: CalendarProvider) -> bool {
        matches!(
            (self, provider),
            (Self::Consent(_), CalendarProvider::Google | CalendarProvider::Microsoft)
                | (Self::Password(_), CalendarProvider::Caldav)
                | (Self::Drawn(_), CalendarProvider::Example)
        )
    }

    /// Writes the document that stores seal.
    pub fn write(&self) -> Vec<u8> {
        // Serializing strings and numbers cannot fail.
        match self {
            Self::Consent(tokens) => {
                let plain = PlainTokens {
                    access: tokens.access.clone(),
                    until: tokens.access_until.as_micros(),
                    refresh: tokens.refresh.clone(),
                    publishing: tokens.publishing,
                };
                serde_json::to_vec(&plain)
            }
            Self::Password(account) => serde_json::to_vec(account),
            Self::Drawn(drawing) => {
                let plain = drawing.calendars.iter().map(|calendar| PlainDrawn {
                    name: calendar.name.clone(),
                    busy: calendar.busy.iter().map(|span| (span.start().as_micros(), span.end().as_micros())).collect(),
                });
                serde_json::to_vec(&plain.collect::<Vec<_>>())
            }
        }
        .unwrap_or_default()
    }

    /// Reads the document of an account of this provider.
    ///
    /// # Errors
    /// [`AccessError`].
    pub fn read(provider: CalendarProvider, document: &[u8]) -> Result<Self, AccessError> {
        match provider {
            CalendarProvider::Google | CalendarProvider::Microsoft => {
                let PlainTokens { access, until, refresh, publishing } =
                    serde_json::from_slice(document).map_err(|_| AccessError)?;
                let access_until = Timestamp::from_micros(until);
                Ok(Self::Consent(Tokens { access, access_until, refresh, publishing }))
            }
            CalendarProvider::Caldav => serde_json::from_slice(document).map(Self::Password).map_err(|_| AccessError),
            CalendarProvider::Example => {
                let plain: Vec<PlainDrawn> = serde_json::from_slice(document).map_err(|_| AccessError)?;
                let span = |(start, end)| Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end));
                let drawn = plain.into_iter().map(|PlainDrawn { name, busy }| {
                    let busy: Result<Vec<Span>, _> = busy.into_iter().map(span).collect();
                    busy.map(|busy| DrawnCalendar { name, busy }).map_err(|_| AccessError)
                });
                drawn.collect::<Result<_, _>>().map(|calendars| Self::Drawn(Drawing { calendars }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);
    const GOOGLE: CalendarProvider = CalendarProvider::Google;
    const MICROSOFT: CalendarProvider = CalendarProvider::Microsoft;
    const CALDAV: CalendarProvider = CalendarProvider::Caldav;
    const EXAMPLE: CalendarProvider = CalendarProvider::Example;

    fn span(start: i64, end: i64) -> Span {
        Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end)).unwrap()
    }

    fn consent(publishing: bool) -> Access {
        let (access, refresh) = ("planted access".to_owned(), "planted refresh".to_owned());
        Access::Consent(Tokens { access, access_until: NOW, refresh, publishing })
    }

    fn account(addresses: &[&str]) -> CaldavAccount {
        CaldavAccount {
            server: "https://planted.example/".to_owned(),
            home: "https://planted.example/dav/ada/".to_owned(),
            username: "planted user".to_owned(),
            password: "planted \"password\" ü".to_owned(),
            addresses: addresses.iter().map(|address| (*address).to_owned()).collect(),
        }
    }

    fn drawn() -> Access {
        let busy = vec![span(-5, 7), span(10, 20)];
        let mut drawing = Drawing::default();
        drawing.calendars[0].busy = busy;
        Access::Drawn(drawing)
    }

    #[rstest]
    #[case::consent(GOOGLE, consent(false))]
    #[case::consent_at_microsoft(MICROSOFT, consent(false))]
    #[case::publishing(MICROSOFT, consent(true))]
    #[case::password(CALDAV, Access::Password(account(&[])))]
    #[case::addresses(CALDAV, Access::Password(account(&["mailto:ada@example.com", "/principals/ada/"])))]
    #[case::drawn(EXAMPLE, drawn())]
    #[case::nothing_drawn(EXAMPLE, Access::Drawn(Drawing::default()))]
    fn each_kind_is_written_and_read_by_its_providers(#[case] provider: CalendarProvider, #[case] access: Access) {
        assert_eq!(Access::read(provider, &access.write()), Ok(access.clone()));
        assert!(access.suits(provider));
        for other in CalendarProvider::ALL {
            let read = Access::read(other, &access.write());
            assert_eq!(read.is_ok(), access.suits(other), "{other:?}");
            assert!(read.is_err() || read == Ok(access.clone()), "{other:?}");
        }
    }

    #[rstest]
    #[case::no_json(GOOGLE, "planted")]
    #[case::unknown_token(GOOGLE, r#"{"access":"a","until":1,"refresh":"b","scope":"c"}"#)]
    #[case::no_refresh_token(MICROSOFT, r#"{"access":"a","until":1}"#)]
    #[case::no_time(MICROSOFT, r#"{"access":"a","until":"1","refresh":"b"}"#)]
    #[case::unknown_field(CALDAV, r#"{"server":"s","home":"h","username":"u","password":"p","realm":"r"}"#)]
    #[case::no_password(CALDAV, r#"{"server":"s","home":"h","username":"u"}"#)]
    #[case::unknown_field_of_a_drawing(EXAMPLE, r#"[{"name":"Work","busy":[],"colour":"red"}]"#)]
    #[case::backwards(EXAMPLE, r#"[{"name":"Work","busy":[[1,2],[9,3]]}]"#)]
    #[case::empty(EXAMPLE, r#"[{"name":"Work","busy":[[4,4]]}]"#)]
    #[case::half_a_span(EXAMPLE, r#"[{"name":"Work","busy":[[4]]}]"#)]
    fn other_documents_are_refused(#[case] provider: CalendarProvider, #[case] document: &str) {
        assert_eq!(Access::read(provider, document.as_bytes()), Err(AccessError));
    }

    #[test]
    fn documents_without_later_fields_are_read() {
        let document = br#"{"access":"a","until":5,"refresh":"b"}"#;
        let tokens = Tokens {
            access: "a".into(),
            access_until: Timestamp::from_micros(5),
            refresh: "b".into(),
            publishing: false,
        };
        assert_eq!(Access::read(GOOGLE, document), Ok(Access::Consent(tokens)));
        let document = br#"{"server":"s","home":"h","username":"u","password":"p"}"#;
        let Ok(Access::Password(read)) = Access::read(CALDAV, document) else { panic!("not read") };
        assert_eq!((read.home.as_str(), read.addresses.len()), ("h", 0));
    }

    #[test]
    fn named_calendars_are_drawn_again() {
        let Access::Drawn(before) = drawn() else { panic!("not drawn") };
        let calendar = |name: &str, busy: &[Span]| DrawnCalendar { name: name.to_owned(), busy: busy.to_vec() };
        let after = before.with(&[calendar("Private", &[span(1, 2)])]).unwrap();
        assert_eq!(after.calendars, [before.calendars[0].clone(), calendar("Private", &[span(1, 2)])]);
        assert_eq!(after.with(&[]), Ok(after.clone()));
        let unknown = [calendar("Work", &[]), calendar("Holidays", &[]), calendar("", &[])];
        assert_eq!(before.with(&unknown), Err(1));
    }

    #[test]
    fn only_a_consent_has_tokens_and_may_allow_publishing() {
        let facts = |access: &Access| (access.tokens().is_some(), access.publishing());
        assert_eq!(facts(&consent(false)), (true, false));
        assert_eq!(facts(&consent(true)), (true, true));
        assert_eq!(facts(&Access::Password(account(&[]))), (false, false));
        assert_eq!(facts(&drawn()), (false, false));
    }

    #[rstest]
    #[case(consent(true))]
    #[case(Access::Password(account(&["mailto:planted@example.com"])))]
    fn debug_output_shows_no_secret(#[case] access: Access) {
        let printed = format!("{access:?} {access:#?} {:?}", Access::read(CALDAV, b"planted"));
        assert!(!printed.contains("planted"), "{printed}");
    }

    #[test]
    fn an_account_is_known_by_its_home_and_user_name() {
        let known = account(&[]);
        let renewed =
            CaldavAccount { password: "another".into(), addresses: vec!["mailto:a@b".into()], ..known.clone() };
        assert!(known.is_same_account(&renewed));
        assert!(known.is_same_account(&CaldavAccount { username: "Planted User".into(), ..known.clone() }));
        let elsewhere = CaldavAccount { home: "https://planted.example/dav/bob/".into(), ..known.clone() };
        let other = CaldavAccount { username: "bob".into(), ..known.clone() };
        assert!(!known.is_same_account(&elsewhere) && !known.is_same_account(&other));
    }

    #[test]
    fn a_drawing_lists_its_calendars_and_their_busy_times() {
        let Access::Drawn(drawing) = drawn() else { panic!("not drawn") };
        let listed: Vec<_> = drawing.listed().into_iter().map(|theirs| (theirs.name, theirs.primary)).collect();
        assert_eq!(listed, [("Work".to_owned(), true), ("Private".to_owned(), false)]);
        assert_eq!(drawing.busy("Work"), Some(&[span(-5, 7), span(10, 20)][..]));
        assert_eq!((drawing.busy("Private"), drawing.busy("Club")), (Some(&[][..]), None));
    }
}
