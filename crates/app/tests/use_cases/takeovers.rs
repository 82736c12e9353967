//! A person proves an address with a provider, and takes over the account of somebody who only stated it.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use kalends_accounts::{
    Change, Membership, Role,
    oauth::{Callback, Client, IdentityClaims, Provider, TokenRequest},
    ports::Identities as _,
};
use kalends_app::{
    App, ChangeSet, OauthBegun, Parts, operations,
    ports::{Commit as _, ExchangeError, Exchanged, OfferedProvider, SignInProviders},
};
use kalends_approvals::{Change as Asked, Status, ports::Approvals as _};
use kalends_testkit::{
    MemoryStore,
    fixtures::{Compose as _, Fixtures},
};
use kalends_time::Clock as _;

use crate::common::{parts, request};

/// Google, which vouches for one person.
struct Vouching {
    offered: [OfferedProvider; 1],
    client: Client,
    claims: Mutex<IdentityClaims>,
}

impl Vouching {
    fn of(email: &str, seconds: i64) -> Self {
        let client = Client {
            provider: Provider::Google,
            authorization_endpoint: "https://google.example/authorize".parse().unwrap(),
            issuer: "https://google.example".to_owned(),
            client_id: "kalends".to_owned(),
            redirect_uri: "https://api.example.com/v1/auth/oauth/google/callback".to_owned(),
        };
        let claims = IdentityClaims {
            issuer: client.issuer.clone(),
            audience: vec![client.client_id.clone()],
            authorized_party: None,
            subject: "1".to_owned(),
            expires: seconds + 3_600,
            issued: seconds,
            nonce: None,
            email: Some(email.to_owned()),
            email_verified: true,
            name: None,
        };
        let offered = [OfferedProvider { provider: Provider::Google, title: "Google".to_owned() }];
        Self { offered, client, claims: Mutex::new(claims) }
    }
}

#[async_trait]
impl SignInProviders for Vouching {
    fn offered(&self) -> &[OfferedProvider] {
        &self.offered
    }

    async fn client(&self, provider: Provider) -> Result<Option<Client>, ExchangeError> {
        Ok((provider == self.client.provider).then(|| self.client.clone()))
    }

    async fn exchange(&self, _: Provider, _: TokenRequest) -> Result<Exchanged, ExchangeError> {
        Ok(Exchanged { claims: self.claims.lock().unwrap().clone(), incomplete: None })
    }
}

/// The keys are revoked a second time after all nodes have dropped them, so there is a moment at which the caller may hang
/// up.
#[tokio::test(start_paused = true)]
async fn a_sign_in_that_takes_over_ends_although_its_caller_hangs_up() {
    let (store, make) = (MemoryStore::new(), Fixtures::new());
    let organization = make.organization();
    let (org, agent, user) = (organization.id, make.agent(organization.id), make.user());
    let membership = Membership { role: Role::Admin, ..Membership::owner(user.id, org, make.tick()) };
    let changes = ChangeSet::new(org).create(&organization).create(&agent).create(&user);
    store.commit(changes.account(Change::AddMember { membership, seen: user.version })).await.unwrap();
    let key = make.scoped_key(&agent).key;
    store.commit(ChangeSet::new(org).create(&key)).await.unwrap();
    let approval = make.approval(&key);
    let asked = vec![Asked::Ask(Box::new(approval.clone()))];
    store.commit(ChangeSet { approvals: asked, ..ChangeSet::new(org) }).await.unwrap();

    let google = Arc::new(Vouching::of(user.email.as_str(), make.clock.now().as_unix_seconds()));
    let app = App::new(Parts { providers: google.clone(), ..parts(&store, &make) });
    let OauthBegun::AtProvider { location, state } = app.begin_oauth("google", None, None).await.unwrap() else {
        panic!("nobody can sign in");
    };
    let nonce = location.split(['?', '&']).find_map(|part| part.strip_prefix("nonce=")).unwrap();
    google.claims.lock().unwrap().nonce = Some(nonce.to_owned());
    let called = request(&make, make.tick(), &operations::OAUTH_CALLBACK);
    let caller = tokio::spawn(async move {
        let callback =
            Callback { state: Some(&state), code: Some("code"), cookie: Some(&state), ..Callback::default() };
        app.end_oauth(&called, "google", callback).await.map(drop)
    });
    for _ in 0..1_000 {
        if !store.identities_of(user.id).await.unwrap().is_empty() {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert!(!caller.is_finished(), "the caller was answered before the keys were revoked for good");
    caller.abort();
    for _ in 0..600 {
        let found = store.find_approval(org, approval.id).await.unwrap().unwrap();
        if found.status(make.clock.now()) == Status::Cancelled {
            return;
        }
        // The clock is paused, so this only lets the others run.
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    panic!("the write of the revoked key waits on");
}
