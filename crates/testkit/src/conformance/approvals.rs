//! Writes that wait until a person allows them.

use kalends_accounts::ScopedKey;
use kalends_app::{ChangeSet, Guard, ports::CommitError};
use kalends_approvals::{
    Approval, Change, Outcome, PENDING_MAX, Reserved, Seen, State, Status, WaitingRequest, ports::ApprovalFilter,
};
use kalends_calendars::{Change as Scheduled, Reservation};
use kalends_kernel::{AgentId, ApprovalId, PAGE_BYTES_MAX, Page, ProposalId, Version};
use kalends_time::{SignedDuration, Timestamp};

use super::{
    StoreUnderTest,
    scene::{LARGEST_PAGE, Scene, assert_refused, hours, race, successes},
};
use crate::fixtures::{Compose, Fixtures};

/// How many tasks run at once.
const TASKS: usize = 8;
/// Who decides.
const BY: &str = "svc_sk_0123456789abc";

fn hour(hour: i64) -> Timestamp {
    Fixtures::BEGINNING + SignedDuration::hours(hour)
}

fn outcome(status: u16, body: Option<&str>) -> Outcome {
    Outcome { status, body: body.map(str::to_owned) }
}

fn decide(seen: &Approval, decided: &Approval) -> Change {
    Change::Decide { approval: Box::new(decided.clone()), seen: seen.version }
}

impl Scene {
    /// The key of a new agent.
    async fn asking_key(&self) -> ScopedKey {
        let key = self.make.scoped_key(&self.agent().await).key;
        self.commit(self.changes().create(&key)).await;
        key
    }

    fn approving(&self, approvals: Vec<Change>) -> ChangeSet {
        ChangeSet { approvals, ..self.changes() }
    }

    async fn ask(&self, approval: &Approval) {
        self.commit(self.approving(vec![Change::Ask(Box::new(approval.clone()))])).await;
    }

    async fn asked(&self, key: &ScopedKey) -> Approval {
        let approval = self.make.approval(key);
        self.ask(&approval).await;
        approval
    }

    async fn try_decide(&self, seen: &Approval, decided: &Approval) -> Result<(), CommitError> {
        self.try_commit(self.approving(vec![decide(seen, decided)])).await
    }

    async fn approval(&self, id: ApprovalId) -> Option<Approval> {
        self.store.find_approval(self.org, id).await.unwrap()
    }

    async fn approvals(&self, filter: ApprovalFilter) -> Vec<ApprovalId> {
        let listed = self.store.list_approvals(self.org, filter, LARGEST_PAGE).await.unwrap();
        assert_eq!(listed.total, listed.data.len() as u64);
        listed.data.iter().map(|approval| approval.id).collect()
    }
}

