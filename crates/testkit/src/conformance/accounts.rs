//! Organizations, keys and codes.

use kalends_accounts::{
    Acceptance, Change, Code, Credential, KeyHash, KeyKind, NewKey, NewSignUp, OrgName, Organization, Principal, Reach,
    SignUpSource, VerificationCode, Waitlist, reach::CallerKind, sign_up,
};
use kalends_app::{ChangeSet, ports::CommitError};
use kalends_kernel::{OrgId, Version};
use kalends_plans::{Limits, Metric, Plan};
use kalends_time::SignedDuration;
use serde_json::json;

use super::{
    StoreUnderTest,
    scene::{Scene, assert_refused, hours},
};
use crate::fixtures::{Compose, Fixtures, at};

/// Every field survives, empty and full, on every plan.
pub async fn organizations_round_trip(store: &StoreUnderTest) {
    let make = Fixtures::new();
    let full = Organization {
        name: OrgName::from_stored("Žluťoučký kůň 診察 🐎 'quoted' \"twice\" \\ %_".into()),
        limit_overrides: Some(json!({ "agents": 7, "events": null, "rate_per_second": 3 })),
        test: true,
        email: Some(make.email()),
        verified_at: Some(at("2099-12-31T23:59:59.999999Z")),
        waitlist: Waitlist::Since(at("2026-03-02T08:00:00.000001Z")),
        source: SignUpSource::Waitlist,
        accepted: Some(Acceptance { version: "2026-01-01 ✓".into(), at: at("1970-01-01T00:00:00Z") }),
        version: Version(41),
        ..make.organization()
    };
    let mut made = vec![full];
    made.extend(SignUpSource::ALL.map(|source| Organization { source, ..make.organization() }));
    made.extend(Plan::ALL.map(|plan| Organization { plan, ..make.organization() }));
    made.sort_by_key(|organization| organization.created_at);
    for organization in &made {
        store.store.commit(ChangeSet::new(organization.id).create(organization)).await.unwrap();
    }
    for organization in &made {
        let found = store.store.find_organization(organization.id).await.unwrap();
        assert_eq!(found.as_ref(), Some(organization));
        if let Some(email) = &organization.email {
            assert_eq!(store.store.find_by_email(email).await.unwrap(), found);
        }
    }
    assert_eq!(store.store.list_organizations().await.unwrap(), made);
}

/// The operator's list is ordered by creation, not by insertion or identifier.
pub async fn organizations_are_listed_by_creation(store: &StoreUnderTest) {
    assert_eq!(store.store.list_organizations().await.unwrap(), []);
    let make = Fixtures::new();
    let (first, second, third) = (make.organization(), make.organization(), make.organization());
    // The oldest has the highest identifier.
    let oldest = Organization { created_at: first.created_at - SignedDuration::hours(1), ..third };
    for organization in [&second, &oldest, &first] {
        store.store.commit(ChangeSet::new(organization.id).create(organization)).await.unwrap();
    }
    assert_eq!(store.store.list_organizations().await.unwrap(), [oldest, first, second]);
}

/// An account that was never created is absent, which is not an error.
pub async fn unknown_accounts_are_absent(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let nobody = OrgId::new(scene.make.tick(), &scene.make.entropy);
    assert_eq!(scene.store.find_organization(nobody).await.unwrap(), None);
    assert_eq!(scene.store.find_by_email(&scene.make.email()).await.unwrap(), None);
    assert_eq!(scene.store.find_code(nobody).await.unwrap(), None);
    assert_eq!(scene.store.find_code(scene.org).await.unwrap(), None);
    assert_eq!(scene.store.find_principal(KeyHash::of("svc_sk_unknown")).await.unwrap(), None);
}

/// An update is applied only if the row has the version that was seen.
pub async fn organizations_are_updated_only_at_the_version_seen(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let before = scene.organization().await;
    let full = Organization {
        name: OrgName::from_stored("Après".into()),
        plan: Plan::Pro,
        limit_overrides: Some(json!({ "agents": 7 })),
        email: Some(scene.make.email()),
        verified_at: Some(scene.make.tick()),
        waitlist: Waitlist::Since(scene.make.tick()),
        accepted: Some(scene.make.acceptance()),
        version: before.version.next(),
        ..before.clone()
    };
    scene.commit(scene.changes().update(&full, before.version)).await;
    assert_eq!(scene.organization().await, full);

    let late = Organization { version: before.version.next(), ..before.clone() };
    assert_refused!(scene.try_commit(scene.changes().update(&late, before.version)).await, CommitError::Stale);
    assert_eq!(scene.organization().await, full);

    // Clearing a field is an update like any other.
    let cleared = Organization { version: full.version.next(), ..before };
    scene.commit(scene.changes().update(&cleared, full.version)).await;
    assert_eq!(scene.organization().await, cleared);

    let missing = scene.make.organization();
    let changes = ChangeSet::new(missing.id).update(&missing, missing.version);
    assert_refused!(scene.try_commit(changes).await, CommitError::Stale);
    assert_eq!(scene.store.find_organization(missing.id).await.unwrap(), None);
}

