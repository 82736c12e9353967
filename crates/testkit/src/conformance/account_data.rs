//! Reading and purging the audit log, allowances, exports, and deleted accounts.

use std::collections::BTreeSet;

use kalends_accounts::{
    Acceptance, Action, Allowance, ApprovalPolicy, ApprovedWrites, AuditCursor, AuditEntry, AuditRange, AuditSearch,
    Change, ConnectorAccess, KeyLabel, KeyView, Organization, Scope, ScopedKey, Scopes, Taken, Used,
};
use kalends_app::{ChangeSet, ports::CommitError};
use kalends_calendars::Event;
use kalends_kernel::{ConnectorClientId, Version};
use kalends_plans::{Metric, Plan};
use kalends_quotas::Period;
use kalends_time::{SignedDuration, Timestamp};

use super::{
    StoreUnderTest,
    scene::{Scene, assert_refused, hours, race},
};
use crate::fixtures::Compose;

/// How many tasks run at once.
const TASKS: usize = 24;

/// A query for the whole log.
fn everything(limit: u32) -> AuditSearch {
    let range = AuditRange { from: None, to: Timestamp::from_micros(i64::MAX), clamped: false, retention_days: None };
    AuditSearch { range, action: None, actor_key_prefix: None, agent: None, after: None, limit }
}

impl Scene {
    async fn log(&self, search: &AuditSearch) -> Vec<AuditEntry> {
        self.store.audit_page(self.org, search).await.unwrap()
    }

    /// Stores the entries, each under a later identifier than the previous one.
    async fn record(&self, count: usize, form: impl Fn(usize, AuditEntry) -> AuditEntry) -> Vec<AuditEntry> {
        let mut made = Vec::new();
        for index in 0..count {
            let entry = form(index, self.make.audit_entry(self.org));
            self.commit(self.changes().audit(entry.clone())).await;
            made.push(entry);
        }
        made
    }
}

/// The log is read newest first, in pages without gaps and repetitions, even within one timestamp.
pub async fn the_audit_log_is_read_in_pages(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let instant = scene.make.tick();
    let at = |index: usize| instant + SignedDuration::micros([0, 0, 0, 1, 1, -1, 2][index]);
    let mut made = scene.record(7, |index, entry| AuditEntry { created_at: at(index), ..entry }).await;
    let other = scene.other_organization().await;
    other.record(2, |_, entry| entry).await;
    made.sort_by_key(|entry| std::cmp::Reverse((entry.created_at, entry.id)));
    for limit in [1, 2, 3, 7, 200] {
        let (mut read, mut after) = (Vec::new(), None);
        loop {
            let page = scene.log(&AuditSearch { after, ..everything(limit) }).await;
            assert!(page.len() <= limit as usize);
            let Some(last) = page.last() else { break };
            after = Some(AuditCursor::after(last));
            read.extend(page);
        }
        assert_eq!(read, made, "{limit}");
    }
}

/// The log is filtered by range (half-open), action, key and agent.
pub async fn the_audit_log_is_filtered(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let action = |index: usize| if index.is_multiple_of(2) { Action::EventCreate } else { Action::KeyDelete };
    let key = |index: usize| (index < 4).then(|| format!("svc_sk_{}", index % 3));
    let agents = [scene.make.agent(scene.org).id, scene.make.agent(scene.org).id];
    let agent = |index: usize| (index < 5).then(|| agents[usize::from(index == 3)]);
    let made = scene
        .record(6, |index, entry| AuditEntry {
            action: action(index),
            actor_key_prefix: key(index),
            agent: agent(index),
            ..entry
        })
        .await;
    let within = |from: Option<Timestamp>, to: Timestamp| AuditSearch {
        range: AuditRange { from, to, clamped: false, retention_days: Some(3) },
        ..everything(200)
    };
    let last = Timestamp::from_micros(i64::MAX);
    let search = [
        everything(200),
        within(Some(made[1].created_at), made[4].created_at),
        within(Some(made[2].created_at), made[2].created_at),
        within(None, made[3].created_at),
        AuditSearch { action: Some(Action::KeyDelete), ..everything(200) },
        AuditSearch { action: Some(Action::AuthSignin), ..everything(200) },
        AuditSearch { actor_key_prefix: Some("svc_sk_0".into()), ..everything(200) },
        AuditSearch { actor_key_prefix: Some("svc_sk_".into()), ..everything(200) },
        AuditSearch { agent: Some(agents[0]), ..everything(200) },
        AuditSearch { agent: Some(agents[1]), action: Some(Action::KeyDelete), ..everything(200) },
        AuditSearch {
            action: Some(Action::EventCreate),
            actor_key_prefix: Some("svc_sk_2".into()),
            after: Some(AuditCursor::after(&made[5])),
            ..within(Some(made[0].created_at), last)
        },
    ];
    let mut found = BTreeSet::new();
    for search in &search {
        let expected: Vec<_> = made.iter().rev().filter(|entry| search.matches(entry)).cloned().collect();
        found.insert(expected.len());
        assert_eq!(scene.log(search).await, expected, "{search:?}");
    }
    assert_eq!(found, BTreeSet::from([0, 1, 2, 3, 4, 6]), "the questions tell something apart");
}

