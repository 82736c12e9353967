//! Connectors: from their registration to the end of their access.

use std::sync::Arc;

use kalends_accounts::{
    Action, AuditRange, AuditSearch, Change as AccountChange, ConnectorClient, Credential, Membership, Organization,
    Principal, Reach, Role, Scope, Scopes, User,
    ports::{AuditLog as _, People as _, ScopedKeys as _},
    reach::CallerKind,
};
use kalends_app::{
    Actor, App, AuthorizationRequest, ChangeSet, CodeExchange, ConnectorTokens, NotAuthorizable, NotGranted, Refusal,
    Request, TokenRefresh, operations, ports::Commit as _,
};
use kalends_calendars::Agent;
use kalends_kernel::{KeyId, SessionId, base64url};
use kalends_plans::{Metric, Plan};
use kalends_testkit::{
    MemoryStore,
    fixtures::{Compose as _, Fixtures},
};
use kalends_time::{Clock as _, SignedDuration};
use sha2::{Digest as _, Sha256};

use crate::common::{parts, principal, request};

const REDIRECT: &str = "https://assistant.example/callback";
const VERIFIER: &str = "a-verifier-of-forty-three-or-more-characters~";

/// A service with an organization, its owner and an agent.
struct House {
    app: Arc<App>,
    store: MemoryStore,
    make: Fixtures,
    organization: Organization,
    owner: User,
    agent: Agent,
}

impl House {
    async fn on(plan: Plan) -> Self {
        let (store, make) = (MemoryStore::new(), Fixtures::new());
        let app = App::new(parts(&store, &make));
        let organization = Organization { plan, ..make.organization() };
        let (owner, agent) = (make.user(), make.agent(organization.id));
        let (org, seen) = (organization.id, owner.version);
        let membership = Membership::owner(owner.id, org, make.tick());
        let changes = ChangeSet::new(org).create(&organization).create(&owner).create(&agent);
        store.commit(changes.account(AccountChange::AddOwner { membership, seen })).await.unwrap();
        Self { app, store, make, organization, owner, agent }
    }

    fn request(&self, operation: &'static operations::Operation) -> Request {
        request(&self.make, self.make.clock.now(), operation)
    }

    /// A user with that role, in the console.
    fn human(&self, user: &User, role: Role) -> Actor {
        let session = SessionId::new(self.make.clock.now(), &self.make.entropy);
        let principal = Principal {
            credential: Credential::Session { session, user: user.id },
            key_prefix: Principal::user_prefix(user.id),
            kind: CallerKind::of_role(role),
            ..principal(&self.make, &self.organization, Reach::Organization)
        };
        Actor::enter(Arc::new(principal), self.request(&operations::CREATE_KEY)).unwrap()
    }

    async fn client(&self) -> ConnectorClient {
        self.app.register_connector(Some("Assistant"), vec![REDIRECT.to_owned()]).await.unwrap()
    }

    fn asking(client: &ConnectorClient) -> AuthorizationRequest {
        AuthorizationRequest {
            client_id: client.id.to_string(),
            redirect_uri: REDIRECT.to_owned(),
            response_type: "code".to_owned(),
            code_challenge: base64url(&Sha256::digest(VERIFIER)),
            code_challenge_method: "S256".to_owned(),
            scope: "holds:org".to_owned(),
            ..AuthorizationRequest::default()
        }
    }

    /// The code of a grant by the owner.
    async fn code(&self, client: &ConnectorClient) -> Result<String, Refusal> {
        self.code_of(client, &self.human(&self.owner, Role::Owner)).await
    }

    async fn code_of(&self, client: &ConnectorClient, actor: &Actor) -> Result<String, Refusal> {
        let asked = self.app.connector_request(&Self::asking(client)).await.unwrap();
        self.app.grant_connector(actor, &asked, &self.agent.id.to_string(), asked.scopes).await
    }

    async fn exchange(&self, sent: &CodeExchange) -> Result<ConnectorTokens, NotGranted> {
        self.app.exchange_code(&self.request(&operations::CONNECTOR_TOKEN), sent).await
    }

    async fn grant(&self, client: &ConnectorClient) -> ConnectorTokens {
        let code = self.code(client).await.unwrap();
        self.exchange(&exchanging(client, &code)).await.unwrap()
    }

    async fn refresh(&self, client: &ConnectorClient, token: &str) -> Result<ConnectorTokens, NotGranted> {
        self.refresh_for(client, token, None).await
    }

    async fn refresh_for(
        &self,
        client: &ConnectorClient,
        token: &str,
        scope: Option<&str>,
    ) -> Result<ConnectorTokens, NotGranted> {
        let sent = TokenRefresh {
            client_id: client.id.to_string(),
            refresh_token: token.to_owned(),
            scope: scope.map(str::to_owned),
            resource: None,
        };
        self.app.refresh_tokens(&self.request(&operations::CONNECTOR_TOKEN), &sent).await
    }

