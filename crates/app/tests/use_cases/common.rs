//! What the tests begin with: a process over the in-memory store, callers, and their requests.

use std::sync::Arc;

use kalends_accounts::{Credential, Organization, Principal, Reach, reach::CallerKind};
use kalends_app::{Actor, MemoryRateLimiter, Parts, Request, operations::Operation};
use kalends_kernel::{KeyId, RequestId};
use kalends_testkit::{
    Mailbox, MemoryStore, NoCalendarProviders, NoFetcher, NoProviders, NoSender, TestPasswords, TestTokens,
    fixtures::{Fixtures, settings},
};
use kalends_time::{Clock as _, Timestamp};

/// The parts of a process that uses the store and reaches nothing else.
pub(crate) fn parts(store: &MemoryStore, make: &Fixtures) -> Parts {
    Parts {
        store: Arc::new(store.clone()),
        clock: Arc::new(make.clock.clone()),
        entropy: Arc::new(make.entropy.clone()),
        mailer: Arc::new(Mailbox::default()),
        limiter: Arc::new(MemoryRateLimiter::default()),
        passwords: Arc::new(TestPasswords::default()),
        tokens: Arc::new(TestTokens),
        providers: Arc::new(NoProviders),
        calendar_providers: Arc::new(NoCalendarProviders),
        sender: Arc::new(NoSender),
        fetcher: Arc::new(NoFetcher),
        settings: settings(),
    }
}

/// A request without a network address.
pub(crate) fn request(make: &Fixtures, started: Timestamp, operation: &'static Operation) -> Request {
    Request::new(RequestId::new(started, &make.entropy), None, operation, started)
}

/// The holder of a new key with that reach.
pub(crate) fn principal(make: &Fixtures, organization: &Organization, reach: Reach) -> Principal {
    Principal {
        signed_in: None,
        approval: None,
        connector: None,
        credential: Credential::Key(KeyId::new(make.clock.now(), &make.entropy)),
        key_prefix: "svc_sk_0123456789abc".to_owned(),
        org: organization.id,
        kind: match reach {
            Reach::Organization => CallerKind::OrganizationKey,
            Reach::Agent(_) => CallerKind::AgentKey,
        },
        reach,
        waitlisted: false,
        plan: organization.plan,
        limits: organization.limits().unwrap(),
        accepted_terms: None,
    }
}

/// The holder of a new key with that reach, for one operation.
pub(crate) fn actor(
    make: &Fixtures,
    organization: &Organization,
    reach: Reach,
    operation: &'static Operation,
) -> Actor {
    let request = request(make, make.clock.now(), operation);
    Actor::enter(Arc::new(principal(make, organization, reach)), request).unwrap()
}
