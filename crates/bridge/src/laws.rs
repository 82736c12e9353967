//! Properties of links, listings, readings and grants.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU64, Ordering},
};

use kalends_accounts::oauth::{Client, Provider};
use kalends_availability::BusySet;
use kalends_kernel::{AgentId, CalendarId, ConnectionId, Entropy, ExternalCalendarId, OrgId, Revision, UserId};
use kalends_time::{SignedDuration, Span, Timestamp};
use proptest::prelude::*;
use rstest::rstest;
use uuid::Uuid;

use crate::*;

const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

/// Counts upwards, so that no two identifiers are equal.
#[derive(Default)]
struct Counting(AtomicU64);

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        let mut number = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes().into_iter().rev().cycle();
        bytes.iter_mut().for_each(|byte| *byte = number.next().unwrap());
    }
}

fn org() -> OrgId {
    OrgId::from_uuid(Uuid::from_u128(1))
}

fn human(number: u8) -> UserId {
    UserId::from_uuid(Uuid::from_u128(number.into()))
}

fn connection(number: u8) -> ConnectionId {
    ConnectionId::from_uuid(Uuid::from_u128(number.into()))
}

fn agent(number: u8) -> AgentId {
    AgentId::from_uuid(Uuid::from_u128(number.into()))
}

fn link() -> (ConnectionLink, LinkSecret) {
    let calendar = CalendarId::from_uuid(Uuid::from_u128(9));
    ConnectionLink::create((org(), Some(agent(1)), calendar), NewLink::default(), NOW, &Counting::default())
}

fn connected(human: UserId, provider: CalendarProvider) -> Connection {
    let tokens = Tokens { access: "a".into(), access_until: NOW, refresh: "b".into(), publishing: false };
    Connection::create((org(), human, provider), Access::Consent(tokens), NOW, &Counting::default())
}

fn granted(human: UserId, audience: Audience, agents: Vec<AgentId>) -> Grant {
    Grant::create((org(), human), NewGrant { sources: Vec::new(), audience, agents }, NOW, &Counting::default())
}

/// The user completes the link with an account of their own.
fn completing(link: &ConnectionLink, by: u8, what: u8, now: Timestamp) -> Result<ConnectionLink, LinkError> {
    let account = Connection { id: connection(what), ..connected(human(by), CalendarProvider::Google) };
    link.complete(&granted(human(by), Audience::All, Vec::new()), &account, now).map_err(|error| match error {
        IncompleteError::Link(error) => error,
        other => panic!("{other}"),
    })
}

/// How a refresh ends, or a new consent.
#[derive(Debug, Clone, Copy)]
enum Turn {
    Good,
    Partly,
    Failed,
    Lapsed,
    Consent,
}

/// Turns of which most are failures, so that ten in a row are common.
fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![
        1 => Just(Turn::Good),
        1 => Just(Turn::Partly),
        24 => Just(Turn::Failed),
        1 => Just(Turn::Lapsed),
        1 => Just(Turn::Consent),
    ]
}

/// The turns since the last success or consent: the number of failures, and whether the last of them was a lapse.
fn since_success(turns: &[Turn]) -> (usize, bool) {
    let is_failure = |turn: &&Turn| matches!(turn, Turn::Failed | Turn::Lapsed);
    let failures = turns.iter().rev().take_while(is_failure).count();
    (failures, matches!(turns.last(), Some(Turn::Lapsed)))
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Open(u8),
    Connect(u8, u8),
    Complete(u8, u8),
    Decline(u8),
    Cancel,
    Wait(i64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..2u8).prop_map(Step::Open),
        (0..2u8, 0..3u8).prop_map(|(human, connection)| Step::Connect(human, connection)),
        (0..2u8, 0..3u8).prop_map(|(human, connection)| Step::Complete(human, connection)),
        (0..2u8).prop_map(Step::Decline),
        Just(Step::Cancel),
        (0..20i64).prop_map(Step::Wait),
    ]
}

/// The simplest model of a link: who opened it and when, or how it ended.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Model {
    Waiting,
    Followed { by: u8, since: Timestamp },
    Ended(LinkStatus),
}