/// Entries that are too old for the plan are removed in batches, and nothing else is.
pub async fn the_audit_log_is_purged_by_plan(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let mut logs = Vec::new();
    for plan in [Plan::Free, Plan::Pro, Plan::Free] {
        let organization = Organization { plan, ..scene.make.organization() };
        scene.commit(ChangeSet::new(organization.id).create(&organization)).await;
        let scene = Scene { org: organization.id, ..scene.clone() };
        logs.push((plan, scene.record(5, |_, entry| entry).await, scene));
    }
    let before = logs[2].1[3].created_at;
    let purge = async |limit| scene.store.purge_audit(Plan::Free, before, limit).await.unwrap();
    assert_eq!((purge(6).await, purge(6).await, purge(6).await), (6, 2, 0));
    for (plan, made, scene) in &logs {
        let kept: Vec<_> =
            made.iter().rev().filter(|entry| *plan != Plan::Free || entry.created_at >= before).cloned().collect();
        assert_eq!(scene.log(&everything(200)).await, kept);
    }
}

/// Uses are granted up to the limit, and then refused until the window ends. Each scope counts separately.
pub async fn allowances_are_counted(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let now = scene.make.tick();
    for allowance in [Allowance::feedback(scene.org), Allowance::exports(scene.org)] {
        let take = async |now| scene.store.take(&allowance, now).await.unwrap();
        let mut kept = None;
        for number in 0..allowance.limited.count() {
            let now = now + SignedDuration::minutes(i64::from(number));
            let taken = take(now).await;
            assert_eq!(taken, allowance.take(kept, now));
            let Taken::Granted(used) = taken else { panic!("{taken:?}") };
            kept = Some(used);
        }
        let late = now + SignedDuration::minutes(59);
        let Taken::Refused { retry_after } = take(late).await else { panic!("the limit was exceeded") };
        assert_eq!(kept.map(|used| used.until), Some(late + retry_after));
        assert!(matches!(take(late + retry_after - SignedDuration::micros(1)).await, Taken::Refused { .. }));
        assert!(matches!(take(late + retry_after).await, Taken::Granted(Used { count: 1, .. })));
    }
    let elsewhere = Allowance { scope: [9; 32], org: None, ..Allowance::exports(scene.org) };
    assert!(matches!(scene.store.take(&elsewhere, now).await.unwrap(), Taken::Granted(Used { count: 1, .. })));
}

/// Concurrent uses are granted exactly as often as consecutive ones.
pub async fn concurrent_uses_never_exceed_an_allowance(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let now = scene.make.tick();
    for allowance in [Allowance::feedback(scene.org), Allowance::exports(scene.org)] {
        let taken = race(2 * TASKS, |_| {
            let scene = scene.clone();
            async move { scene.store.take(&allowance, now).await.unwrap() }
        })
        .await;
        let granted = taken.iter().filter(|taken| matches!(taken, Taken::Granted(_))).count();
        assert_eq!(granted, allowance.limited.count() as usize);
    }
}

