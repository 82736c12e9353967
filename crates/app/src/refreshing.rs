//! Refreshing connections: the use cases that the workers call.
//!
//! A worker claims due connections ([`App::claim_refreshes`]) and refreshes each in its own task
//! ([`App::refresh_connection`]). A refresh renews the access token, lists the calendars, and reads the busy times of
//! the calendars that count for an agent. Everything is committed at once, and refused if the claim is lost. A failed
//! refresh keeps what was read before. Its age shows how far it can be trusted. The refresh after which a connection
//! needs its user is announced to the organization, in the same commit.

use kalends_availability::BusySet;
use kalends_bridge::{
    Access, CLAIM_LASTS, Change, Connection, Ended, ExternalCalendar, Listing, RENEW_BEFORE, Reading, RefreshClaim,
    RefreshState, SPANS_MAX, listing, next_due, ports::KnownCalendar, window,
};
use kalends_kernel::{CalendarId, ExternalCalendarId, random_bytes};
use kalends_notifications::{EventType, Message};
use kalends_time::{Span, Timestamp};
use kalends_wire as wire;

use crate::{
    App, ChangeSet, Refusal,
    claimed_work::outcome_of,
    ports::{AskedCalendar, CommitError, ProviderError, TheirBusy},
};

/// The longest error that is stored, in characters.
const ERROR_MAX: usize = 255;

/// Whether a refresh may be due once the change-set is committed.
pub(crate) fn makes_refresh_due(changes: &ChangeSet) -> bool {
    changes.bridge.iter().any(|change| match change {
        Change::CreateConnection { .. } | Change::ReauthorizeConnection { .. } | Change::AskRefresh { .. } => true,
        Change::UpdateConnection { due, .. } => due.is_some(),
        Change::CreateLink(_)
        | Change::UpdateLink { .. }
        | Change::DeleteConnection { .. }
        | Change::EndRefresh { .. }
        | Change::CreateGrant(_)
        | Change::DeleteGrant { .. }
        | Change::PutDestination { .. }
        | Change::EndDestination { .. }
        | Change::RecordCopies { .. }
        | Change::EndPublishing { .. } => false,
    })
}

/// The writes of a refresh.
struct Refreshed {
    /// The access, if it was renewed.
    access: Option<Access>,
    listing: Listing,
    ended: Ended,
}

/// The data that was read from an account.
struct Read {
    listing: Listing,
    /// How many calendars that count have unknown busy times: the provider did not return them, or returned too many.
    unknown: usize,
    /// How many events could not be read.
    left_out: usize,
}

impl Read {
    fn ended(&self) -> Ended {
        match (self.unknown, self.left_out) {
            (0, 0) => Ended::Good,
            (0, 1) => Ended::Partly("1 event could not be read, so its times look free".to_owned()),
            (0, events) => Ended::Partly(format!("{events} events could not be read, so their times look free")),
            (calendars, _) => Ended::Partly(format!("no busy times were returned for {calendars} of the calendars")),
        }
    }
}

impl App {
    /// Waits until this process has made a connection due.
    pub async fn nudged_to_refresh(&self) {
        self.nudges.refresh.notified().await;
    }