impl Model {
    fn at(self, now: Timestamp) -> Self {
        match self {
            Self::Waiting if now >= NOW + LINK_LASTS => Self::Ended(LinkStatus::Expired),
            Self::Followed { since, .. } if now >= since + SETUP_LASTS => Self::Ended(LinkStatus::Expired),
            model => model,
        }
    }

    fn status(self) -> LinkStatus {
        match self {
            Self::Waiting => LinkStatus::AwaitingHuman,
            Self::Followed { .. } => LinkStatus::InProgress,
            Self::Ended(status) => status,
        }
    }

    fn step(self, step: Step, now: Timestamp) -> Option<Self> {
        match (self, step) {
            (Self::Waiting, Step::Open(by)) => Some(Self::Followed { by, since: now }),
            (Self::Followed { by, .. }, Step::Open(human) | Step::Connect(human, _)) if by == human => Some(self),
            (Self::Followed { by, .. }, Step::Complete(human, _)) if by == human => {
                Some(Self::Ended(LinkStatus::Completed))
            }
            (Self::Followed { by, .. }, Step::Decline(human)) if by == human => Some(Self::Ended(LinkStatus::Declined)),
            (Self::Waiting | Self::Followed { .. }, Step::Cancel) => Some(Self::Ended(LinkStatus::Cancelled)),
            _ => None,
        }
    }
}