/// A use is given back to the window in which it was taken, once each, and never below zero. Each scope counts
/// separately.
pub async fn allowances_are_given_back(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let now = scene.make.tick();
    let (allowance, other) = (Allowance::exports(scene.org), Allowance::feedback(scene.org));
    let take = async |now| scene.store.take(&allowance, now).await.unwrap();
    let give_back = async |until| scene.store.give_back(&allowance, until).await.unwrap();
    give_back(now).await;
    let Taken::Granted(mut kept) = take(now).await else { panic!("the first use was refused") };
    assert!(matches!(scene.store.take(&other, now).await.unwrap(), Taken::Granted(Used { count: 1, .. })));
    let first = kept.until;
    for until in [first + SignedDuration::micros(1), first, first, first - SignedDuration::micros(1), first] {
        give_back(until).await;
        kept = kept.given_back(until);
        let taken = take(now).await;
        assert_eq!(taken, allowance.take(Some(kept), now));
        let Taken::Granted(used) = taken else { panic!("{taken:?}") };
        kept = used;
    }
    for _ in 0..9 {
        give_back(first).await;
    }
    assert_eq!(take(now).await, Taken::Granted(Used { count: 1, until: first }), "never below zero");
    for count in 2..=10 {
        assert_eq!(take(now).await, Taken::Granted(Used { count, until: first }));
    }
    assert!(matches!(take(now).await, Taken::Refused { .. }));
    give_back(first).await;
    assert_eq!(take(now).await, Taken::Granted(Used { count: 10, until: first }));
    // A use of a past window is not given back to the next one.
    assert!(matches!(take(first).await, Taken::Granted(Used { count: 1, .. })));
    give_back(first).await;
    assert!(matches!(take(first).await, Taken::Granted(Used { count: 2, .. })));
    assert!(matches!(scene.store.take(&other, now).await.unwrap(), Taken::Granted(Used { count: 2, .. })));
}

/// Expired counts are removed in batches, and the others are kept.
pub async fn expired_allowances_are_purged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let now = scene.make.tick();
    let allowance = |scope: u8| Allowance { scope: [scope; 32], ..Allowance::exports(scene.org) };
    for scope in 1..=5 {
        let at = now + SignedDuration::hours(i64::from(scope));
        assert!(matches!(scene.store.take(&allowance(scope), at).await.unwrap(), Taken::Granted(_)));
    }
    let forget = async |limit| scene.store.forget_allowances(now + SignedDuration::hours(5), limit).await.unwrap();
    assert_eq!((forget(3).await, forget(3).await, forget(3).await), (3, 1, 0));
    // The remaining allowance has been used once.
    let at = now + SignedDuration::hours(5);
    let mut granted = 0;
    for _ in 0..20 {
        granted += u32::from(matches!(scene.store.take(&allowance(5), at).await.unwrap(), Taken::Granted(_)));
    }
    assert_eq!(granted, 9);
}

/// An export has the keys, usage and acceptances of this organization only, in order.
pub async fn an_account_is_exported(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let keys: Vec<_> = (0..3).map(|_| scene.make.key(scene.org).key).collect();
    for key in keys.iter().rev() {
        scene.commit(scene.changes().create(key)).await;
    }
    other.commit(other.changes().create(&other.make.key(other.org).key)).await;
    let listed = keys.into_iter().map(|key| KeyView {
        id: key.id,
        prefix: key.prefix,
        agent: None,
        label: None,
        scopes: Scopes::NONE,
        approval: None,
        connector: None,
        created_at: key.created_at,
        created_by: None,
        last_used_on: None,
    });
    let mut listed: Vec<_> = listed.collect();
    // Only agent keys that are in force: not those of a decommissioned agent, and not revoked ones.
    let (agent, gone) = (scene.agent().await, scene.agent().await);
    for (agent, label) in [(&agent, None), (&gone, None), (&agent, Some("laptop")), (&agent, Some("revoked"))] {
        let label = label.map(|label: &str| KeyLabel::from_stored(label.to_owned()));
        let scopes = label.iter().map(|_| Scope::FreebusyOrg).collect();
        let now = scene.make.tick();
        let policy = ApprovalPolicy { covers: ApprovedWrites::All, lasts: SignedDuration::hours(2) };
        let client = ConnectorClientId::new(now, &scene.make.entropy);
        let access = ConnectorAccess { client, expires_at: now };
        let (approval, connector) = label.as_ref().map(|_| (policy, access)).unzip();
        let key = ScopedKey { label, scopes, approval, connector, ..scene.make.scoped_key(agent).key };
        scene.commit(scene.changes().create(&key)).await;
        listed.push(KeyView {
            id: key.id,
            prefix: key.prefix,
            agent: Some(agent.id),
            label: key.label,
            scopes: key.scopes,
            approval: key.approval,
            connector: key.connector,
            created_at: key.created_at,
            created_by: key.created_by,
            last_used_on: None,
        });
    }
    let revoked = listed.pop().unwrap();
    let revocation = Change::RevokeKey { org: scene.org, key: revoked.id, at: scene.make.tick() };
    scene.commit(scene.changes().account(revocation)).await;
    scene.decommission(&gone).await;
    listed.retain(|key| key.agent != Some(gone.id));
    assert_eq!(listed.len(), 5);
    assert_eq!(scene.store.keys_in_force(scene.org).await.unwrap(), listed);

    let charge = scene.make.charge(None);
    let more = kalends_app::Charge { metric: Metric::ApiCalls, amount: 7, ..charge };
    scene.commit(scene.changes().charge(charge).charge(more)).await;
    let used = scene.store.use_by_month(scene.org).await.unwrap();
    assert_eq!(used, [(charge.period, Metric::ApiCalls, 7), (charge.period, Metric::Events, 1)]);
    assert_eq!(other.store.use_by_month(other.org).await.unwrap(), []);

    let accepted: Vec<Acceptance> = (0..2).map(|_| scene.make.acceptance()).collect();
    for acceptance in accepted.iter().rev() {
        let change = Change::RecordAcceptance { org: scene.org, acceptance: acceptance.clone() };
        scene.commit(scene.changes().account(change)).await;
    }
    assert_eq!(scene.store.acceptances(scene.org).await.unwrap(), accepted);
    assert_eq!(other.store.acceptances(other.org).await.unwrap(), []);
}