    /// The identifiers of the keys of agents in force.
    async fn keys(&self) -> Vec<KeyId> {
        let keys = self.store.list_scoped_keys(self.organization.id).await.unwrap();
        keys.into_iter().map(|key| key.id).collect()
    }

    async fn is_accepted(&self, access: &str) -> bool {
        match self.app.authenticate(access).await {
            Ok(caller) => {
                assert!(caller.principal.connector.is_some());
                true
            }
            Err(Refusal::Unauthorized) => false,
            Err(other) => panic!("{other}"),
        }
    }

    /// The recorded actions on keys, the oldest first.
    async fn recorded(&self) -> Vec<Action> {
        let range = AuditRange::ask(None, None, self.organization.plan, self.make.clock.now()).unwrap();
        let search = AuditSearch { range, action: None, actor_key_prefix: None, agent: None, after: None, limit: 100 };
        let entries = self.store.audit_page(self.organization.id, &search).await.unwrap();
        entries.into_iter().rev().map(|entry| entry.action).collect()
    }
}

fn exchanging(client: &ConnectorClient, code: &str) -> CodeExchange {
    CodeExchange {
        client_id: client.id.to_string(),
        code: code.to_owned(),
        redirect_uri: REDIRECT.to_owned(),
        code_verifier: VERIFIER.to_owned(),
        resource: None,
    }
}