proptest! {
    /// A connection link is for the first user who opens it, and ends once, as in its model.
    #[test]
    fn a_link_is_for_one_user_and_ends_once(steps in prop::collection::vec(step(), 0..20)) {
        let (mut link, mut model, mut now) = (link().0, Model::Waiting, NOW);
        for step in steps {
            model = model.at(now);
            let done = match step {
                Step::Open(by) => link.open(human(by), now),
                Step::Connect(by, what) => link.connect(human(by), connection(what), now),
                Step::Complete(by, what) => completing(&link, by, what, now),
                Step::Decline(by) => link.decline(human(by), now),
                Step::Cancel => link.cancel(now),
                Step::Wait(minutes) => {
                    now = now + SignedDuration::minutes(minutes);
                    model = model.at(now);
                    prop_assert_eq!(link.status(now), model.status());
                    continue;
                }
            };
            let expected = model.step(step, now);
            prop_assert_eq!(done.is_ok(), expected.is_some(), "{:?} at {:?}: {:?}", step, model, done);
            if let (Ok(done), Some(expected)) = (done, expected) {
                // The version changes if and only if the row changes.
                prop_assert_eq!(done.version == link.version, done == link);
                (link, model) = (done, expected);
            }
            prop_assert_eq!(link.status(now), model.status());
            prop_assert!(link.status(now) != LinkStatus::Completed || link.connection.is_some());
        }
    }

    /// A new list of a connection's calendars keeps those that are still listed under their identifiers, and reports
    /// the others as gone.
    #[test]
    fn a_listing_keeps_calendars_that_are_still_listed(
        known in prop::collection::btree_set(0..CALENDARS_MAX + 20, 0..CALENDARS_MAX),
        listed in prop::collection::vec(0..CALENDARS_MAX + 20, 0..CALENDARS_MAX * 2),
    ) {
        let entropy = Counting::default();
        let named = |number: &usize, name: &str| TheirCalendar { reference: format!("c{number}"), name: name.into(), primary: false };
        let first = listing((org(), connection(1)), &[], known.iter().map(|number| named(number, "old")).collect(), NOW, &entropy);
        prop_assert!(first.gone.is_empty());
        prop_assert_eq!(first.present.len(), known.len());
        let second =
            listing((org(), connection(1)), &first.present, listed.iter().map(|number| named(number, "new")).collect(), NOW, &entropy);
        let listed: BTreeSet<_> = listed.into_iter().collect();
        prop_assert_eq!(second.present.len(), listed.len().min(CALENDARS_MAX));
        prop_assert_eq!(second.gone.len(), known.difference(&listed).count());
        let ids: BTreeSet<ExternalCalendarId> = second.present.iter().map(|calendar| calendar.id).collect();
        prop_assert_eq!(ids.len(), second.present.len());
        for before in &first.present {
            let now = second.present.iter().find(|calendar| calendar.theirs.reference == before.theirs.reference);
            match now {
                Some(now) => prop_assert_eq!((now.id, now.revision, now.theirs.name.as_str()), (before.id, before.revision, "new")),
                None => prop_assert!(second.gone.contains(&before.id)),
            }
        }
    }

    /// A reading of a human calendar increases its revision exactly if the busy times differ.
    #[test]
    fn a_reading_increments_the_revision_iff_it_differs(
        readings in prop::collection::vec(
            (0..3i64, prop::collection::vec((0..20i64, 1..5i64), 0..4), prop::collection::vec((0..2u8, 0..20i64), 0..2)), 1..8,
        ),
    ) {
        let at = |hours: i64| NOW + SignedDuration::hours(hours);
        let mut calendar = listing(
            (org(), connection(1)),
            &[],
            vec![TheirCalendar { reference: "c".into(), name: String::new(), primary: true }],
            NOW,
            &Counting::default(),
        )
        .present
        .remove(0);
        prop_assert_eq!(calendar.busy(Span::new(NOW, at(1)).unwrap()).read_at, None);
        for (step, (from, spans, copies)) in readings.into_iter().enumerate() {
            let spans = spans.into_iter().map(|(start, length)| Span::new(at(start), at(start + length)).unwrap());
            let reading = Reading {
                read_at: at(i64::try_from(step).unwrap()),
                covers: Span::new(at(-from), at(100)).unwrap(),
                spans: BusySet::from_unsorted(spans.collect()),
                copies: copies
                    .into_iter()
                    .map(|(of, start)| {
                        let of = CalendarId::from_uuid(Uuid::from_u128(of.into()));
                        (of, Span::new(at(start), at(start + 1)).unwrap())
                    })
                    .collect(),
                tag: None,
            };
            let same = calendar.reading.as_ref().is_some_and(|last| {
                last.covers == reading.covers && last.spans == reading.spans && last.copies == reading.copies
            });
            let next = calendar.read(reading.clone());
            prop_assert_eq!(next.revision, Revision(calendar.revision.0 + i64::from(!same)));
            let window = Span::new(at(5), at(12)).unwrap();
            let busy = next.busy(window);
            prop_assert_eq!((busy.read_at, busy.covers, busy.revision), (Some(reading.read_at), reading.covers, next.revision));
            prop_assert_eq!(busy.spans, reading.spans.clip(window));
            let copies: Vec<_> =
                reading.copies.iter().filter_map(|(of, span)| span.clip(window).map(|span| (*of, span))).collect();
            prop_assert_eq!(busy.copies, copies);
            calendar = next;
        }
    }

    /// A connection needs its user exactly after a lapse and after ten failures in a row, until a success or a new
    /// consent.
    ///
    /// Each need begins once.
    #[test]
    fn attention_is_needed_after_a_lapse_or_ten_failures(turns in prop::collection::vec(turn(), 0..60)) {
        let mut account = connected(human(1), CalendarProvider::Google);
        let mut needed = false;
        for (index, turn) in turns.iter().enumerate() {
            let ended = match turn {
                Turn::Good => Some(Ended::Good),
                Turn::Partly => Some(Ended::Partly("some".into())),
                Turn::Failed => Some(Ended::Failed("away".into())),
                Turn::Lapsed => Some(Ended::Lapsed("gone".into())),
                Turn::Consent => None,
            };
            let before = account.refresh.clone();
            account = match ended {
                Some(ended) => Connection { refresh: before.after(ended, NOW), ..account },
                None => account.reauthorized(account.access.clone(), NOW),
            };
            let (failures, lapsed) = since_success(&turns[..=index]);
            let needs = lapsed || failures >= 10;
            prop_assert_eq!(account.refresh.needs_attention(), needs, "{:?}", &turns[..=index]);
            prop_assert_eq!(account.refresh.begins_to_need_attention(&before), needs && !needed);
            if needs {
                let expected =
                    if lapsed { ConnectionStatus::ReauthorizationRequired } else { ConnectionStatus::Error };
                prop_assert_eq!(account.status(), expected);
            }
            needed = needs;
        }
    }

    /// A refresh that did not lapse is repeated after at most 40 minutes, and not sooner after more failures than after
    /// fewer.
    ///
    /// CalDAV is never refreshed later than another provider.
    #[test]
    fn the_next_refresh_is_due_in_time(failures in 0..20u32, random: u32, which in 0..CalendarProvider::ALL.len()) {
        let wait = |provider, failures| {
            let state = RefreshState { failures, ..RefreshState::default() };
            next_due(provider, &state, NOW, random).unwrap() - NOW
        };
        let provider = CalendarProvider::ALL[which];
        let next = wait(provider, failures);
        prop_assert!(next > SignedDuration::seconds(107) && next <= SignedDuration::minutes(40), "{:?}", next);
        prop_assert!(wait(provider, failures + 1) >= next);
        prop_assert!(wait(CalendarProvider::Caldav, failures) <= next);
        let lapsed = RefreshState { failures, lapsed: true, ..RefreshState::default() };
        prop_assert_eq!(next_due(provider, &lapsed, NOW, random), None);
    }

    /// A grant covers exactly the agents of its audience.
    #[test]
    fn a_grant_covers_its_audience(
        agents in prop::collection::vec(0..6u8, 0..8), viewer in prop::option::of(0..6u8), which in 0..3usize,
    ) {
        let audience = Audience::ALL[which];
        let source = ExternalCalendarId::from_uuid(Uuid::from_u128(3));
        let new = NewGrant { sources: vec![source, source], audience, agents: agents.iter().copied().map(agent).collect() };
        let grant = Grant::create((org(), human(1)), new, NOW, &Counting::default());
        prop_assert_eq!(&grant.sources, &[source]);
        let named = viewer.is_some_and(|viewer| agents.contains(&viewer));
        prop_assert_eq!(grant.covers(viewer.map(agent)), audience == Audience::All || named);
    }

    /// The sealed fields of connections and calendars are read back as they were written.
    #[test]
    fn documents_round_trip(
        access in ".{0,30}", refresh in ".{0,30}", until in 0..i64::MAX, publishing: bool,
        reference in ".{1,30}", name in ".{0,30}",
    ) {
        let access_until = Timestamp::from_micros(until);
        let access = Access::Consent(Tokens { access, access_until, refresh, publishing });
        for provider in [CalendarProvider::Google, CalendarProvider::Microsoft] {
            prop_assert_eq!(Access::read(provider, &access.write()), Ok(access.clone()));
        }
        let theirs = TheirCalendar { reference, name, primary: false };
        let Confidential { reference, name } = Confidential::read(&Confidential::write(&theirs)).unwrap();
        prop_assert_eq!((reference, name), (theirs.reference, theirs.name));
    }
}