/// The approval after each kind of decision.
fn decisions(approval: &Approval, at: Timestamp) -> Vec<Approval> {
    let reason = Some("Not on a \"Friday\" \u{1f41f}.".to_owned());
    vec![
        approval.approved(BY, outcome(201, Some(r#"{"id":"evt_1"}"#)), at).unwrap(),
        approval.approved(BY, outcome(204, None), at).unwrap(),
        approval.failed(BY, outcome(409, Some(r#"{"error":{"code":"slot_taken"}}"#)), at).unwrap(),
        approval.denied("usr_0", reason, at).unwrap(),
        approval.denied("usr_0", None, at).unwrap(),
        approval.cancelled("svc_ak_0", at).unwrap(),
        approval.expired(approval.expires_at).unwrap(),
    ]
}

/// Every field survives, in every state.
pub async fn approvals_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (key, calendar) = (scene.asking_key().await, scene.shared_calendar().await);
    let plain = scene.make.approval(&key);
    let rich = Approval {
        summary: "Move \u{201c}Žluťoučký\u{201d} to 3 March, 9:00.".into(),
        request: WaitingRequest {
            target: "/v1/events/evt_0?notify=true".into(),
            content_type: Some("application/json; charset=utf-8".into()),
            if_match: Some("\"3\"".into()),
            language: Some("cs, en;q=0.5".into()),
            run: Some("plan".into()),
            body: "{\"title\":\"\u{0}\\u0000 診察 \u{1f40e}\"}".into(),
        },
        seen: vec![
            Seen { resource: "evt_0".into(), version: Version(3), digest: Some("q83v".into()) },
            Seen { resource: calendar.id.to_string(), version: Version(i64::MAX), digest: None },
        ],
        reserved: vec![Reserved { calendar: calendar.id, spans: vec![hours(1, 2), hours(25, 26)] }],
        mailed: vec![[0; 32], [255; 32]],
        expires_at: plain.expires_at + SignedDuration::micros(7),
        ..scene.make.approval(&key)
    };
    let at = plain.created_at + SignedDuration::micros(1);
    for approval in [plain, rich] {
        let kinds = decisions(&approval, at.max(approval.created_at)).len();
        for kind in 0..kinds {
            let asked = Approval { id: scene.make.approval(&key).id, ..approval.clone() };
            scene.ask(&asked).await;
            assert_eq!(scene.approval(asked.id).await.as_ref(), Some(&asked));
            let decided = decisions(&asked, at.max(asked.created_at)).swap_remove(kind);
            scene.try_decide(&asked, &decided).await.unwrap();
            assert_eq!(scene.approval(asked.id).await.as_ref(), Some(&decided));
        }
    }
    assert_eq!(scene.approval(scene.make.approval(&key).id).await, None);
}

/// The status of an approval is read without the rest, for its organization alone.
pub async fn the_status_of_an_approval_is_read_alone(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let key = scene.asking_key().await;
    let kinds = decisions(&scene.make.approval(&key), scene.make.tick()).len();
    for kind in 0..kinds {
        let asked = scene.asked(&key).await;
        let status = async || scene.store.approval_status(scene.org, asked.id).await.unwrap();
        assert_eq!(status().await, Some((Status::Pending, asked.expires_at)));
        let decided = decisions(&asked, asked.created_at).swap_remove(kind);
        scene.try_decide(&asked, &decided).await.unwrap();
        assert_eq!(status().await, Some((decided.state.status(), asked.expires_at)));
        assert_eq!(other.store.approval_status(other.org, asked.id).await.unwrap(), None);
    }
    let unknown = scene.make.approval(&key).id;
    assert_eq!(scene.store.approval_status(scene.org, unknown).await.unwrap(), None);
}

/// The newest come first, in pages, and a filter selects an agent and a status.
pub async fn approvals_are_listed(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (first, second) = (scene.asking_key().await, scene.asking_key().await);
    let mut all = Vec::new();
    for key in [&first, &second, &first, &second, &first] {
        all.push(scene.make.approval(key));
    }
    // Two at the same time are in the order of their identifiers.
    all[3].created_at = all[4].created_at;
    for approval in [3, 0, 4, 2, 1].map(|index: usize| &all[index]) {
        scene.ask(approval).await;
    }
    all.sort_by_key(|approval| std::cmp::Reverse((approval.created_at, approval.id)));
    let now = scene.make.tick();
    let expected = |agent: Option<AgentId>| -> Vec<ApprovalId> {
        let those = all.iter().filter(|approval| agent.is_none_or(|agent| approval.agent == agent));
        those.map(|approval| approval.id).collect()
    };
    for agent in [None, Some(first.agent), Some(second.agent)] {
        assert_eq!(scene.approvals(ApprovalFilter { agent, status: None }).await, expected(agent));
        let pending = ApprovalFilter { agent, status: Some((Status::Pending, now)) };
        assert_eq!(scene.approvals(pending).await, expected(agent));
    }
    for (limit, offset, listed) in [(2, 0, 0..2), (2, 2, 2..4), (2, 4, 4..5), (5, 0, 0..5), (2, 9, 0..0), (1, 5, 0..0)]
    {
        let page = Page { limit, offset };
        let found = scene.store.list_approvals(scene.org, ApprovalFilter::default(), page).await.unwrap();
        assert_eq!((found.data.as_slice(), found.total), (&all[listed], 5));
    }
    let of_first = ApprovalFilter { agent: Some(first.agent), status: Some((Status::Pending, now)) };
    let found = scene.store.list_approvals(scene.org, of_first, Page { limit: 1, offset: 1 }).await.unwrap();
    assert_eq!((found.data.len(), found.total), (1, 3));

    let denied = all[0].denied(BY, None, now).unwrap();
    scene.try_decide(&all[0], &denied).await.unwrap();
    for (status, count) in [(Status::Denied, 1), (Status::Pending, 4), (Status::Approved, 0), (Status::Expired, 0)] {
        let filter = ApprovalFilter { agent: None, status: Some((status, now)) };
        assert_eq!(scene.approvals(filter).await.len(), count, "{status:?}");
    }
}

/// The time of a filter decides whether a pending approval has expired. A decision outlasts that time.
pub async fn approvals_expire_in_lists(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let key = scene.asking_key().await;
    let approval = scene.asked(&key).await;
    let cancelled = scene.asked(&key).await;
    scene.try_decide(&cancelled, &cancelled.cancelled(BY, cancelled.created_at).unwrap()).await.unwrap();
    let (before, at) = (approval.expires_at - SignedDuration::micros(1), approval.expires_at);
    let with = async |status, at| scene.approvals(ApprovalFilter { agent: None, status: Some((status, at)) }).await;
    let count = async |now| scene.store.count_pending_approvals(scene.org, key.id, now).await.unwrap();
    assert_eq!((with(Status::Pending, before).await, with(Status::Expired, before).await), (vec![approval.id], vec![]));
    assert_eq!((with(Status::Pending, at).await, with(Status::Expired, at).await), (vec![], vec![approval.id]));
    assert_eq!((count(before).await, count(at).await), (1, 0));
    scene.try_decide(&approval, &approval.expired(at).unwrap()).await.unwrap();
    assert_eq!((with(Status::Pending, at).await, with(Status::Expired, at).await), (vec![], vec![approval.id]));
    assert_eq!(with(Status::Cancelled, at + SignedDuration::days(9)).await, [cancelled.id]);
    assert_eq!(count(before).await, 0);
}

/// The approvals of an organization that wait are read in the order in which they expire.
pub async fn what_expires_first_is_read_first(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (first, second) = (scene.asking_key().await, scene.asking_key().await);
    let expiring = |key: &ScopedKey, at| Approval { expires_at: hour(at), ..scene.make.approval(key) };
    // Two that expire at the same time are in the order of their identifiers.
    let mut all =
        [(&first, 13), (&second, 11), (&first, 12), (&second, 12), (&first, 10)].map(|(key, at)| expiring(key, at));
    for approval in &all {
        scene.ask(approval).await;
    }
    other.asked(&other.asking_key().await).await;
    all.sort_by_key(|approval| (approval.expires_at, approval.id));
    let waiting =
        async |at, limit| -> Vec<Approval> { scene.store.pending_approvals(scene.org, hour(at), limit).await.unwrap() };
    assert_eq!(waiting(9, 9).await, all);
    assert_eq!(waiting(9, 3).await, all[..3]);
    assert_eq!(waiting(10, 9).await, all[1..]);
    assert_eq!(waiting(13, 9).await, []);
    scene.try_decide(&all[2], &all[2].denied(BY, None, hour(9)).unwrap()).await.unwrap();
    assert_eq!(waiting(11, 1).await, all[3..4]);
    assert_eq!(waiting(11, 9).await, all[3..]);
}

/// Nobody reads, counts or decides the approvals of another organization.
pub async fn approvals_of_other_organizations_are_absent(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let approval = scene.asked(&scene.asking_key().await).await;
    assert_eq!(other.approval(approval.id).await, None);
    assert_eq!(other.approvals(ApprovalFilter::default()).await, []);
    let now = approval.created_at;
    assert_eq!(other.store.count_pending_approvals(other.org, approval.key, now).await.unwrap(), 0);
    let taken = Approval { org: other.org, ..approval.cancelled(BY, now).unwrap() };
    assert_refused!(other.try_decide(&approval, &taken).await, CommitError::Stale);
    assert_eq!(scene.approval(approval.id).await, Some(approval));
}

/// A page ends with the approval that reaches the limit in bytes.
pub async fn a_page_of_approvals_has_a_limit_in_bytes(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let key = scene.asking_key().await;
    for _ in 0..6 {
        let mut approval = scene.make.approval(&key);
        approval.request.body = "d".repeat(PAGE_BYTES_MAX / 4);
        scene.ask(&approval).await;
    }
    let page = async |offset| {
        let page = Page { limit: 9, offset };
        let listed = scene.store.list_approvals(scene.org, ApprovalFilter::default(), page).await.unwrap();
        (listed.data.len(), listed.total)
    };
    assert_eq!((page(0).await, page(4).await), ((4, 6), (2, 6)));
    assert_eq!(scene.store.overdue_approvals(hour(99), 9).await.unwrap().len(), 4);
}

/// A key has no more approvals that wait than it may have. Those that are decided or have expired do not count, and
/// neither do those of other keys.
pub async fn pending_approvals_of_a_key_are_limited(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (key, other) = (scene.asking_key().await, scene.asking_key().await);
    let mut waiting = Vec::new();
    for _ in 0..PENDING_MAX {
        waiting.push(scene.asked(&key).await);
    }
    let more = scene.make.approval(&key);
    let ask = |approval: &Approval| scene.approving(vec![Change::Ask(Box::new(approval.clone()))]);
    assert_refused!(scene.try_commit(ask(&more)).await, CommitError::Stale);
    assert_eq!(scene.approval(more.id).await, None);
    scene.asked(&other).await;
    let (first, second) = (&waiting[0], &waiting[1]);
    scene.try_decide(first, &first.denied(BY, None, more.created_at).unwrap()).await.unwrap();
    scene.ask(&more).await;
    let last = scene.make.approval(&key);
    assert_refused!(scene.try_commit(ask(&last)).await, CommitError::Stale);
    // Once another one has expired, there is room again.
    let later = Approval {
        created_at: second.expires_at,
        expires_at: second.expires_at + SignedDuration::hours(1),
        ..scene.make.approval(&key)
    };
    scene.ask(&later).await;
    assert_eq!(
        scene.store.count_pending_approvals(scene.org, key.id, last.created_at).await.unwrap(),
        PENDING_MAX + 1,
        "the expired one still waits at that time"
    );
}

/// The approvals of a key that wait are found, without those that are decided or have expired, and without those of others.
pub async fn pending_approvals_of_a_key_are_found(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (key, another) = (scene.asking_key().await, scene.asking_key().await);
    let later = scene.asked(&key).await;
    let sooner = Approval { expires_at: later.expires_at - SignedDuration::minutes(1), ..scene.make.approval(&key) };
    scene.ask(&sooner).await;
    scene.asked(&another).await;
    let denied = scene.asked(&key).await;
    let now = denied.created_at;
    scene.try_decide(&denied, &denied.denied(BY, None, now).unwrap()).await.unwrap();
    let found = async |now| scene.store.pending_approvals_of_key(scene.org, key.id, now).await.unwrap();
    assert_eq!(found(now).await, [sooner.clone(), later.clone()]);
    assert_eq!(found(sooner.expires_at).await, std::slice::from_ref(&later));
    assert_eq!(found(later.expires_at).await, []);
    assert_eq!(other.store.pending_approvals_of_key(other.org, key.id, now).await.unwrap(), []);
}

/// If many requests of one key ask for the last approval that may wait, one succeeds.
pub async fn the_last_approval_is_asked_for_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let key = scene.asking_key().await;
    for _ in 1..PENDING_MAX {
        scene.asked(&key).await;
    }
    let outcomes = race(TASKS, |_| {
        let (scene, key) = (scene.clone(), key.clone());
        async move {
            let approval = scene.make.approval(&key);
            scene.try_commit(scene.approving(vec![Change::Ask(Box::new(approval))])).await
        }
    })
    .await;
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(()) | Err(CommitError::Stale))), "{outcomes:?}");
    assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    let now = scene.make.tick();
    assert_eq!(scene.store.count_pending_approvals(scene.org, key.id, now).await.unwrap(), PENDING_MAX);
}

/// If many people decide an approval at once, one does, and that decision is kept.
pub async fn an_approval_is_decided_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let key = scene.asking_key().await;
    for _ in 0..4 {
        let approval = scene.asked(&key).await;
        let decided = decisions(&approval, approval.created_at);
        let outcomes = race(decided.len(), |task| {
            let (scene, approval, decided) = (scene.clone(), approval.clone(), decided[task].clone());
            async move { scene.try_decide(&approval, &decided).await }
        })
        .await;
        assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(()) | Err(CommitError::Stale))), "{outcomes:?}");
        assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
        let winner = outcomes.iter().position(Result::is_ok).unwrap();
        assert_eq!(scene.approval(approval.id).await.as_ref(), Some(&decided[winner]));
        for late in &decided {
            assert_refused!(scene.try_decide(&approval, late).await, CommitError::Stale);
        }
    }
    let unknown = scene.make.approval(&key);
    let decided = unknown.cancelled(BY, unknown.created_at).unwrap();
    assert_refused!(scene.try_decide(&unknown, &decided).await, CommitError::Stale);
}