/// Neither a new organization nor a changed one can take another's address. Having none is not a conflict.
pub async fn an_address_belongs_to_one_organization(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let owner = Organization { email: Some(scene.make.email()), ..scene.make.organization() };
    scene.commit(ChangeSet::new(owner.id).create(&owner)).await;

    let second = Organization { email: owner.email.clone(), ..scene.make.organization() };
    assert_refused!(scene.try_commit(ChangeSet::new(second.id).create(&second)).await, CommitError::EmailTaken);
    assert_eq!(scene.store.find_organization(second.id).await.unwrap(), None);

    let free = Organization { email: None, ..second.clone() };
    scene.commit(ChangeSet::new(free.id).create(&free)).await;
    let grasping = Organization { version: free.version.next(), ..second };
    let changes = ChangeSet::new(free.id).update(&grasping, free.version);
    assert_refused!(scene.try_commit(changes).await, CommitError::EmailTaken);
    assert_eq!(scene.store.find_organization(free.id).await.unwrap(), Some(free));

    // An organization keeps its own address.
    let renamed = Organization { version: owner.version.next(), ..owner.clone() };
    scene.commit(ChangeSet::new(owner.id).update(&renamed, owner.version)).await;
    let email = owner.email.unwrap();
    assert_eq!(scene.store.find_by_email(&email).await.unwrap(), Some(renamed));
}

/// A key of any kind identifies its organization, with the organization's plan, limits and terms.
pub async fn keys_are_found_by_their_hash(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let overrides = json!({ "agents": 7, "calendars": null, "rate_per_second": 3 });
    let accepted = Acceptance { version: "2026-01-01".into(), at: scene.make.tick() };
    let pro = Organization {
        plan: Plan::Pro,
        limit_overrides: Some(overrides.clone()),
        accepted: Some(accepted),
        waitlist: Waitlist::Since(scene.make.tick()),
        ..scene.make.organization()
    };
    scene.commit(ChangeSet::new(pro.id).create(&pro)).await;
    for kind in [KeyKind::Org, KeyKind::Restricted, KeyKind::Test] {
        let fresh = |org| NewKey::generate(org, kind, scene.make.tick(), &scene.make.entropy);
        let (plain_key, pro_key) = (fresh(scene.org), fresh(pro.id));
        scene.commit(scene.changes().create(&plain_key.key)).await;
        scene.commit(ChangeSet::new(pro.id).create(&pro_key.key)).await;
        let plain_principal = Principal {
            signed_in: None,
            approval: None,
            connector: None,
            credential: Credential::Key(plain_key.key.id),
            key_prefix: plain_key.key.prefix.clone(),
            org: scene.org,
            kind: CallerKind::of_key(kind),
            reach: Reach::Organization,
            waitlisted: false,
            plan: Plan::Custom,
            limits: Plan::Custom.limits(),
            accepted_terms: None,
        };
        let found = scene.store.find_principal(KeyHash::of(&plain_key.text)).await.unwrap();
        assert_eq!(found, Some(plain_principal));
        let pro_principal = Principal {
            signed_in: None,
            approval: None,
            connector: None,
            credential: Credential::Key(pro_key.key.id),
            key_prefix: pro_key.key.prefix.clone(),
            org: pro.id,
            kind: CallerKind::of_key(kind),
            reach: Reach::Organization,
            waitlisted: true,
            plan: Plan::Pro,
            limits: Plan::Pro.limits().overridden(&overrides).unwrap(),
            accepted_terms: Some("2026-01-01".into()),
        };
        let found = scene.store.find_principal(KeyHash::of(&pro_key.text)).await.unwrap();
        assert_eq!(found, Some(pro_principal));
    }
}

/// The principal of a key changes with its organization.
pub async fn principals_follow_their_organization(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let key = scene.make.key(scene.org).key;
    scene.commit(scene.changes().create(&key)).await;
    let seen =
        |principal: Principal| -> (Plan, Limits, bool) { (principal.plan, principal.limits, principal.waitlisted) };

    let before = scene.organization().await;
    let limited = before.on_plan(Plan::Free, Some(json!({ "events": 5 }))).unwrap();
    scene.commit(scene.changes().update(&limited, before.version)).await;
    let found = scene.store.find_principal(key.hash).await.unwrap().unwrap();
    assert_eq!(found.limits.get(Metric::Events), Some(5));
    assert_eq!(seen(found), (Plan::Free, limited.limits().unwrap(), false));

    let waiting = limited.with_waitlist(Waitlist::Since(scene.make.tick()));
    scene.commit(scene.changes().update(&waiting, limited.version)).await;
    let found = scene.store.find_principal(key.hash).await.unwrap().unwrap();
    assert_eq!(seen(found), (Plan::Free, limited.limits().unwrap(), true));

    let active = waiting.with_waitlist(Waitlist::Active).on_plan(Plan::Pro, None).unwrap();
    scene.commit(scene.changes().update(&active, waiting.version)).await;
    let found = scene.store.find_principal(key.hash).await.unwrap().unwrap();
    assert_eq!(seen(found), (Plan::Pro, Plan::Pro.limits(), false));
}