#[rstest]
#[case(&b"{}"[..])]
#[case(b"[1]")]
#[case(br#"{"access":"a","until":1,"refresh":"b","reference":"c","name":"d"}"#)]
fn other_documents_are_refused(#[case] document: &[u8]) {
    for provider in CalendarProvider::ALL {
        assert_eq!(Access::read(provider, document), Err(AccessError), "{provider:?}");
    }
    assert_eq!(Confidential::read(document), Err(ConfidentialError));
}

#[test]
fn a_link_expires_exactly_on_time() {
    let (link, _) = link();
    let last = NOW + LINK_LASTS - SignedDuration::micros(1);
    let opened = link.open(human(1), last).unwrap();
    assert_eq!(link.open(human(1), NOW + LINK_LASTS), Err(LinkError::Ended(LinkStatus::Expired)));
    assert_eq!(opened.status(last + SETUP_LASTS - SignedDuration::micros(1)), LinkStatus::InProgress);
    assert_eq!(opened.status(last + SETUP_LASTS), LinkStatus::Expired);
    assert_eq!(opened.open(human(2), last), Err(LinkError::OtherHuman));
    assert_eq!(link.decline(human(1), NOW), Err(LinkError::NotOpened));
    let declined = opened.decline(human(1), last).unwrap();
    assert!(
        !opened.is_declined_by(human(1)) && declined.is_declined_by(human(1)) && !declined.is_declined_by(human(2))
    );
    assert_eq!(declined.decline(human(1), last), Err(LinkError::Ended(LinkStatus::Declined)));
}