/// The charges since a month are read together with what exists now. Earlier and later months are left out.
pub async fn the_use_since_a_month_is_read_with_what_exists(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let agent = scene.agent().await;
    scene.calendar(&agent).await;
    let this = scene.make.period();
    let (last, next) = (Period::of(this.start() - SignedDuration::micros(1)), Period::of(this.end()));
    let mut changes = scene.changes();
    for (period, amount) in [(Period::of(last.start() - SignedDuration::micros(1)), 1), (last, 2), (this, 3), (next, 4)]
    {
        changes = changes.charge(kalends_app::Charge { period, amount, ..scene.make.charge(None) });
    }
    scene.commit(changes).await;
    let now = this.start();
    let mut used = scene.store.use_since(scene.org, last, now).await.unwrap();
    used.retain(|(_, _, used)| *used > 0);
    used.sort_by_key(|(period, metric, _)| (*period, metric.as_str()));
    let counted = [(None, Metric::Agents, 1), (None, Metric::Calendars, 1)];
    let charged = [(Some(last), Metric::Events, 2), (Some(this), Metric::Events, 3)];
    used.retain(|(_, metric, _)| *metric != Metric::WebhookEndpoints);
    assert_eq!(used, [&counted[..], &charged[..]].concat());

    let of_others = other.store.use_since(other.org, last, now).await.unwrap();
    assert!(of_others.iter().all(|(period, metric, _)| period.is_none() && *metric != Metric::Events));
    let mut usage = scene.store.usage(scene.org, this, now).await.unwrap();
    let since = scene.store.use_since(scene.org, this, now).await.unwrap();
    let mut since: Vec<_> = since.into_iter().map(|(_, metric, used)| (metric, used)).collect();
    usage.sort_unstable();
    since.sort_unstable();
    assert_eq!(since, usage, "of one month, both are the same");
}