/// A change-set whose other writes are refused neither asks nor decides, and neither does a dry run.
pub async fn a_decision_is_written_only_with_its_change(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (key, calendar) = (scene.asking_key().await, scene.shared_calendar().await);
    let event = scene.event(&calendar, hours(1, 2)).await;
    let (approval, another) = (scene.asked(&key).await, scene.make.approval(&key));
    let approved = approval.approved(BY, outcome(204, None), approval.created_at).unwrap();
    let changes = [decide(&approval, &approved), Change::Ask(Box::new(another.clone()))];
    for change in changes {
        let gone = event.deleted(hour(1)).unwrap();
        let update = Scheduled::UpdateEvent { event: gone, seen: event.version.next() };
        let refused = ChangeSet { calendars: vec![update], ..scene.approving(vec![change.clone()]) };
        assert_refused!(scene.try_commit(refused).await, CommitError::Stale);
        let dry = ChangeSet { dry_run: true, ..scene.approving(vec![change]) };
        assert_refused!(scene.try_commit(dry).await, CommitError::RolledBack);
    }
    assert_eq!(scene.approval(approval.id).await.as_ref(), Some(&approval));
    assert_eq!(scene.approval(another.id).await, None);
    let update = Scheduled::update(&event, event.deleted(hour(1)).unwrap());
    let changes = ChangeSet { calendars: vec![update], ..scene.approving(vec![decide(&approval, &approved)]) };
    scene.commit(changes).await;
    assert_eq!((scene.now(&event).await, scene.approval(approval.id).await), (None, Some(approved)));
}