#[test]
fn a_link_is_completed_by_a_grant_that_covers_its_calendar() {
    let new_link = |publishing| NewLink { publishing, policy: PublicationPolicy::None };
    let open = |agent, publishing| {
        let of = (org(), agent, CalendarId::from_uuid(Uuid::from_u128(9)));
        ConnectionLink::create(of, new_link(publishing), NOW, &Counting::default()).0.open(human(1), NOW).unwrap()
    };
    let (google, selected) =
        (connected(human(1), CalendarProvider::Google), granted(human(1), Audience::Selected, vec![agent(1)]));
    let all = granted(human(1), Audience::All, Vec::new());
    let completed = open(Some(agent(1)), false).complete(&selected, &google, NOW).unwrap();
    assert_eq!((completed.state, completed.connection), (LinkStatus::Completed, Some(google.id)));
    assert!(open(None, false).complete(&all, &google, NOW).is_ok());
    for of in [Some(agent(2)), None] {
        assert_eq!(open(of, false).complete(&selected, &google, NOW), Err(IncompleteError::NotCovered));
    }
    let paused = google.patched(ConnectionPatch::Paused(true), NOW);
    let refused = open(Some(agent(1)), false).complete(&all, &paused, NOW);
    assert_eq!(refused, Err(IncompleteError::NotRefreshed(ConnectionStatus::Paused)));
    let refused = open(Some(agent(1)), true).complete(&all, &google, NOW);
    assert_eq!(refused, Err(IncompleteError::NotSuited(CalendarProvider::Google)));
    assert!(open(None, true).complete(&all, &connected(human(1), CalendarProvider::Microsoft), NOW).is_ok());
    let other = granted(human(2), Audience::All, Vec::new());
    assert_eq!(open(None, false).complete(&other, &google, NOW), Err(LinkError::OtherHuman.into()));
}

#[rstest]
#[case(CalendarProvider::Google, false)]
#[case(CalendarProvider::Microsoft, true)]
#[case(CalendarProvider::Caldav, false)]
#[case(CalendarProvider::Example, false)]
fn events_can_only_be_published_to_microsoft(#[case] provider: CalendarProvider, #[case] suits: bool) {
    let link = |publishing| NewLink { publishing, policy: PublicationPolicy::None };
    assert_eq!((link(false).suits(provider), link(true).suits(provider)), (true, suits));
}

#[test]
fn debug_output_shows_no_secrets_or_tokens() {
    let (_, secret) = link();
    let tokens = Tokens { access: "planted".into(), access_until: NOW, refresh: "planted".into(), publishing: true };
    let printed = format!("{secret:?} {tokens:?}");
    assert!(!printed.contains("planted") && !printed.contains(secret.reveal()), "{printed}");
    assert_eq!(secret.reveal().len(), 43);
}

#[rstest]
#[case(Provider::Google, false, &["access_type=offline", "prompt=consent", "calendar.freebusy"])]
#[case(Provider::Google, true, &["access_type=offline", "prompt=consent", "calendar.freebusy"])]
#[case(Provider::Microsoft, false, &["prompt=select_account", "offline_access", "Calendars.ReadBasic"])]
#[case(Provider::Microsoft, true, &["prompt=select_account", "offline_access", "Calendars.ReadWrite"])]
fn consent_asks_for_the_least_scopes(#[case] provider: Provider, #[case] publishing: bool, #[case] parts: &[&str]) {
    let client = Client {
        provider,
        authorization_endpoint: "https://provider.example/authorize?kept=1&prompt=login".parse().unwrap(),
        issuer: "https://provider.example".into(),
        client_id: "kalends".into(),
        redirect_uri: "https://calendar.example.com/callback".into(),
    };
    let purpose = Purpose::Connect { link: None };
    let of = (org(), human(1));
    let (attempt, begun) = ConnectAttempt::begin(of, purpose, publishing, &client, NOW, &Counting::default());
    let url = attempt.authorization_url(&begun, &client);
    for part in parts.iter().chain(&["kept=1", "response_type=code", "code_challenge_method=S256"]) {
        assert!(url.as_str().contains(part), "{part} in {url}");
    }
    assert_eq!(url.as_str().matches("prompt=").count(), 1, "{url}");
    assert_eq!((&attempt.oauth, attempt.publishing), (&begun.attempt, publishing));
    let writes = publishing && provider == Provider::Microsoft;
    assert_eq!(
        (url.as_str().contains("ReadWrite"), url.as_str().contains("ReadBasic")),
        (writes, provider == Provider::Microsoft && !publishing)
    );
    assert!(!url.as_str().contains("openid"), "{url}");
}
