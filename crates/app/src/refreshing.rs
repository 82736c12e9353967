//! Refreshing connections: the use cases that the workers call.
//!
//! A worker claims due connections ([`App::claim_refreshes`]) and refreshes each in its own task
//! ([`App::refresh_connection`]). A refresh renews the access token, lists the calendars, and reads the busy times of
//! the calendars that count for an agent. Everything is committed at once, and refused if the claim is lost. A failed
//! refresh keeps what was read before. Its age shows how far it can be trusted.

use kalends_availability::BusySet;
use kalends_bridge::{
    CLAIM_LASTS, Change, Connection, Ended, ExternalCalendar, Listing, RENEW_BEFORE, Reading, RefreshClaim, SPANS_MAX,
    Tokens, listing, next_due, ports::KnownCalendar, window,
};
use kalends_kernel::{CalendarId, ExternalCalendarId, random_bytes};
use kalends_time::Span;

use crate::{
    App, ChangeSet, Refusal,
    ports::{CommitError, ProviderError, TheirBusy},
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
    tokens: Option<Tokens>,
    listing: Listing,
    ended: Ended,
}

/// The data that was read from an account.
struct Read {
    listing: Listing,
    /// How many calendars that count have unknown busy times: the provider did not return them, or returned too many.
    unknown: usize,
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
        let outcome = match self.refresh_claimed(claim, &connection).await {
            Ok(outcome) => outcome,
            Err(CommitError::Store(error)) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    connection = %claim.connection,
                    "a connection cannot be refreshed; it is claimed again once its claim has expired"
                );
                "broken"
            }
            // The claim is lost, or the organization is gone. Another worker has taken over, if needed. These
            // change-sets have no other conditions.
            Err(
                CommitError::Stale
                | CommitError::NoOrganization
                | CommitError::LimitReached { .. }
                | CommitError::EmailTaken
                | CommitError::SlugTaken
                | CommitError::TooMany { .. }
                | CommitError::AlreadyAnswered
                | CommitError::RolledBack,
            ) => "lost",
        };
        kalends_metrics::HUMAN_CALENDAR_REFRESHES.with_label_values(&[outcome]).inc();
        kalends_metrics::HUMAN_CALENDAR_REFRESH_SECONDS.observe(began.elapsed().as_secs_f64());
        tracing::debug!(connection = %claim.connection, outcome, "a refresh ended");
    }

    async fn refresh_claimed(&self, claim: RefreshClaim, connection: &Connection) -> Result<&'static str, CommitError> {
        let known = self.parts.store.external_calendars(claim.org, claim.connection).await?;
        let Refreshed { tokens, listing, ended } = self.refreshed(connection, known).await;
        let outcome = match &ended {
            Ended::Good => "good",
            Ended::Partly(_) => "partly",
            Ended::Failed(_) => "failed",
            Ended::Lapsed(_) => "lapsed",
        };
        let at = self.now();
        let state = connection.refresh.after(ended, at);
        let next = next_due(&state, at, u32::from_le_bytes(random_bytes(self.entropy())));
        let Listing { present: calendars, gone } = listing;
        let mut changes = ChangeSet::new(claim.org);
        changes.bridge.push(Change::EndRefresh { claim, tokens, state, calendars, gone, next, at });
        self.store_changes(changes).await?;
        Ok(outcome)
    }

    /// Reads everything from the provider. Returns what to write, even after a failure.
    async fn refreshed(&self, connection: &Connection, known: Vec<KnownCalendar>) -> Refreshed {
        let mut renewed = None;
        if connection.tokens.access_until <= self.now() + RENEW_BEFORE {
            match self.renewed(connection).await {
                Ok(tokens) => renewed = Some(tokens),
                Err(error) => return unread(None, &error),
            }
        }
        let tokens = renewed.as_ref().unwrap_or(&connection.tokens);
        let read = match self.read_account(connection, tokens, &known).await {
            // An access token may end before its time. Renewing it shows whether the consent has ended.
            Err(ProviderError::Lapsed(_)) if renewed.is_none() => match self.renewed(connection).await {
                Ok(tokens) => {
                    let read = self.read_account(connection, &tokens, &known).await;
                    renewed = Some(tokens);
                    read
                }
                Err(error) => Err(error),
            },
            read => read,
        };
        match read {
            Ok(Read { listing, unknown: 0 }) => Refreshed { tokens: renewed, listing, ended: Ended::Good },
            Ok(Read { listing, unknown }) => {
                let ended = Ended::Partly(format!("no busy times were returned for {unknown} of the calendars"));
                Refreshed { tokens: renewed, listing, ended }
            }
            Err(error) => unread(renewed, &error),
        }
    }

    async fn renewed(&self, connection: &Connection) -> Result<Tokens, ProviderError> {
        self.parts.calendar_providers.renew(connection.provider, &connection.tokens, self.now()).await
    }

    /// Lists the calendars, and reads the busy times of those that count.
    async fn read_account(
        &self,
        connection: &Connection,
        tokens: &Tokens,
        known: &[KnownCalendar],
    ) -> Result<Read, ProviderError> {
        let theirs = self.parts.calendar_providers.calendars(connection.provider, tokens).await?;
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
        let references: Vec<String> = counts.iter().map(|calendar| calendar.theirs.reference.clone()).collect();
        let window = window(now);
        let busy = if references.is_empty() {
            Vec::new()
        } else {
            self.parts.calendar_providers.busy(connection.provider, tokens, &references, window).await?
        };
        let mut busy = busy.into_iter();
        let mut unknown = 0;
        let read = counts.into_iter().map(|calendar| {
            let (spans, copies) = match busy.next() {
                Some(TheirBusy::Known { spans, copies }) => {
                    (BusySet::from_unsorted(spans).clip(window), clipped(copies, window))
                }
                Some(TheirBusy::Unknown(_)) | None => {
                    unknown += 1;
                    return calendar;
                }
            };
            if spans.len() + copies.len() > SPANS_MAX {
                unknown += 1;
                return calendar;
            }
            calendar.read(Reading { read_at: now, covers: window, spans, copies })
        });
        // Busy times of calendars that count for nobody are not kept.
        let forgotten = others.iter().map(ExternalCalendar::unread);
        // Unchanged calendars need not be written.
        listing.present = read.chain(forgotten).filter(|calendar| !before.contains(calendar)).collect();
        Ok(Read { listing, unknown })
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
fn unread(tokens: Option<Tokens>, error: &ProviderError) -> Refreshed {
    let ended = match error {
        ProviderError::Lapsed(_) => Ended::Lapsed(error.to_string()),
        ProviderError::Unavailable(_) | ProviderError::Malformed(_) => {
            tracing::warn!(error = error as &dyn std::error::Error, "cannot read from a calendar provider");
            let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
            Ended::Failed(format!("{error}{cause}").chars().take(ERROR_MAX).collect())
        }
    };
    Refreshed { tokens, listing: Listing::default(), ended }
}

#[cfg(test)]
mod tests {
    use kalends_time::Timestamp;
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