/// The epoch rises with every change of an organization that can change its principals, and only then.
pub async fn the_epoch_rises_with_changes_of_organizations(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let epoch = async || scene.store.principals_epoch().await.unwrap();
    let mut organization = scene.organization().await;
    for _ in 0..3 {
        let before = epoch().await;
        let next = organization.on_plan(Plan::Pro, None).unwrap();
        scene.commit(scene.changes().update(&next, organization.version)).await;
        assert!(epoch().await > before, "the epoch rises");
        organization = next;
    }
    let before = epoch().await;
    let stale = organization.on_plan(Plan::Free, None).unwrap();
    assert_refused!(scene.try_commit(scene.changes().update(&stale, Version::FIRST)).await, CommitError::Stale);
    let calendar = scene.shared_calendar().await;
    scene.event(&calendar, hours(1, 2)).await;
    assert_eq!(epoch().await, before, "no key is affected");
    let renamed = organization.named(OrgName::parse("name", "Another name").unwrap());
    let mut changes = scene.changes().update(&renamed, organization.version);
    changes.keeps_principals = true;
    scene.commit(changes).await;
    assert_eq!(scene.organization().await, renamed);
    assert_eq!(epoch().await, before, "no principal has the name");
}

/// A code is stored if there is none, and is then replaced only at the version that was seen.
pub async fn codes_are_replaced_only_at_the_version_seen(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let put = async |code: &VerificationCode, seen: Option<Version>| {
        scene.try_commit(scene.changes().account(Change::PutCode { code: code.clone(), seen })).await
    };
    let stored = async || scene.store.find_code(scene.org).await.unwrap();

    let first = scene.make.code(scene.org);
    assert_refused!(put(&first, Some(Version::FIRST)).await, CommitError::Stale);
    assert_eq!(stored().await, None);
    put(&first, None).await.unwrap();
    assert_eq!(stored().await.as_ref(), Some(&first));

    let tried = VerificationCode { attempts: 10, version: first.version.next(), ..first.clone() };
    assert_refused!(put(&tried, None).await, CommitError::Stale);
    assert_refused!(put(&tried, Some(tried.version)).await, CommitError::Stale);
    put(&tried, Some(first.version)).await.unwrap();
    assert_eq!(stored().await.as_ref(), Some(&tried));
    assert_refused!(put(&first, Some(first.version)).await, CommitError::Stale);

    let code = Code::generate(&scene.make.entropy);
    let fresh = VerificationCode::issue(scene.org, &code, Some(tried.version), scene.make.tick());
    put(&fresh, Some(tried.version)).await.unwrap();
    assert_eq!(stored().await, Some(fresh));

    let other = scene.other_organization().await;
    assert_eq!(other.store.find_code(other.org).await.unwrap(), None);
}

/// A sign-up is one change-set: organization, key, code and acceptance.
pub async fn a_sign_up_is_one_change_set(store: &StoreUnderTest) {
    let make = Fixtures::new();
    let new = NewSignUp { email: make.email(), agent_name: "Ada's agent".into(), acceptance: make.acceptance() };
    let now = make.tick();
    let signed = sign_up(OrgId::new(now, &make.entropy), &new, now, &make.entropy);
    let org = signed.organization.id;
    let code = VerificationCode::issue(org, &signed.code, None, now);
    let changes = ChangeSet::new(org)
        .create(&signed.organization)
        .create(&signed.key.key)
        .account(Change::PutCode { code: code.clone(), seen: None })
        .account(Change::RecordAcceptance { org, acceptance: new.acceptance.clone() });
    store.store.commit(changes).await.unwrap();
    assert_eq!(store.store.find_by_email(&new.email).await.unwrap(), Some(signed.organization));
    assert_eq!(store.store.find_code(org).await.unwrap(), Some(code));
    let principal = store.store.find_principal(KeyHash::of(&signed.key.text)).await.unwrap().unwrap();
    assert_eq!((principal.org, principal.plan), (org, Plan::FreeAgentUnverified));
}

/// An organization can accept the same terms again: the record only grows.
pub async fn acceptances_are_recorded_each_time(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let acceptance = scene.make.acceptance();
    for _ in 0..2 {
        let change = Change::RecordAcceptance { org: scene.org, acceptance: acceptance.clone() };
        scene.commit(scene.changes().account(change)).await;
    }
}