/// The approvals of all organizations that nobody decided in time are found, the first to expire first, until that is
/// written.
pub async fn overdue_approvals_are_found(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (ours, theirs) = (scene.asking_key().await, other.asking_key().await);
    let expiring = |key: &ScopedKey, at| Approval { expires_at: hour(at), ..scene.make.approval(key) };
    let all = [expiring(&ours, 12), expiring(&theirs, 11), expiring(&ours, 10), expiring(&ours, 13)];
    for approval in &all {
        scene
            .commit(ChangeSet {
                approvals: vec![Change::Ask(Box::new(approval.clone()))],
                ..ChangeSet::new(approval.org)
            })
            .await;
    }
    let overdue = async |at, limit| -> Vec<Approval> { scene.store.overdue_approvals(hour(at), limit).await.unwrap() };
    assert_eq!(overdue(9, 9).await, []);
    assert_eq!(overdue(10, 9).await, [all[2].clone()]);
    assert_eq!(overdue(12, 9).await, [all[2].clone(), all[1].clone(), all[0].clone()]);
    assert_eq!(overdue(12, 2).await, [all[2].clone(), all[1].clone()]);
    scene.try_decide(&all[2], &all[2].expired(hour(10)).unwrap()).await.unwrap();
    scene.try_decide(&all[0], &all[0].denied(BY, None, hour(9)).unwrap()).await.unwrap();
    assert_eq!(overdue(99, 9).await, [all[1].clone(), all[3].clone()]);
}