/// A deleted account is unknown at once, and its rows are removed in batches. Another organization keeps everything.
pub async fn a_deleted_account_leaves_nothing(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    for scene in [&scene, &other] {
        let agent = scene.agent().await;
        let calendar = scene.calendar(&agent).await;
        for hour in 0..5 {
            scene.event(&calendar, hours(hour, hour + 1)).await;
        }
        let changes = scene
            .changes()
            .create(&scene.make.key(scene.org).key)
            .account(Change::PutCode { code: scene.make.code(scene.org), seen: None })
            .account(Change::RecordAcceptance { org: scene.org, acceptance: scene.make.acceptance() })
            .charge(scene.make.charge(None))
            .message(scene.make.message(scene.org))
            .audit(scene.make.audit_entry(scene.org));
        scene.commit(changes).await;
    }
    let (organization, theirs) = (scene.organization().await, other.organization().await);
    let key = scene.make.key(scene.org).key;
    scene.commit(scene.changes().create(&key)).await;
    let kept = other.observe().await;
    let epoch = scene.store.principals_epoch().await.unwrap();

    let at = scene.make.tick();
    let deletion = |seen| scene.changes().account(Change::DeleteOrganization { org: scene.org, seen, at });
    assert_refused!(scene.try_commit(deletion(Version(77))).await, CommitError::Stale);
    assert!(scene.store.find_principal(key.hash).await.unwrap().is_some());
    assert_eq!(scene.store.deletions(9).await.unwrap(), []);
    scene.commit(deletion(organization.version)).await;
    assert_refused!(scene.try_commit(deletion(organization.version)).await, CommitError::Stale);
    assert!(scene.store.principals_epoch().await.unwrap() > epoch, "cached keys are invalidated");
    assert_eq!(scene.store.find_principal(key.hash).await.unwrap(), None);
    assert_eq!(scene.store.find_organization(scene.org).await.unwrap(), None);
    assert_eq!(scene.store.acceptances(scene.org).await.unwrap(), []);
    assert_eq!(scene.store.deletions(9).await.unwrap(), [(scene.org, at)]);

    let mut batches = 0;
    while scene.store.remove_rows(scene.org, 2).await.unwrap() > 0 {
        batches += 1;
        assert!(batches < 100, "the removal ends");
    }
    assert!(batches > 1, "the rows are removed in batches");
    scene.store.end_deletion(scene.org).await.unwrap();
    assert_eq!(scene.store.deletions(9).await.unwrap(), []);
    let left = scene.observe().await;
    assert_eq!(left.organizations, [theirs]);
    assert_eq!((left.agents.len(), left.calendars.len(), left.messages.len(), left.audit.len()), (0, 0, 0, 0));
    assert!(left.code.is_none() && left.used.iter().all(|used| *used == 0));
    let now = other.observe().await;
    assert_eq!((now.agents, now.calendars, now.events), (kept.agents, kept.calendars, kept.events));
    assert_eq!((now.messages, now.audit, now.used, now.code), (kept.messages, kept.audit, kept.used, kept.code));
}

/// If several callers delete or change an account at once, one succeeds. A deleted account stays deleted.
pub async fn an_account_is_deleted_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for _ in 0..4 {
        let organization = scene.make.organization();
        scene.commit(ChangeSet::new(organization.id).create(&organization)).await;
        let outcomes = race(TASKS, |index| {
            let (scene, organization) = (scene.clone(), organization.clone());
            async move {
                let (org, seen) = (organization.id, organization.version);
                let changes = ChangeSet::new(org);
                let changes = if index.is_multiple_of(2) {
                    changes.account(Change::DeleteOrganization { org, seen, at: scene.make.tick() })
                } else {
                    changes.update(&organization.on_plan(Plan::Pro, None).unwrap(), seen)
                };
                scene.try_commit(changes).await.map(|()| index.is_multiple_of(2))
            }
        })
        .await;
        let won: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().ok()).collect();
        assert_eq!(won.len(), 1, "{outcomes:?}");
        let found = scene.store.find_organization(organization.id).await.unwrap();
        assert_eq!(found.is_none(), *won[0]);
        assert_eq!(scene.store.deletions(99).await.unwrap().iter().any(|(org, _)| *org == organization.id), *won[0]);
    }
}

