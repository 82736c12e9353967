//! The export of an account: one JSON object, written page by page, so that it is never held in memory as a whole.

use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use kalends_accounts::{Allowance, Organization};
use kalends_calendars::{Calendar, Changed, ChangesSince, Position, ports::AgentFilter};
use kalends_kernel::{CalendarId, Listed, OrgId, Page, Revision, StoreError, UserId};
use kalends_plans::{Counted, Metric};
use kalends_proposals::{Proposal, ports::ProposalFilter};
use kalends_quotas::Period;
use kalends_time::Timestamp;
use kalends_wire as wire;
use serde::Serialize;
use tokio::sync::mpsc;
use tracing::Instrument as _;

use crate::{Actor, App, Missing, Refusal, answered::json, connections::entry, console::human};

/// How many rows one read returns.
const ROWS: u32 = 200;
/// The size of a piece, in bytes.
const CHUNK: usize = 32 << 10;
/// How many pieces may wait for a slow reader before the export waits too.
const PIECES: usize = 4;
/// How often the events of a calendar are read at most, if they keep changing while the export runs.
const PASSES: usize = 10;
/// The version of the export's format.
const FORMAT_VERSION: u32 = 1;

/// Why an export ends early. The connection is then aborted, so that a partial export does not look complete.
#[derive(Debug, thiserror::Error)]
#[error("the export could not be completed")]
pub struct ExportBroken(#[source] StoreError);

/// An export in progress.
#[derive(Debug)]
pub struct Export {
    /// When it was begun.
    pub at: Timestamp,
    /// The pieces of the JSON text.
    pub pieces: mpsc::Receiver<Result<Bytes, ExportBroken>>,
}

/// Why writing ends early.
enum Ended {
    /// The reader is gone.
    Unread,
    /// The store failed.
    Store(StoreError),
}

impl From<StoreError> for Ended {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Writes members of one object.
struct Writer {
    pieces: mpsc::Sender<Result<Bytes, ExportBroken>>,
    text: String,
    /// Whether something precedes the next member or entry.
    follows: bool,
}

impl Writer {
    fn comma(&mut self) {
        if self.follows {
            self.text.push(',');
        }
        self.follows = true;
    }

    fn name(&mut self, name: &str) {
        self.comma();
        self.text.push_str(&format!("\"{name}\":"));
    }

    fn member(&mut self, name: &str, value: &impl Serialize) {
        self.name(name);
        self.text.push_str(&json(value));
    }

    fn begin_list(&mut self, name: &str) {
        self.name(name);
        self.text.push('[');
        self.follows = false;
    }

    async fn entry(&mut self, value: &(impl Serialize + Sync)) -> Result<(), Ended> {
        self.comma();
        self.text.push_str(&json(value));
        if self.text.len() < CHUNK { Ok(()) } else { self.hand_over().await }
    }

    fn end_list(&mut self) {
        self.text.push(']');
        self.follows = true;
    }

    async fn list<T: Serialize + Send + Sync>(&mut self, name: &str, values: Vec<T>) -> Result<(), Ended> {
        self.begin_list(name);
        for value in values {
            self.entry(&value).await?;
        }
        self.end_list();
        Ok(())
    }

    /// Writes a list that is read page by page.
    async fn pages<'a, T, E: Serialize + Sync>(
        &mut self,
        name: &str,
        read: impl Fn(Page) -> BoxFuture<'a, Result<Listed<T>, StoreError>>,
        exported: impl Fn(T) -> E,
    ) -> Result<(), Ended> {
        self.begin_list(name);
        let mut page = Page { limit: ROWS, offset: 0 };
        loop {
            let Listed { data, .. } = read(page).await?;
            if data.is_empty() {
                break;
            }
            page.offset += ROWS;
            for found in data {
                self.entry(&exported(found)).await?;
            }
        }
        self.end_list();
        Ok(())
    }

    async fn hand_over(&mut self) -> Result<(), Ended> {
        let piece = Bytes::from(std::mem::take(&mut self.text));
        self.pieces.send(Ok(piece)).await.map_err(|_| Ended::Unread)
    }
}

impl App {
    /// Exports everything that the session's organization has, decrypted, and the claims of the session's user.
    ///
    /// # Errors
    /// [`Refusal::NotSignedIn`] without a session; [`Refusal::TooMany`] above 10 per hour.
    pub async fn export(self: &Arc<Self>, actor: &Actor) -> Result<Export, Refusal> {
        let (_, human) = human(actor)?;
        self.allow(&Allowance::exports(actor.org())).await?;
        let missing = || Refusal::missing(Missing::Organization, &actor.org().to_string());
        let organization = self.parts.store.find_organization(actor.org()).await?.ok_or_else(missing)?;
        let (sender, pieces) = mpsc::channel(PIECES);
        let (app, at) = (Arc::clone(self), self.now());
        let writing = async move {
            let mut writer = Writer { pieces: sender.clone(), text: "{".to_owned(), follows: false };
            match app.write_export(&organization, human, at, &mut writer).await {
                Ok(()) | Err(Ended::Unread) => {}
                Err(Ended::Store(error)) => {
                    tracing::error!(error = &error as &dyn std::error::Error, "an export could not be completed");
                    // The reader may be gone, and then needs no reason.
                    let _ = sender.send(Err(ExportBroken(error))).await;
                }
            }
        };
        tokio::spawn(writing.instrument(tracing::error_span!("export")));
        Ok(Export { at, pieces })
    }

    /// The order of the members is part of the format. A member without rows is an empty list.
    async fn write_export(
        &self,
        organization: &Organization,
        human: UserId,
        at: Timestamp,
        to: &mut Writer,
    ) -> Result<(), Ended> {
        let org = organization.id;
        to.member("exported_at", &at);
        to.member("format_version", &FORMAT_VERSION);
        to.member("org", &exported(organization));

        let agents = |page| self.parts.store.list_agents(org, AgentFilter::default(), page);
        let members = self.parts.store.members_of(org).await?;
        to.list("members", members.iter().map(|(member, user)| wire::Member::new(member, user)).collect()).await?;
        to.pages("agents", agents, wire::Agent::from).await?;

        to.begin_list("calendars");
        let mut after = None;
        while let Some(calendars) = self.some_calendars(org, &mut after).await? {
            for calendar in calendars {
                let ical_token = calendar.feed_token.reveal().to_owned();
                let calendar = wire::Calendar::new(calendar, &self.parts.settings.base_url);
                to.entry(&wire::ExportedCalendar { calendar, ical_token }).await?;
            }
        }
        to.end_list();

        self.write_all_events(org, at, to).await?;

        to.begin_list("availability_rules");
        let mut after = None;
        while let Some(calendars) = self.some_calendars(org, &mut after).await? {
            for calendar in calendars {
                if let Some(rules) = self.parts.store.find_rules(org, calendar.id).await? {
                    to.entry(&wire::AvailabilityRules::from(rules)).await?;
                }
            }
        }
        to.end_list();

        let subscriptions = |page| self.parts.store.list_subscriptions(org, None, None, page);
        to.pages("ical_subscriptions", subscriptions, |found| wire::Subscription::from(&found)).await?;
        let pages = |page| self.parts.store.list_booking_pages(org, None, page);
        to.pages("booking_pages", pages, |found| wire::BookingPage::new(&found, &self.parts.settings.base_url)).await?;
        self.write_connections(org, human, at, to).await?;
        let grants = |page| self.parts.store.list_grants(org, Some(human), page);
        to.pages("availability_grants", grants, |found| wire::AvailabilityGrant::from(&found)).await?;
        let webhooks = |page| self.parts.store.list_webhooks(org, page);
        to.pages("webhook_subscriptions", webhooks, |found| wire::ExportedWebhook::from(&found)).await?;
        let keys = self.parts.store.keys_in_force(org).await?.into_iter().map(wire::ExportedKey::from).collect();
        to.list("api_keys", keys).await?;
        self.write_proposals(org, at, to).await?;
        let (mut used, unspent) =
            self.read_with_leases(org, async |_| self.parts.store.use_by_month(org).await).await?;
        for (period, metric, used) in &mut used {
            *used = unspent.off(*metric, *period, *used);
        }
        to.list("usage_records", used.iter().map(used_in).collect()).await?;
        to.list("quota_counters", counters(organization, &used, at)).await?;
        let accepted =
            self.parts.store.acceptances(org).await?.into_iter().map(wire::ExportedAcceptance::from).collect();
        to.list("tos_acceptances", accepted).await?;
        let claims = |page| self.parts.store.claims_of(human, page);
        to.pages("account_claims_initiated", claims, |found| wire::ExportedClaim::new(&found, at)).await?;
        to.text.push('}');
        to.hand_over().await
    }

    /// The user's connections with their calendars, without their tokens. Those of other members are private.
    async fn write_connections(&self, org: OrgId, human: UserId, at: Timestamp, to: &mut Writer) -> Result<(), Ended> {
        to.begin_list("calendar_connections");
        for connection in self.listed_connections(org, Some(human)).await? {
            let external_calendars = match &connection {
                Ok(connection) => self.shown_calendars(connection, at).await?,
                Err(_) => Vec::new(),
            };
            let connection = entry(&connection, at);
            to.entry(&wire::ExportedConnection { connection, external_calendars }).await?;
        }
        to.end_list();
        Ok(())
    }

    /// Writes proposals as three lists: the proposals, their slots, and their responses. Proposals are read once for
    /// each list, so that no list is held in memory as a whole.
    async fn write_proposals(&self, org: OrgId, at: Timestamp, to: &mut Writer) -> Result<(), Ended> {
        let proposals = |page| self.parts.store.list_proposals(org, ProposalFilter::default(), page);
        to.pages("scheduling_proposals", proposals, |found| wire::ProposalSummary::of(&found, at)).await?;
        to.begin_list("proposal_slots");
        let mut offset = 0;
        while let Some(proposals) = self.some_proposals(org, &mut offset).await? {
            for proposal in &proposals {
                for slot in proposal.slots() {
                    to.entry(&wire::ExportedSlot::of(proposal, slot)).await?;
                }
            }
        }
        to.end_list();
        to.begin_list("proposal_responses");
        offset = 0;
        while let Some(proposals) = self.some_proposals(org, &mut offset).await? {
            for proposal in &proposals {
                for response in proposal.responses() {
                    to.entry(&wire::ExportedResponse::of(proposal, response)).await?;
                }
            }
        }
        to.end_list();
        Ok(())
    }

    /// The next proposals from `offset`; `None` if there are no more. Proposals are never removed, so none is
    /// skipped.
    async fn some_proposals(&self, org: OrgId, offset: &mut u32) -> Result<Option<Vec<Proposal>>, StoreError> {
        let page = Page { limit: ROWS, offset: *offset };
        let proposals = self.parts.store.list_proposals(org, ProposalFilter::default(), page).await?.data;
        *offset += ROWS;
        Ok((!proposals.is_empty()).then_some(proposals))
    }

    /// The next visible calendars; `None` if there are no more.
    async fn some_calendars(
        &self,
        org: OrgId,
        after: &mut Option<(Timestamp, CalendarId)>,
    ) -> Result<Option<Vec<Calendar>>, StoreError> {
        let calendars = self.parts.store.calendars_after(org, *after, ROWS).await?;
        let Some(last) = calendars.last() else { return Ok(None) };
        *after = Some((last.created_at, last.id));
        Ok(Some(calendars))
    }

    /// Writes the events of all calendars.
    ///
    /// An event that moves from a calendar that was not read yet to one that was would be left out. So what has changed
    /// since is read again, until nothing has. The revision of a calendar also rises when an event leaves it.
    async fn write_all_events(&self, org: OrgId, at: Timestamp, to: &mut Writer) -> Result<(), Ended> {
        to.begin_list("events");
        let mut read: Vec<(CalendarId, Reached)> = Vec::new();
        let mut after = None;
        for _ in 0..PASSES {
            let mut changed = false;
            for (calendar, reached) in &mut read {
                let next = self.write_events(org, *calendar, *reached, at, to).await?;
                changed |= next != *reached;
                *reached = next;
            }
            while let Some(calendars) = self.some_calendars(org, &mut after).await? {
                for calendar in calendars {
                    let reached = self.write_events(org, calendar.id, Reached::NOTHING, at, to).await?;
                    read.push((calendar.id, reached));
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        to.end_list();
        Ok(())
    }

    /// Writes the events of a calendar that changed since, in the order of their last change, so that none is skipped. An
    /// event that is changed during the export may appear twice; the later one is newer.
    async fn write_events(
        &self,
        org: OrgId,
        calendar: CalendarId,
        mut reached: Reached,
        at: Timestamp,
        to: &mut Writer,
    ) -> Result<Reached, Ended> {
        loop {
            // Deleted events are excluded.
            let since = ChangesSince { after: reached.position, deleted_after: Revision(i64::MAX) };
            let read = self.parts.store.changes(org, calendar, since, ROWS).await?;
            // A calendar that was deleted in the meantime has no events.
            let Some(read) = read else { return Ok(reached) };
            // Large events end a page early.
            let more = read.more || read.changes.len() >= ROWS as usize;
            reached.revision = read.revision;
            for (revision, changed) in read.changes {
                reached.position = Position { revision, id: changed.id() };
                if let Changed::Written(mut event) = changed {
                    event.set_at(at);
                    to.entry(&wire::Event::from(*event)).await?;
                }
            }
            if !more {
                return Ok(reached);
            }
        }
    }
}

/// How far a calendar was read.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Reached {
    position: Position,
    /// The calendar's revision.
    revision: Revision,
}

impl Reached {
    const NOTHING: Self = Self { position: Position::START, revision: Revision(0) };
}

fn exported(organization: &Organization) -> wire::ExportedOrg {
    let accepted = organization.accepted.as_ref();
    wire::ExportedOrg {
        id: organization.id,
        name: organization.name.as_str().to_owned(),
        email: organization.email.as_ref().map(|email| email.as_str().to_owned()),
        plan: organization.plan.public_name(),
        verified_at: organization.verified_at,
        waitlisted_at: organization.waitlist.since(),
        signup_source: organization.source.as_str(),
        accepted_terms_version: accepted.map(|accepted| accepted.version.clone()),
        accepted_terms_at: accepted.map(|accepted| accepted.at),
        created_at: organization.created_at,
    }
}

fn used_in((period, metric, used): &(Period, Metric, u64)) -> wire::ExportedUse {
    wire::ExportedUse { metric: metric.as_str(), period: period.to_string(), used: *used }
}

/// The use of the current month's quotas.
fn counters(organization: &Organization, used: &[(Period, Metric, u64)], at: Timestamp) -> Vec<wire::ExportedCounter> {
    let limits = organization.limits().ok();
    let present = Period::of(at);
    used.iter()
        .filter(|(period, metric, _)| *period == present && metric.counted() == Counted::Monthly)
        .map(|used| wire::ExportedCounter {
            counted: used_in(used),
            limit: limits.as_ref().and_then(|limits| limits.get(used.1)),
        })
        .collect()
}