/// What was decided or expired long ago is forgotten in slices, in all organizations.
pub async fn old_approvals_are_purged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (ours, theirs) = (scene.asking_key().await, other.asking_key().await);
    let denied = async |scene: &Scene, key: &ScopedKey, at| {
        let approval = scene.asked(key).await;
        scene.try_decide(&approval, &approval.denied(BY, None, hour(at)).unwrap()).await.unwrap();
        approval.id
    };
    let (first, last) = (denied(&scene, &ours, 2).await, denied(&scene, &ours, 5).await);
    let foreign = denied(&other, &theirs, 3).await;
    let overdue = Approval { expires_at: hour(4), ..scene.make.approval(&ours) };
    scene.ask(&overdue).await;
    let waiting = scene.asked(&ours).await;
    let purge = async |before, limit| scene.store.purge_approvals(hour(before), limit).await.unwrap();
    assert_eq!(purge(1, 9).await, 0);
    assert_eq!(purge(4, 1).await, 1);
    assert_eq!((scene.approval(first).await, other.approval(foreign).await.is_some()), (None, true));
    assert_eq!((purge(4, 9).await, purge(4, 9).await), (2, 0));
    assert_eq!((other.approval(foreign).await, scene.approval(overdue.id).await), (None, None));
    assert_eq!(scene.approvals(ApprovalFilter::default()).await, [waiting.id, last]);
    assert_eq!(purge(5, 9).await, 1);
    assert_eq!(scene.approvals(ApprovalFilter::default()).await, [waiting.id]);
}