    /// Claims up to `limit` due connections.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn claim_refreshes(&self, limit: u32) -> Result<Vec<(RefreshClaim, Connection)>, Refusal> {
        let now = self.now();
        Ok(self.parts.store.claim_refreshes(now, now + CLAIM_LASTS, limit).await?)
    }

    /// Refreshes a connection that this worker has claimed. A failure is stored with the connection, or logged.
    pub async fn refresh_connection(&self, claim: RefreshClaim, connection: Connection) {
        let began = tokio::time::Instant::now();
        let attempt = self.refresh_claimed(claim, &connection).await;
        let outcome = outcome_of(attempt, &claim.connection, "a connection cannot be refreshed");
        let provider = connection.provider.as_str();
        kalends_metrics::HUMAN_CALENDAR_REFRESHES.with_label_values(&[provider, outcome]).inc();
        kalends_metrics::HUMAN_CALENDAR_REFRESH_SECONDS
            .with_label_values(&[provider])
            .observe(began.elapsed().as_secs_f64());
        tracing::debug!(connection = %claim.connection, outcome, "a refresh ended");
    }

    async fn refresh_claimed(&self, claim: RefreshClaim, connection: &Connection) -> Result<&'static str, CommitError> {
        let known = self.parts.store.external_calendars(claim.org, claim.connection).await?;
        let Refreshed { access, listing, ended } = self.refreshed(connection, known).await;
        let outcome = match &ended {
            Ended::Good => "good",
            Ended::Partly(_) => "partly",
            Ended::Failed(_) => "failed",
            Ended::Lapsed(_) => "lapsed",
        };
        let at = self.now();
        let state = connection.refresh.after(ended, at);
        let next = next_due(connection.provider, &state, at, u32::from_le_bytes(random_bytes(self.entropy())));
        let Listing { present: calendars, gone } = listing;
        let mut changes = ChangeSet::new(claim.org);
        // Only the end of a refresh or a new consent changes the state, and the commit is refused after either. So
        // `connection` has the state before this end, and each need is announced once.
        if state.begins_to_need_attention(&connection.refresh) {
            changes.messages.push(self.attention_message(connection, &state, at));
        }
        changes.bridge.push(Change::EndRefresh { claim, access, state, calendars, gone, next, at });
        self.store_changes(changes).await?;
        Ok(outcome)
    }

    /// The message that a connection needs its user, after a refresh with that result. Every reader of the
    /// organization's webhooks sees it, so it contains nothing that the user wrote or that the provider returned.
    fn attention_message(&self, connection: &Connection, state: &RefreshState, at: Timestamp) -> Message {
        let payload = wire::ConnectionNeedsAttention {
            connection_id: connection.id,
            provider: connection.provider.as_str().into(),
            status: state.status().as_str().into(),
        };
        self.message(connection.org, EventType::ConnectionNeedsAttention, &payload, connection.version, at)
    }

    /// Reads everything from the provider. Returns what to write, even after a failure.
    async fn refreshed(&self, connection: &Connection, known: Vec<KnownCalendar>) -> Refreshed {
        let mut renewed = None;
        if connection.access.tokens().is_some_and(|tokens| tokens.access_until <= self.now() + RENEW_BEFORE) {
            match self.renewed(connection).await {
                Ok(access) => renewed = Some(access),
                Err(error) => return unread(None, &error),
            }
        }
        let access = renewed.as_ref().unwrap_or(&connection.access);
        let read = match self.read_account(connection, access, &known).await {
            // An access token may end before its time. Renewing it shows whether the consent has ended.
            Err(ProviderError::Lapsed(_)) if renewed.is_none() && connection.access.tokens().is_some() => {
                match self.renewed(connection).await {
                    Ok(access) => {
                        let read = self.read_account(connection, &access, &known).await;
                        renewed = Some(access);
                        read
                    }
                    Err(error) => Err(error),
                }
            }
            read => read,
        };
        match read {
            Ok(read) => Refreshed { access: renewed, ended: read.ended(), listing: read.listing },
            Err(error) => unread(renewed, &error),
        }
    }

    /// The access with a new access token, for a connection whose user consented at its provider.
    async fn renewed(&self, connection: &Connection) -> Result<Access, ProviderError> {
        let (Some(provider), Some(tokens)) = (connection.provider.oauth(), connection.access.tokens()) else {
            // Only a consent has tokens that can be renewed.
            return Err(ProviderError::Lapsed("invalid_grant".to_owned()));
        };
        self.parts.calendar_providers.renew(provider, tokens, self.now()).await.map(Access::Consent)
    }

    /// Lists the calendars, and reads the busy times of those that count.
    async fn read_account(
        &self,
        connection: &Connection,
        access: &Access,
        known: &[KnownCalendar],
    ) -> Result<Read, ProviderError> {
        let theirs = self.parts.calendar_providers.calendars(connection.provider, access).await?;
        if theirs.is_empty() && !known.is_empty() {
            // Treated as an error: an account with calendars does not lose them all, and deleting them would lose the
            // user's choices.
            return Err(ProviderError::Malformed("it returned no calendars, although there were some before".into()));
        }
        let now = self.now();
        let before: Vec<ExternalCalendar> = known.iter().map(|known| known.calendar.clone()).collect();
        let of = (connection.org, connection.id);
        let mut listing = listing(of, &before, theirs, now, self.entropy());
        let counting: Vec<ExternalCalendarId> =
            known.iter().filter(|known| known.counts).map(|known| known.calendar.id).collect();
        let (counts, others): (Vec<_>, Vec<_>) =
            listing.present.into_iter().partition(|calendar| counting.contains(&calendar.id));
        let window = window(now);
        let asked = counts.iter().map(|calendar| AskedCalendar {
            reference: calendar.theirs.reference.clone(),
            known: calendar.known_tag(window),
        });
        let asked: Vec<AskedCalendar> = asked.collect();
        let busy = if asked.is_empty() {
            Vec::new()
        } else {
            self.parts.calendar_providers.busy(connection.provider, access, &asked, window).await?
        };
        let mut busy = busy.into_iter();
        let (mut unknown, mut left_out) = (0, 0);
        let read = counts.into_iter().map(|calendar| {
            let (spans, copies, tag) = match busy.next() {
                Some(TheirBusy::Known { spans, copies, tag, unread }) => {
                    left_out += unread;
                    // What could not be read this time is tried again.
                    let tag = tag.filter(|_| unread == 0);
                    (BusySet::from_unsorted(spans).clip(window), clipped(copies, window), tag)
                }
                Some(TheirBusy::Unchanged) => return calendar.unchanged(now),
                Some(TheirBusy::Unknown(_)) | None => {
                    unknown += 1;
                    return calendar;
                }
            };
            if spans.len() + copies.len() > SPANS_MAX {
                unknown += 1;
                return calendar;
            }
            calendar.read(Reading { read_at: now, covers: window, spans, copies, tag })
        });
        // Busy times of calendars that count for nobody are not kept.
        let forgotten = others.iter().map(ExternalCalendar::unread);
        // Unchanged calendars need not be written.
        listing.present = read.chain(forgotten).filter(|calendar| !before.contains(calendar)).collect();
        Ok(Read { listing, unknown, left_out })
    }
}