/// After an account is deleted, requests that were under way write nothing for it, and nothing is written for an
/// organization that never existed. Only the change-set that creates an organization does not need one.
pub async fn nothing_is_added_to_a_deleted_account(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (agent, other) = (scene.agent().await, scene.other_organization().await);
    let (calendar, theirs) = (scene.calendar(&agent).await, other.shared_calendar().await);
    let kept = scene.make.answer();
    scene.commit(scene.changes().answer(kept.clone())).await;
    let (org, seen) = (scene.org, scene.organization().await.version);
    scene.commit(scene.changes().account(Change::DeleteOrganization { org, seen, at: scene.make.tick() })).await;

    let late = |scene: &Scene| {
        let (make, org) = (&scene.make, scene.org);
        vec![
            scene.changes(),
            scene.changes().create(&make.agent(org)),
            scene.changes().create(&make.shared_calendar(org)),
            scene.changes().create(&make.key(org).key),
            scene.changes().account(Change::PutCode { code: make.code(org), seen: None }),
            scene.changes().account(Change::RecordAcceptance { org, acceptance: make.acceptance() }),
            scene.changes().charge(make.charge(None)),
            scene.changes().message(make.message(org)),
            scene.changes().audit(make.audit_entry(org)),
            scene.changes().answer(make.answer()),
        ]
    };
    let event = scene.make.event(&calendar, hours(1, 2));
    let of_calendars = vec![
        scene.changes().create(&event),
        scene.changes().create(&scene.make.rules(&calendar)),
        scene.changes().create(&scene.make.scoped_key(&agent).key),
        scene.changes().update(&calendar.deleted(scene.make.tick()), calendar.version),
    ];
    let nobody = Scene { org: scene.make.organization().id, ..scene.clone() };
    for changes in [late(&scene), of_calendars, late(&nobody)].concat() {
        assert_refused!(scene.try_commit(changes).await, CommitError::NoOrganization);
    }
    // A repetition still gets its answer.
    let repeated = scene.changes().audit(scene.make.audit_entry(org)).answer(kept);
    assert_refused!(scene.try_commit(repeated).await, CommitError::AlreadyAnswered);

    // Concurrent changes of other organizations are applied.
    let outcomes = race(TASKS, |index| {
        let theirs = scene.make.event(&theirs, hours(1, 2));
        let changes = if index.is_multiple_of(3) {
            scene.changes().create(&Event { id: scene.make.event(&calendar, hours(1, 2)).id, ..event.clone() })
        } else {
            other.changes().create(&theirs)
        };
        let scene = scene.clone();
        async move { scene.try_commit(changes).await }
    })
    .await;
    for (index, outcome) in outcomes.into_iter().enumerate() {
        match outcome {
            Err(CommitError::NoOrganization) if index.is_multiple_of(3) => {}
            Ok(()) if !index.is_multiple_of(3) => {}
            other => panic!("{index}: {other:?}"),
        }
    }
    while scene.store.remove_rows(org, 200).await.unwrap() > 0 {}
    let left = scene.observe().await;
    assert_eq!((left.agents.len(), left.calendars.len(), left.messages.len(), left.audit.len()), (0, 0, 0, 0));
    assert_eq!(scene.store.acceptances(org).await.unwrap(), []);
}

/// Rows that are added while an account is being deleted are removed with it: no row appears after the last one is
/// gone.
pub async fn no_row_outlives_its_account(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for _ in 0..4 {
        let doomed = scene.other_organization().await;
        let calendar = doomed.shared_calendar().await;
        let (org, seen) = (doomed.org, doomed.organization().await.version);
        let outcomes = race(TASKS, |index| {
            let (doomed, calendar) = (doomed.clone(), calendar.clone());
            async move {
                let make = &doomed.make;
                match index % 4 {
                    0 if index == 0 => {
                        let changes = doomed.changes();
                        let deletion = Change::DeleteOrganization { org, seen, at: make.tick() };
                        doomed.commit(changes.account(deletion)).await;
                        // The rows are removed later, but the feed cannot be read any more.
                        let token = calendar.feed_token.reveal();
                        assert_eq!(doomed.store.calendar_of_feed(token).await.unwrap(), None);
                        while doomed.store.remove_rows(org, 200).await.unwrap() > 0 {}
                        Ok(())
                    }
                    0 | 1 => doomed.try_commit(doomed.changes().create(&make.event(&calendar, hours(1, 2)))).await,
                    2 => doomed.try_commit(doomed.changes().create(&make.agent(org)).charge(make.charge(None))).await,
                    _ => doomed.try_commit(doomed.changes().audit(make.audit_entry(org))).await,
                }
            }
        })
        .await;
        for outcome in outcomes {
            assert!(matches!(outcome, Ok(()) | Err(CommitError::NoOrganization)), "{outcome:?}");
        }
        assert_eq!(doomed.store.remove_rows(org, 200).await.unwrap(), 0, "nothing was added later");
        let left = doomed.observe().await;
        assert_eq!((left.agents.len(), left.calendars.len(), left.audit.len()), (0, 0, 0));
    }
}