/// A deleted account leaves no approval, and another organization keeps its own.
pub async fn approvals_end_with_their_organization(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (ours, theirs) = (scene.asked(&scene.asking_key().await).await, other.asked(&other.asking_key().await).await);
    let (seen, at) = (scene.organization().await.version, scene.make.tick());
    let deletion = kalends_accounts::Change::DeleteOrganization { org: scene.org, seen, at };
    scene.commit(scene.changes().account(deletion)).await;
    let decided = ours.cancelled(BY, at).unwrap();
    assert_refused!(scene.try_decide(&ours, &decided).await, CommitError::NoOrganization);
    while scene.store.remove_rows(scene.org, 9).await.unwrap() > 0 {}
    assert_eq!((scene.approval(ours.id).await, other.approval(theirs.id).await), (None, Some(theirs.clone())));
    assert_eq!(scene.store.overdue_approvals(theirs.expires_at, 9).await.unwrap(), [theirs]);
}

/// The times of an approval are reserved until its decision, or until they expire. Those of a proposal stay.
pub async fn reservations_of_an_approval_block_others(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (key, calendar) = (scene.asking_key().await, scene.shared_calendar().await);
    let (org, id, window) = (scene.org, calendar.id, hours(0, 9));
    let seen = scene.revision(&calendar).await;
    let spans = vec![hours(1, 2), hours(3, 4)];
    let asked = || {
        let reserved = vec![Reserved { calendar: id, spans: spans.clone() }];
        Approval { reserved, ..scene.make.approval(&key) }
    };
    let asking = |approval: &Approval| {
        let (owner, expires_at) = (approval.id.into(), approval.expires_at);
        let spans = approval.reserved.iter().flat_map(|reserved| &reserved.spans);
        let reservations = spans.map(|span| Reservation { owner, span: *span, expires_at }).collect();
        let reserve = Scheduled::Reserve { org, calendar: id, reservations };
        let guard = Guard::CalendarTime { calendar: id, seen, window };
        let changes = scene.approving(vec![Change::Ask(Box::new(approval.clone()))]).guard(guard);
        ChangeSet { calendars: vec![reserve], ..changes }
    };
    let (first, second) = (asked(), asked());
    scene.commit(asking(&first)).await;
    assert_refused!(scene.try_commit(asking(&second)).await, CommitError::Stale);
    assert_eq!(scene.approval(second.id).await, None);

    let proposal = ProposalId::new(scene.make.tick(), &scene.make.entropy).into();
    let theirs = Reservation { owner: proposal, span: hours(1, 2), expires_at: hour(20) };
    let reserve = Scheduled::Reserve { org, calendar: id, reservations: vec![theirs] };
    scene.commit(ChangeSet { calendars: vec![reserve], ..scene.changes() }).await;
    let reserved = async || {
        let mut reserved = scene.store.holds_within(org, id, window).await.unwrap().unwrap().reserved;
        reserved.sort();
        reserved
    };
    let own = |approval: &Approval| {
        let (owner, expires_at) = (approval.id.into(), approval.expires_at);
        let mut own: Vec<_> = spans.iter().map(|span| Reservation { owner, span: *span, expires_at }).collect();
        own.push(theirs);
        own.sort();
        own
    };
    assert_eq!(reserved().await, own(&first));
    assert!(scene.store.blocks(org, id, window, 9).await.unwrap().unwrap().held);

    let denied = first.denied(BY, None, first.created_at).unwrap();
    let end = Scheduled::Unreserve { org, calendar: id, owner: first.id.into() };
    let changes = ChangeSet { calendars: vec![end], ..scene.approving(vec![decide(&first, &denied)]) };
    scene.commit(changes.clone()).await;
    assert_refused!(scene.try_commit(changes).await, CommitError::Stale);
    assert_eq!(reserved().await, [theirs]);

    // Reservations that expired are forgotten, whatever reserved them.
    let third = Approval { expires_at: hour(12), ..asked() };
    let current = scene.revision(&calendar).await;
    let mut changes = asking(&third);
    changes.guards = vec![Guard::CalendarTime { calendar: id, seen: current, window }];
    scene.commit(changes).await;
    assert_eq!(reserved().await, own(&third));
    assert_eq!(scene.store.forget_reservations(hour(12) - SignedDuration::micros(1), 9).await.unwrap(), 0);
    assert_eq!(scene.store.forget_reservations(hour(12), 9).await.unwrap(), 2);
    assert_eq!(reserved().await, [theirs]);
    assert_eq!(scene.approval(third.id).await.map(|approval| approval.state), Some(State::Pending));
}