/// The busy times of copies in `window`, in order, each once.
fn clipped(copies: Vec<(CalendarId, Span)>, window: Span) -> Vec<(CalendarId, Span)> {
    let inside = copies.into_iter().filter_map(|(calendar, span)| Some((calendar, span.clip(window)?)));
    let mut inside: Vec<_> = inside.collect();
    inside.sort_unstable();
    inside.dedup();
    inside
}

/// A refresh that read nothing.
fn unread(access: Option<Access>, error: &ProviderError) -> Refreshed {
    let ended = match error {
        ProviderError::Lapsed(_) => Ended::Lapsed(error.to_string()),
        ProviderError::Unavailable(_) | ProviderError::Malformed(_) => {
            tracing::warn!(error = error as &dyn std::error::Error, "cannot read from a calendar provider");
            let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
            Ended::Failed(format!("{error}{cause}").chars().take(ERROR_MAX).collect())
        }
    };
    Refreshed { access, listing: Listing::default(), ended }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn copies_are_clipped_sorted_and_kept_once() {
        let span = |start, end| Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end)).unwrap();
        let calendar = |number| CalendarId::from_uuid(Uuid::from_u128(number));
        let read = vec![
            (calendar(2), span(50, 60)),
            (calendar(1), span(90, 120)),
            (calendar(1), span(10, 20)),
            (calendar(1), span(90, 130)),
            (calendar(2), span(100, 110)),
        ];
        let expected = [(calendar(1), span(10, 20)), (calendar(1), span(90, 100)), (calendar(2), span(50, 60))];
        assert_eq!(clipped(read, span(0, 100)), expected);
    }
}
