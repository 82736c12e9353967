//! What the operator reads about the server and its organizations.

use std::collections::BTreeSet;

use kalends_accounts::{OrgName, Organization, OrganizationCounts, OrganizationSearch, Waitlist};
use kalends_app::ChangeSet;
use kalends_kernel::{Email, OrgId, Page};
use kalends_plans::{Metric, Plan};
use kalends_quotas::{Debit, Period};

use super::StoreUnderTest;
use crate::fixtures::{Compose as _, Fixtures};

async fn stored(store: &StoreUnderTest, organization: Organization) -> Organization {
    store.store.commit(ChangeSet::new(organization.id).create(&organization)).await.unwrap();
    organization
}

async fn found(store: &StoreUnderTest, text: &str, plan: Option<Plan>, waiting: Option<bool>) -> Vec<OrgId> {
    let search = OrganizationSearch::new(text, plan, waiting);
    let listed = store.store.find_organizations(&search, Page::default()).await.unwrap();
    assert_eq!(listed.total, listed.data.len() as u64, "{search:?}");
    assert!(listed.data.iter().all(|organization| search.matches(organization)), "{search:?}");
    listed.data.into_iter().map(|organization| organization.id).collect()
}

/// A search finds parts of names and addresses in upper and lower case, and whole identifiers. It finds `%` and `_` as
/// they are. The plan and the state narrow it. The newest organization comes first.
pub async fn organizations_are_searched(store: &StoreUnderTest) {
    assert_eq!(found(store, "", None, None).await, []);
    let make = Fixtures::new();
    let named = |name: &str| OrgName::from_stored(name.to_owned());
    let acme = stored(store, Organization { name: named("ACME 100%"), ..make.organization() }).await.id;
    let school = Organization {
        name: named("Étude_1 \u{1f40e}"),
        email: Some(Email::from_stored("Office@acme.example".to_owned())),
        plan: Plan::Free,
        waitlist: Waitlist::Since(make.tick()),
        ..make.organization()
    };
    let school = stored(store, school).await.id;
    let other = stored(store, Organization { name: named("Other"), plan: Plan::Free, ..make.organization() }).await.id;
    for (text, expected) in [
        ("", vec![other, school, acme]),
        ("acme", vec![school, acme]),
        ("AcMe", vec![school, acme]),
        ("office@", vec![school]),
        ("%", vec![acme]),
        ("_", vec![school]),
        ("Étude", vec![school]),
        ("\u{1f40e}", vec![school]),
        ("\0other\n", vec![other]),
        ("nobody", vec![]),
        ("\\", vec![]),
        ("'", vec![]),
    ] {
        assert_eq!(found(store, text, None, None).await, expected, "{text:?}");
    }
    assert_eq!(found(store, &school.to_string(), None, None).await, [school]);
    assert_eq!(found(store, &school.to_string(), Some(Plan::Custom), None).await, []);
    assert_eq!(found(store, "", Some(Plan::Free), None).await, [other, school]);
    assert_eq!(found(store, "", Some(Plan::Free), Some(true)).await, [school]);
    assert_eq!(found(store, "", None, Some(false)).await, [other, acme]);
    assert_eq!(found(store, "acme", Some(Plan::Custom), Some(true)).await, []);
    let counts = store.store.count_organizations().await.unwrap();
    assert_eq!(counts, OrganizationCounts { total: 3, waiting: 1 });
}

/// The pages of a search follow each other without gaps, and each has the total.
pub async fn organizations_are_read_in_pages(store: &StoreUnderTest) {
    let make = Fixtures::new();
    let mut all = Vec::new();
    for _ in 0..5 {
        all.push(stored(store, make.organization()).await);
    }
    all.reverse();
    let search = OrganizationSearch::new("acme", Some(Plan::Custom), Some(false));
    let page = async |limit, offset| store.store.find_organizations(&search, Page { limit, offset }).await.unwrap();
    for (limit, offset, expected) in [(2, 0, &all[..2]), (2, 2, &all[2..4]), (2, 4, &all[4..]), (5, 0, &all[..])] {
        let listed = page(limit, offset).await;
        assert_eq!((&*listed.data, listed.total), (expected, 5));
    }
    let behind = page(2, 6).await;
    assert_eq!((behind.data, behind.total), (vec![], 5));
    assert_eq!(page(2, u32::MAX).await.total, 5);
}

/// The waiting list has only organizations that wait, in the order in which they began to wait.
pub async fn the_organization_that_waits_longest_comes_first(store: &StoreUnderTest) {
    let make = Fixtures::new();
    stored(store, make.organization()).await;
    let (first, second, third) = (make.tick(), make.tick(), make.tick());
    let mut waiting = Vec::new();
    for since in [third, first, second] {
        let waitlist = Waitlist::Since(since);
        waiting.push(stored(store, Organization { waitlist, ..make.organization() }).await);
    }
    waiting.rotate_left(1);
    let page = async |limit, offset| store.store.waiting_organizations(Page { limit, offset }).await.unwrap();
    for (limit, offset, expected) in [(9, 0, &waiting[..]), (2, 0, &waiting[..2]), (2, 2, &waiting[2..])] {
        let listed = page(limit, offset).await;
        assert_eq!((&*listed.data, listed.total), (expected, 3));
    }
    assert_eq!(page(2, 4).await.total, 3);
}

/// The charges of a month are read for several organizations at once, without those of other months and organizations.
pub async fn use_is_read_for_several_organizations(store: &StoreUnderTest) {
    let make = Fixtures::new();
    let mut orgs = Vec::new();
    for _ in 0..3 {
        orgs.push(stored(store, make.organization()).await.id);
    }
    let month = make.period();
    for (org, metric, period, amount) in [
        (orgs[0], Metric::ApiCalls, month, 7),
        (orgs[0], Metric::Events, month, 2),
        (orgs[1], Metric::ApiCalls, month, 3),
        (orgs[1], Metric::ApiCalls, Period::of(month.end()), 100),
        (orgs[2], Metric::ApiCalls, month, 50),
    ] {
        let debit = Debit::new(period, amount, None).unwrap();
        store.store.debit(org, metric, &debit).await.unwrap();
    }
    let used = async |orgs: &[OrgId]| {
        let used = store.store.use_in_month(orgs, month).await.unwrap();
        used.into_iter().collect::<BTreeSet<_>>()
    };
    let expected = [(orgs[0], Metric::ApiCalls, 7), (orgs[0], Metric::Events, 2), (orgs[1], Metric::ApiCalls, 3)];
    assert_eq!(used(&orgs[..2]).await, BTreeSet::from(expected));
    assert_eq!(used(&[]).await, BTreeSet::new());
}

/// A store in a database reports its size.
pub async fn a_database_has_a_size(store: &StoreUnderTest) {
    stored(store, Fixtures::new().organization()).await;
    let bytes = store.store.database_bytes().await.unwrap();
    assert!(bytes.is_none_or(|bytes| bytes > 1_000), "{bytes:?}");
}

/// The backup that was recorded last counts, even if an earlier record has a later time.
pub async fn the_last_backup_is_remembered(store: &StoreUnderTest) {
    assert_eq!(store.store.last_backup().await.unwrap(), None);
    let make = Fixtures::new();
    let (first, second, third) = (make.tick(), make.tick(), make.tick());
    for at in [second, first, third, third, second] {
        store.store.record_backup(at).await.unwrap();
        assert_eq!(store.store.last_backup().await.unwrap(), Some(at));
    }
}