/// The code of the error.
#[track_caller]
fn wrong(outcome: Result<ConnectorTokens, NotGranted>) -> &'static str {
    match outcome {
        Err(NotGranted::Wrong(error)) => error.code,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_grant_is_one_key_until_a_token_is_used_twice() {
    let house = House::on(Plan::Pro).await;
    let client = house.client().await;
    let first = house.grant(&client).await;
    let keys = house.keys().await;
    assert_eq!((keys.len(), first.scopes), (1, Scopes::NONE.with(Scope::HoldsOrg)));
    assert!(house.is_accepted(&first.access).await);
    let second = house.refresh(&client, &first.refresh).await.unwrap();
    house.make.tick();
    assert_eq!(house.keys().await, keys);
    assert!(house.is_accepted(&second.access).await && !house.is_accepted(&first.access).await);
    assert_eq!(wrong(house.refresh(&client, &first.refresh).await), "invalid_grant");
    assert!(!house.is_accepted(&second.access).await);
    assert_eq!(wrong(house.refresh(&client, &second.refresh).await), "invalid_grant");
    assert_eq!(house.keys().await, []);
    assert_eq!(house.recorded().await, [Action::KeyCreate, Action::KeyDelete]);
}

#[tokio::test(start_paused = true)]
async fn a_code_that_is_used_twice_ends_its_access() {
    let house = House::on(Plan::Pro).await;
    let client = house.client().await;
    let code = house.code(&client).await.unwrap();
    let tokens = house.exchange(&exchanging(&client, &code)).await.unwrap();
    assert_eq!(wrong(house.exchange(&exchanging(&client, &code)).await), "invalid_grant");
    assert!(!house.is_accepted(&tokens.access).await);
}

#[tokio::test(start_paused = true)]
async fn tokens_and_codes_expire() {
    let house = House::on(Plan::Pro).await;
    let client = house.client().await;
    let tokens = house.grant(&client).await;
    // The second look finds the key in the cache.
    house.app.refresh_principals().await;
    assert!(house.is_accepted(&tokens.access).await && house.is_accepted(&tokens.access).await);
    let late = house.code(&client).await.unwrap();
    house.make.clock.advance(SignedDuration::minutes(1));
    assert_eq!(wrong(house.exchange(&exchanging(&client, &late)).await), "invalid_grant");
    house.make.clock.advance(SignedDuration::minutes(58));
    house.app.refresh_principals().await;
    assert!(house.is_accepted(&tokens.access).await);
    house.make.clock.advance(SignedDuration::minutes(1));
    house.app.refresh_principals().await;
    assert!(!house.is_accepted(&tokens.access).await);
    let newer = house.refresh(&client, &tokens.refresh).await.unwrap();
    assert!(house.is_accepted(&newer.access).await);
    house.make.clock.advance(SignedDuration::days(30));
    assert_eq!(wrong(house.refresh(&client, &newer.refresh).await), "invalid_grant");
}

#[tokio::test]
async fn a_code_is_for_its_client_address_and_verifier() {
    let house = House::on(Plan::Pro).await;
    let (client, other) = (house.client().await, house.client().await);
    let code = house.code(&client).await.unwrap();
    let right = exchanging(&client, &code);
    let sent = |change: fn(&mut CodeExchange)| {
        let mut sent = right.clone();
        change(&mut sent);
        sent
    };
    let changes: [fn(&mut CodeExchange); 3] =
        [|sent| sent.redirect_uri.push('/'), |sent| sent.code_verifier.push('x'), |sent| sent.code.push('x')];
    for change in changes {
        assert_eq!(wrong(house.exchange(&sent(change)).await), "invalid_grant");
    }
    assert_eq!(wrong(house.exchange(&exchanging(&other, &code)).await), "invalid_grant");
    let elsewhere = sent(|sent| sent.resource = Some("https://other.example/mcp".to_owned()));
    assert_eq!(wrong(house.exchange(&elsewhere).await), "invalid_target");
    let unknown = sent(|sent| sent.client_id = "oac_nobody".to_owned());
    assert_eq!(wrong(house.exchange(&unknown).await), "invalid_client");
    assert!(house.exchange(&right).await.is_ok(), "what was refused before has no effect");
}

#[tokio::test(start_paused = true)]
async fn a_client_ends_its_own_access_only() {
    let house = House::on(Plan::Pro).await;
    let (client, other) = (house.client().await, house.client().await);
    let request = house.request(&operations::REVOKE_CONNECTOR_TOKEN);
    for by_refresh in [true, false] {
        let tokens = house.grant(&client).await;
        let token = if by_refresh { &tokens.refresh } else { &tokens.access };
        house.app.revoke_token(&request, &other.id.to_string(), token).await.unwrap();
        house.app.revoke_token(&request, &client.id.to_string(), "svc_rt_unknown").await.unwrap();
        assert!(house.is_accepted(&tokens.access).await);
        house.app.revoke_token(&request, &client.id.to_string(), token).await.unwrap();
        assert!(!house.is_accepted(&tokens.access).await);
        assert_eq!(wrong(house.refresh(&client, &tokens.refresh).await), "invalid_grant");
    }
}

#[tokio::test]
async fn a_grant_ends_with_the_right_to_create_keys_and_with_its_agent() {
    let house = House::on(Plan::Pro).await;
    let org = house.organization.id;
    let client = house.client().await;
    let admin = house.make.user();
    let membership = Membership { user: admin.id, org, role: Role::Admin, since: house.make.tick() };
    let changes = ChangeSet::new(org).create(&admin);
    house.store.commit(changes.account(AccountChange::AddMember { membership, seen: admin.version })).await.unwrap();
    let code = house.code_of(&client, &house.human(&admin, Role::Admin)).await.unwrap();
    let seen = house.store.find_user(admin.id).await.unwrap().unwrap().version;
    let removed = AccountChange::RemoveMember { user: admin.id, org, seen };
    house.store.commit(ChangeSet::new(org).account(removed)).await.unwrap();
    assert_eq!(wrong(house.exchange(&exchanging(&client, &code)).await), "invalid_grant");

    let code = house.code(&client).await.unwrap();
    let mut actor = house.human(&house.owner, Role::Owner);
    actor.request.operation = &operations::DELETE_AGENT;
    house.app.delete_agent(&actor, &house.agent.id.to_string(), &kalends_app::IfMatch::Any).await.unwrap();
    assert_eq!(wrong(house.exchange(&exchanging(&client, &code)).await), "invalid_grant");
    assert_eq!(house.keys().await, []);
}

#[tokio::test]
async fn a_plan_without_keys_of_agents_has_three_grants() {
    let house = House::on(Plan::Free).await;
    let clients = [house.client().await, house.client().await, house.client().await, house.client().await];
    house.grant(&clients[0]).await;
    house.grant(&clients[1]).await;
    let codes = [house.code(&clients[2]).await.unwrap(), house.code(&clients[3]).await.unwrap()];
    house.exchange(&exchanging(&clients[2], &codes[0])).await.unwrap();
    assert_eq!(wrong(house.exchange(&exchanging(&clients[3], &codes[1])).await), "invalid_grant");
    let refused = house.code(&clients[3]).await.unwrap_err();
    assert!(matches!(refused, Refusal::LimitReached { metric: Metric::ScopedKeys, limit: 3, .. }), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn at_the_limit_a_grant_replaces_the_oldest_of_its_client() {
    let house = House::on(Plan::Free).await;
    let (client, other) = (house.client().await, house.client().await);
    let kept = house.grant(&other).await;
    let first = house.grant(&client).await;
    house.make.tick();
    let second = house.grant(&client).await;
    house.make.tick();
    assert_eq!(house.keys().await.len(), 3, "below the limit, nothing is replaced");
    let third = house.grant(&client).await;
    assert_eq!(house.keys().await.len(), 3);
    assert!(!house.is_accepted(&first.access).await);
    for tokens in [kept, second, third] {
        assert!(house.is_accepted(&tokens.access).await);
    }
}

#[tokio::test]
async fn a_refresh_adds_no_scopes() {
    let house = House::on(Plan::Pro).await;
    let client = house.client().await;
    let tokens = house.grant(&client).await;
    let refused = house.refresh_for(&client, &tokens.refresh, Some("freebusy:org")).await;
    assert_eq!(wrong(refused), "invalid_scope");
    let newer = house.refresh_for(&client, &tokens.refresh, Some("openid holds:org")).await.unwrap();
    assert_eq!(newer.scopes, tokens.scopes);
}

#[tokio::test]
async fn a_client_that_nobody_approves_is_forgotten_within_a_day() {
    let house = House::on(Plan::Pro).await;
    let (client, other) = (house.client().await, house.client().await);
    house.make.clock.advance(SignedDuration::minutes(1));
    house.code(&client).await.unwrap();
    house.make.clock.advance(SignedDuration::days(1));
    assert!(house.app.forget_connectors(9).await.unwrap());
    assert!(house.app.connector_request(&House::asking(&client)).await.is_ok(), "an approval is a use");
    let gone = house.app.connector_request(&House::asking(&other)).await;
    assert!(matches!(gone, Err(NotAuthorizable::Untrusted(_))), "{gone:?}");
}

#[tokio::test(start_paused = true)]
async fn a_grant_that_is_not_refreshed_ends() {
    let house = House::on(Plan::Free).await;
    let client = house.client().await;
    let tokens = house.grant(&client).await;
    let almost = SignedDuration::micros(30 * 86_400_000_000 - 1);
    house.make.clock.advance(almost);
    assert!(house.app.end_lapsed_grants(9).await.unwrap());
    let newer = house.refresh(&client, &tokens.refresh).await.unwrap();
    house.make.clock.advance(almost);
    assert!(house.app.end_lapsed_grants(9).await.unwrap());
    assert_eq!(house.keys().await.len(), 1);
    house.make.clock.advance(SignedDuration::micros(1));
    assert_eq!(wrong(house.refresh(&client, &newer.refresh).await), "invalid_grant");
    assert!(!house.app.end_lapsed_grants(1).await.unwrap(), "there may be more");
    assert!(house.app.end_lapsed_grants(1).await.unwrap());
    assert_eq!(house.keys().await, []);
}

/// Makes a request wrong.
type Change = fn(&mut AuthorizationRequest);

#[tokio::test]
async fn only_a_known_client_is_sent_its_errors() {
    let house = House::on(Plan::Pro).await;
    let right = House::asking(&house.client().await);
    let untrusted: [fn(&mut AuthorizationRequest); 4] = [
        |sent| sent.client_id = "oac_nobody".to_owned(),
        |sent| sent.redirect_uri.push('/'),
        |sent| sent.redirect_uri.clear(),
        |sent| sent.repeated = Some("redirect_uri".to_owned()),
    ];
    for change in untrusted {
        let mut sent = right.clone();
        change(&mut sent);
        let outcome = house.app.connector_request(&sent).await;
        assert!(matches!(outcome, Err(NotAuthorizable::Untrusted(_))), "{outcome:?}");
    }
    let cases: [(Change, &str); 7] = [
        (|sent| sent.response_type = "token".to_owned(), "unsupported_response_type"),
        (|sent| sent.code_challenge_method.clear(), "invalid_request"),
        (|sent| sent.code_challenge.clear(), "invalid_request"),
        (|sent| sent.code_challenge.push('A'), "invalid_request"),
        (|sent| sent.state = Some("x".repeat(1_001)), "invalid_request"),
        (|sent| sent.resource = Some("https://other.example/mcp".to_owned()), "invalid_target"),
        (|sent| sent.repeated = Some("scope".to_owned()), "invalid_request"),
    ];
    for (change, code) in cases {
        let mut sent = right.clone();
        change(&mut sent);
        match house.app.connector_request(&sent).await {
            Err(NotAuthorizable::Wrong(error)) => assert_eq!(error.code, code),
            other => panic!("{other:?}"),
        }
    }
    let mut sent = right.clone();
    sent.resource = Some(house.app.tools_address());
    sent.state = Some("é".repeat(1_000));
    sent.scope = "openid holds:org offline_access".to_owned();
    let asked = house.app.connector_request(&sent).await.unwrap();
    assert_eq!(asked.scopes, Scopes::NONE.with(Scope::HoldsOrg), "unknown scopes are ignored");
}
