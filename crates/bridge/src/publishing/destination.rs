//! Destinations: where the events of a calendar are published.

use kalends_calendars::PublicationPolicy;
use kalends_kernel::{CalendarId, ConnectionId, ExternalCalendarId, OrgId, UserId, Version};
use kalends_time::Timestamp;

use crate::{Connection, Fence, PublishState};

/// Where the events of a calendar are published, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// The organization.
    pub org: OrgId,
    /// Our calendar.
    pub calendar: CalendarId,
    /// The user who allowed it, whose connection it is.
    pub human: UserId,
    /// The connection.
    pub connection: ConnectionId,
    /// The calendar of the connection to which copies are written.
    pub target: ExternalCalendarId,
    /// The events that are published.
    pub policy: PublicationPolicy,
    /// Whether it was removed, and its copies are being deleted. It is no longer shown then.
    pub ending: bool,
    /// The results of attempts. Only the end of an attempt changes them.
    pub state: PublishState,
    /// The row's version, which attempts do not increment.
    pub version: Version,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its user last changed it.
    pub updated_at: Timestamp,
}

/// Why a destination cannot be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DestinationError {
    /// The provider of the connection is not supported.
    #[error("events cannot be published to this provider")]
    Provider,
    /// The connection's user did not consent to publishing.
    #[error("the account's user has not consented to publishing; reauthorize the connection with publishing")]
    Consent,
    /// The calendar has a destination at another connection.
    #[error(
        "the calendar is published to another account, or its copies there are still being deleted; delete that \
         destination first, or try again in a minute"
    )]
    Elsewhere,
}

impl Destination {
    /// A new destination for a calendar of `connection`'s organization, in its calendar `target`.
    ///
    /// # Errors
    /// [`DestinationError::Provider`], [`DestinationError::Consent`].
    pub fn create(
        calendar: CalendarId,
        connection: &Connection,
        target: ExternalCalendarId,
        policy: PublicationPolicy,
        now: Timestamp,
    ) -> Result<Self, DestinationError> {
        can_publish(connection)?;
        Ok(Self {
            org: connection.org,
            calendar,
            human: connection.human,
            connection: connection.id,
            target,
            policy,
            ending: false,
            state: PublishState::default(),
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
        })
    }

    /// The destination with another target or policy. One that is ending is kept after all.
    ///
    /// # Errors
    /// [`DestinationError`].
    pub fn changed(
        &self,
        connection: &Connection,
        target: ExternalCalendarId,
        policy: PublicationPolicy,
        now: Timestamp,
    ) -> Result<Self, DestinationError> {
        can_publish(connection)?;
        if connection.id != self.connection {
            return Err(DestinationError::Elsewhere);
        }
        let created_at = if self.ending { now } else { self.created_at };
        let version = self.version.next();
        Ok(Self { target, policy, ending: false, version, created_at, updated_at: now, ..self.clone() })
    }

    /// The destination after its removal. Its copies are deleted before the row is removed.
    #[must_use]
    pub fn ended(&self, now: Timestamp) -> Self {
        Self { ending: true, version: self.version.next(), updated_at: now, ..self.clone() }
    }
}

/// Checks that events can be written to the calendars of a connection.
fn can_publish(connection: &Connection) -> Result<(), DestinationError> {
    if !connection.provider.takes_copies() {
        return Err(DestinationError::Provider);
    }
    if connection.access.publishing() { Ok(()) } else { Err(DestinationError::Consent) }
}

/// The claim of a worker on the publication of a calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublishClaim {
    /// The organization.
    pub org: OrgId,
    /// Our calendar.
    pub calendar: CalendarId,
    /// The claim number.
    pub fence: Fence,
    /// Whether the attempt before did not end, so that copies may exist that are not recorded.
    pub interrupted: bool,
}

#[cfg(test)]
mod tests {
    use kalends_kernel::Entropy;
    use kalends_time::SignedDuration;
    use rstest::rstest;
    use uuid::Uuid;

    use super::*;
    use crate::{
        Access, CaldavAccount, CalendarProvider, Drawing, Tokens,
        publishing::examples::{NOW, target},
    };

    struct Fixed(u8);

    impl Entropy for Fixed {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    fn connection(provider: CalendarProvider, publishing: bool, seed: u8) -> Connection {
        let org = OrgId::from_uuid(Uuid::from_u128(1));
        let access = match provider {
            CalendarProvider::Google | CalendarProvider::Microsoft => {
                Access::Consent(Tokens { access: "a".into(), access_until: NOW, refresh: "b".into(), publishing })
            }
            CalendarProvider::Caldav => Access::Password(CaldavAccount {
                server: "https://cal.example".into(),
                home: "https://cal.example/ada/".into(),
                username: "ada".into(),
                password: "b".into(),
                addresses: Vec::new(),
            }),
            CalendarProvider::Example => Access::Drawn(Drawing::default()),
        };
        Connection::create((org, UserId::from_uuid(Uuid::from_u128(2)), provider), access, NOW, &Fixed(seed))
    }

    fn create(connection: &Connection) -> Result<Destination, DestinationError> {
        let calendar = CalendarId::from_uuid(Uuid::from_u128(3));
        Destination::create(calendar, connection, target(1), PublicationPolicy::Confirmed, NOW)
    }

    #[rstest]
    #[case(CalendarProvider::Microsoft, true, None)]
    #[case(CalendarProvider::Microsoft, false, Some(DestinationError::Consent))]
    #[case(CalendarProvider::Google, true, Some(DestinationError::Provider))]
    #[case(CalendarProvider::Caldav, true, Some(DestinationError::Provider))]
    #[case(CalendarProvider::Example, true, Some(DestinationError::Provider))]
    fn a_destination_needs_a_consent_to_write(
        #[case] provider: CalendarProvider,
        #[case] publishing: bool,
        #[case] refused: Option<DestinationError>,
    ) {
        let able = create(&connection(CalendarProvider::Microsoft, true, 1)).unwrap();
        let connection = connection(provider, publishing, 1);
        assert_eq!(create(&connection).err(), refused);
        let changed = able.changed(&connection, target(2), PublicationPolicy::None, NOW);
        assert_eq!(changed.err(), refused);
    }

    #[test]
    fn a_destination_stays_at_its_connection() {
        let account = connection(CalendarProvider::Microsoft, true, 1);
        let destination = create(&account).unwrap();
        let later = NOW + SignedDuration::hours(1);
        let policy = PublicationPolicy::ConfirmedTentative;
        let changed = destination.changed(&account, target(2), policy, later).unwrap();
        let version = destination.version.next();
        let expected = Destination { target: target(2), policy, version, updated_at: later, ..destination.clone() };
        assert_eq!(changed, expected);
        let other = connection(CalendarProvider::Microsoft, true, 2);
        let refused = destination.changed(&other, target(2), policy, later);
        assert_eq!(refused, Err(DestinationError::Elsewhere));

        let ended = changed.ended(later);
        assert_eq!((ended.ending, ended.version), (true, changed.version.next()));
        assert_eq!(ended.changed(&other, target(2), policy, later), Err(DestinationError::Elsewhere));
        let kept = ended.changed(&account, target(1), policy, later).unwrap();
        assert_eq!((kept.ending, kept.created_at, kept.version), (false, later, ended.version.next()));
    }
}
