//! Clients that act for agents by OAuth, their codes and tokens, and the keys that they hold.

use kalends_accounts::{
    AuthorizationCode, Change, ConnectorAccess, ConnectorClient, EndedKey, NewAccessToken, RefreshToken, Scope,
    ScopedKey, Scopes, TokenHash, new_authorization_code, new_refresh_token,
};
use kalends_app::ports::CommitError;
use kalends_calendars::Agent;
use kalends_kernel::{AgentId, ConnectorClientId, KeyId, UserId};
use kalends_time::{SignedDuration, Timestamp};

use super::{
    StoreUnderTest,
    samples::TRICKY,
    scene::{Scene, assert_refused, race, successes},
};
use crate::fixtures::Compose;

/// How many tasks run at once.
const TASKS: usize = 16;

/// A microsecond.
const MOMENT: SignedDuration = SignedDuration::micros(1);

impl Scene {
    fn new_client(&self) -> ConnectorClient {
        let now = self.make.tick();
        let redirects = vec!["https://client.example/callback".to_owned(), "http://127.0.0.1/?a=\"b\"".to_owned()];
        let id = ConnectorClientId::new(now, &self.make.entropy);
        ConnectorClient { id, name: TRICKY.to_owned(), redirects, created_at: now, used_at: now }
    }

    async fn registers(&self, client: &ConnectorClient) -> bool {
        self.store.register_client(client, Timestamp::from_micros(0), u32::MAX).await.unwrap()
    }

    async fn registered_client(&self) -> ConnectorClient {
        let client = self.new_client();
        assert!(self.registers(&client).await);
        client
    }

    fn new_grant(&self, client: &ConnectorClient, agent: &Agent, user: UserId) -> AuthorizationCode {
        AuthorizationCode {
            hash: TokenHash::of(&new_authorization_code(&self.make.entropy)),
            client: client.id,
            redirect: client.redirects[0].clone(),
            challenge: [7; 32],
            org: self.org,
            agent: agent.id,
            scopes: Scopes::NONE.with(Scope::FreebusyOrg),
            user,
            expires_at: self.make.tick(),
            key: None,
        }
    }

    async fn try_grant(&self, code: &AuthorizationCode) -> Result<(), CommitError> {
        self.try_commit(self.changes().account(Change::GrantCode(Box::new(code.clone())))).await
    }

    async fn stored_grant(&self, client: &ConnectorClient, agent: &Agent) -> AuthorizationCode {
        let user = self.make.user();
        self.commit(self.changes().create(&user)).await;
        let code = self.new_grant(client, agent, user.id);
        self.try_grant(&code).await.unwrap();
        code
    }

    async fn granted_code(&self, code: &AuthorizationCode) -> Option<AuthorizationCode> {
        self.store.find_authorization_code(code.hash).await.unwrap()
    }

    fn new_connector_key(&self, client: &ConnectorClient, agent: AgentId) -> ScopedKey {
        let (now, token) = (self.make.tick(), NewAccessToken::generate(&self.make.entropy));
        let (id, ends) = (KeyId::new(now, &self.make.entropy), now + SignedDuration::hours(1));
        ScopedKey::of_connector(id, self.org, agent, client, Scopes::NONE, &token, "usr_0123456789abcdef", ends, now)
    }

    async fn connector_key(&self, client: &ConnectorClient, agent: &Agent) -> ScopedKey {
        let key = self.new_connector_key(client, agent.id);
        self.commit(self.changes().create(&key)).await;
        key
    }

    /// The key with another text, and the change that gives it that text.
    fn renewed(&self, key: &ScopedKey) -> (ScopedKey, Change) {
        let NewAccessToken { text: _, hash, prefix: _ } = NewAccessToken::generate(&self.make.entropy);
        let expires_at = self.make.tick() + SignedDuration::hours(1);
        let connector = key.connector.map(|access| ConnectorAccess { expires_at, ..access });
        let change = Change::RenewKey { org: self.org, key: key.id, hash, expires_at };
        (ScopedKey { hash, connector, ..key.clone() }, change)
    }

    /// What the present text of the key gives access to.
    async fn access_by(&self, key: &ScopedKey) -> Option<ConnectorAccess> {
        self.store.find_principal(key.hash).await.unwrap().map(|principal| principal.connector.unwrap())
    }

    async fn stored_refresh_token(&self, key: &ScopedKey) -> RefreshToken {
        let now = self.make.tick();
        let token = RefreshToken {
            hash: TokenHash::of(&new_refresh_token(&self.make.entropy)),
            org: self.org,
            key: key.id,
            client: key.connector.unwrap().client,
            created_at: now,
            expires_at: now + SignedDuration::days(30),
            spent_at: None,
        };
        self.commit(self.changes().account(Change::PutRefreshToken(token.clone()))).await;
        token
    }

    async fn refresh_token_now(&self, token: &RefreshToken) -> Option<RefreshToken> {
        self.store.find_refresh_token(token.hash).await.unwrap()
    }

    fn spending(&self, token: &RefreshToken) -> Change {
        Change::SpendRefreshToken { org: self.org, hash: token.hash, at: self.make.tick() }
    }

    async fn client_is_known(&self, client: &ConnectorClient) -> bool {
        self.store.find_client(client.id).await.unwrap().is_some()
    }
}

/// Clients come back unchanged, one by one or several at once. Only a later use is noted.
pub async fn clients_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (first, second) = (scene.registered_client().await, scene.new_client());
    assert_eq!(scene.store.find_client(first.id).await.unwrap().as_ref(), Some(&first));
    assert_eq!(scene.store.find_client(second.id).await.unwrap(), None);
    let second = ConnectorClient { name: String::new(), ..second };
    assert!(scene.registers(&second).await);

    let unknown = scene.new_client().id;
    let mut found = scene.store.find_clients(&[second.id, unknown, first.id, first.id]).await.unwrap();
    found.sort_by_key(|client| client.id);
    assert_eq!(found, [first.clone(), second.clone()]);
    assert_eq!(scene.store.find_clients(&[]).await.unwrap(), []);
    assert_eq!(scene.store.find_clients(&[unknown]).await.unwrap(), []);

    let later = scene.make.tick();
    for (at, noted) in [(later, later), (first.used_at, later), (later + MOMENT, later + MOMENT)] {
        scene.store.note_client_use(first.id, at).await.unwrap();
        let used = ConnectorClient { used_at: noted, ..first.clone() };
        assert_eq!(scene.store.find_client(first.id).await.unwrap(), Some(used));
    }
    scene.store.note_client_use(unknown, later).await.unwrap();
    assert_eq!(scene.store.find_client(unknown).await.unwrap(), None);
    assert_eq!(scene.store.find_client(second.id).await.unwrap(), Some(second));
}

/// A code comes back unchanged, and is granted only by a user for an agent that is not decommissioned.
pub async fn codes_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (client, agent) = (scene.registered_client().await, scene.agent().await);
    let code = scene.stored_grant(&client, &agent).await;
    assert_eq!(scene.granted_code(&code).await, Some(code.clone()));
    let unscoped = AuthorizationCode { scopes: Scopes::NONE, ..scene.new_grant(&client, &agent, code.user) };
    assert_eq!(scene.granted_code(&unscoped).await, None);
    scene.try_grant(&unscoped).await.unwrap();
    assert_eq!(scene.granted_code(&unscoped).await, Some(unscoped));

    let foreign = scene.other_organization().await.agent().await;
    let gone = scene.decommission(&scene.agent().await).await;
    for agent in [scene.make.agent(scene.org), foreign, gone] {
        let refused = scene.new_grant(&client, &agent, code.user);
        assert_refused!(scene.try_grant(&refused).await, CommitError::Stale);
        assert_eq!(scene.granted_code(&refused).await, None);
    }
    let of_nobody = scene.new_grant(&client, &agent, scene.make.user().id);
    assert_refused!(scene.try_grant(&of_nobody).await, CommitError::Stale);
}

/// If several callers exchange a code at once, one of them gets a key.
pub async fn a_code_is_exchanged_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (client, agent) = (scene.registered_client().await, scene.agent().await);
    for _ in 0..3 {
        let code = scene.stored_grant(&client, &agent).await;
        let before = scene.store.list_scoped_keys(scene.org).await.unwrap().len();
        let outcomes = race(TASKS, |_| {
            let (scene, key) = (scene.clone(), scene.new_connector_key(&client, agent.id));
            let exchange = Change::UseCode { hash: code.hash, key: key.id };
            async move { scene.try_commit(scene.changes().create(&key).account(exchange)).await }
        })
        .await;
        for outcome in &outcomes {
            assert!(matches!(outcome, Ok(()) | Err(CommitError::Stale)), "{outcome:?}");
        }
        assert_eq!(successes(&outcomes), 1);
        let used = scene.granted_code(&code).await.unwrap();
        let key = scene.store.find_scoped_key(scene.org, used.key.unwrap()).await.unwrap();
        assert!(key.is_some_and(|key| key.agent == agent.id), "the code names the key that was created");
        assert_eq!(scene.store.list_scoped_keys(scene.org).await.unwrap().len(), before + 1);
        assert_eq!(used, AuthorizationCode { key: used.key, ..code });
    }
    let unknown = Change::UseCode { hash: TokenHash::of("unknown"), key: KeyId::from_bytes([1; 16]) };
    assert_refused!(scene.try_commit(scene.changes().account(unknown)).await, CommitError::Stale);
}

/// If several callers exchange a refresh token at once, one of them renews the key.
pub async fn a_refresh_token_is_exchanged_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (client, agent) = (scene.registered_client().await, scene.agent().await);
    let key = scene.connector_key(&client, &agent).await;
    let token = scene.stored_refresh_token(&key).await;
    assert_eq!(scene.refresh_token_now(&token).await, Some(token.clone()));
    let outcomes = race(TASKS, |_| {
        let (scene, (renewed, renewal), spending) = (scene.clone(), scene.renewed(&key), scene.spending(&token));
        async move { scene.try_commit(scene.changes().account(spending).account(renewal)).await.map(|()| renewed) }
    })
    .await;
    let mut renewed = Vec::new();
    for outcome in outcomes {
        match outcome {
            Ok(key) => renewed.push(key),
            Err(CommitError::Stale) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    assert_eq!(renewed.len(), 1);
    assert_eq!(scene.store.list_scoped_keys(scene.org).await.unwrap(), renewed);
    let spent = scene.refresh_token_now(&token).await.unwrap();
    assert!(spent.spent_at.is_some());
    assert_eq!(RefreshToken { spent_at: None, ..spent }, token);
    assert_refused!(scene.try_commit(scene.changes().account(scene.spending(&token))).await, CommitError::Stale);
}

/// A renewed key has a new text. Its former text opens nothing, and is not the text of an ended key either.
pub async fn a_renewed_key_has_another_text(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (client, agent) = (scene.registered_client().await, scene.agent().await);
    let (key, other) = (scene.connector_key(&client, &agent).await, scene.connector_key(&client, &agent).await);
    assert_eq!(scene.access_by(&key).await, key.connector);
    let epoch = scene.store.principals_epoch().await.unwrap();
    let (renewed, renewal) = scene.renewed(&key);
    scene.commit(scene.changes().account(renewal)).await;
    assert_eq!(scene.store.principals_epoch().await.unwrap(), epoch, "the cached keys of others stay valid");
    assert_eq!((scene.access_by(&key).await, scene.access_by(&renewed).await), (None, renewed.connector));
    assert_eq!(scene.store.find_scoped_key(scene.org, key.id).await.unwrap(), Some(renewed.clone()));
    let listed = scene.store.keys_in_force(scene.org).await.unwrap();
    let listed = listed.iter().find(|listed| listed.id == key.id).unwrap();
    assert_eq!((&listed.prefix, listed.connector), (&renewed.prefix, renewed.connector));
    assert_eq!(scene.access_by(&other).await, other.connector);
    for hash in [key.hash, renewed.hash] {
        assert_eq!(scene.store.find_ended_key(hash).await.unwrap(), None);
    }

    let revocation = Change::RevokeKey { org: scene.org, key: key.id, at: scene.make.tick() };
    scene.commit(scene.changes().account(revocation)).await;
    assert_eq!(scene.access_by(&renewed).await, None);
    let ended = EndedKey { org: scene.org, agent: Some(agent.id), prefix: renewed.prefix.clone() };
    assert_eq!(scene.store.find_ended_key(renewed.hash).await.unwrap(), Some(ended));
    assert_eq!(scene.store.find_ended_key(key.hash).await.unwrap(), None);
}

/// Only a connector's key in force is renewed.
pub async fn only_keys_in_force_are_renewed(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let client = scene.registered_client().await;
    let (agent, leaving) = (scene.agent().await, scene.agent().await);
    let (revoked, left) = (scene.connector_key(&client, &agent).await, scene.connector_key(&client, &leaving).await);
    let theirs = other.connector_key(&client, &other.agent().await).await;
    let plain = scene.make.scoped_key(&agent).key;
    let revocation = Change::RevokeKey { org: scene.org, key: revoked.id, at: scene.make.tick() };
    scene.commit(scene.changes().create(&plain).account(revocation)).await;
    scene.decommission(&leaving).await;
    for key in [revoked, left, theirs.clone(), plain.clone(), scene.new_connector_key(&client, agent.id)] {
        let (renewed, renewal) = scene.renewed(&key);
        assert_refused!(scene.try_commit(scene.changes().account(renewal)).await, CommitError::Stale);
        assert_eq!(scene.store.find_principal(renewed.hash).await.unwrap(), None);
    }
    assert_eq!(other.access_by(&theirs).await, theirs.connector);
    assert!(scene.store.find_principal(plain.hash).await.unwrap().is_some());
}

/// If a key is renewed and revoked at once, no text opens it afterwards.
pub async fn a_revoked_key_is_not_renewed(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (client, agent) = (scene.registered_client().await, scene.agent().await);
    for _ in 0..3 {
        let key = scene.connector_key(&client, &agent).await;
        let outcomes = race(TASKS, |index| {
            let (scene, (renewed, renewal)) = (scene.clone(), scene.renewed(&key));
            let revocation = Change::RevokeKey { org: scene.org, key: key.id, at: scene.make.tick() };
            let change = if index == 0 { revocation } else { renewal };
            async move {
                let outcome = scene.try_commit(scene.changes().account(change)).await;
                (outcome.is_ok(), renewed)
            }
        })
        .await;
        assert!(outcomes[0].0, "the revocation takes effect");
        for renewed in outcomes.iter().map(|(_, renewed)| renewed).chain([&key]) {
            assert_eq!(scene.access_by(renewed).await, None);
        }
        assert_eq!(scene.store.find_scoped_key(scene.org, key.id).await.unwrap(), None);
    }
}

/// An organization does not spend the refresh tokens of another.
pub async fn refresh_tokens_of_other_organizations_are_absent(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (client, agent) = (scene.registered_client().await, scene.agent().await);
    let key = scene.connector_key(&client, &agent).await;
    let token = scene.stored_refresh_token(&key).await;
    assert_refused!(other.try_commit(other.changes().account(other.spending(&token))).await, CommitError::Stale);
    assert_eq!(scene.refresh_token_now(&token).await, Some(token));
}

/// Expired codes and refresh tokens are removed in batches, spent or not.
pub async fn expired_codes_and_tokens_are_purged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (client, agent) = (scene.registered_client().await, scene.agent().await);
    let key = scene.connector_key(&client, &agent).await;
    let (mut codes, mut tokens) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        codes.push(scene.stored_grant(&client, &agent).await);
        tokens.push(scene.stored_refresh_token(&key).await);
    }
    scene.commit(scene.changes().account(scene.spending(&tokens[0]))).await;
    scene.commit(scene.changes().account(Change::UseCode { hash: codes[0].hash, key: key.id })).await;
    let forget = async |expired, limit| scene.store.forget_grants(expired, limit).await.unwrap();
    assert_eq!(forget(codes[0].expires_at - MOMENT, 9).await, 0);
    let now = codes[3].expires_at;
    assert_eq!((forget(now, 3).await, forget(now, 3).await, forget(now, 3).await), (3, 1, 0));
    assert_eq!(scene.granted_code(&codes[4]).await.as_ref(), Some(&codes[4]));
    for code in &codes[..4] {
        assert_eq!(scene.granted_code(code).await, None);
    }

    assert_eq!(forget(tokens[0].expires_at - MOMENT, 9).await, 1, "the last code");
    let now = tokens[3].expires_at;
    assert_eq!((forget(now, 3).await, forget(now, 3).await, forget(now, 3).await), (3, 1, 0));
    assert_eq!(scene.refresh_token_now(&tokens[4]).await.as_ref(), Some(&tokens[4]));
    for token in &tokens[..4] {
        assert_eq!(scene.refresh_token_now(token).await, None);
    }
    assert!(scene.client_is_known(&client).await);
}

/// Clients that are not used are removed in batches, unless they hold a key in force.
pub async fn unused_clients_are_purged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (agent, leaving) = (scene.agent().await, scene.agent().await);
    let mut clients = Vec::new();
    for _ in 0..6 {
        clients.push(scene.registered_client().await);
    }
    let [holding, revoked, left, used, unused, new] = clients.as_slice() else { panic!("six clients") };
    scene.connector_key(holding, &agent).await;
    let key = scene.connector_key(revoked, &agent).await;
    let revocation = Change::RevokeKey { org: scene.org, key: key.id, at: scene.make.tick() };
    scene.commit(scene.changes().account(revocation)).await;
    scene.connector_key(left, &leaving).await;
    scene.decommission(&leaving).await;
    scene.store.note_client_use(used.id, new.used_at).await.unwrap();

    let never = Timestamp::from_micros(0);
    let forget = async |unused, limit| scene.store.forget_clients(unused, never, limit).await.unwrap();
    assert_eq!(forget(holding.used_at - MOMENT, 9).await, 0);
    let now = new.used_at - MOMENT;
    assert_eq!((forget(now, 2).await, forget(now, 2).await, forget(now, 2).await), (2, 1, 0));
    for (client, is_known) in
        [(holding, true), (revoked, false), (left, false), (used, true), (unused, false), (new, true)]
    {
        assert_eq!(scene.client_is_known(client).await, is_known, "{}", client.id);
    }
    assert_eq!(forget(new.used_at, 9).await, 2);
    assert!(scene.client_is_known(holding).await);
}

/// Keys of clients whose access has expired are listed in batches, those that expired first, until they are revoked.
pub async fn lapsed_grants_are_listed(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (client, agent, leaving) = (scene.registered_client().await, scene.agent().await, scene.agent().await);
    let (first, second) = (scene.connector_key(&client, &agent).await, scene.connector_key(&client, &leaving).await);
    let (revoked, last) = (scene.connector_key(&client, &agent).await, scene.connector_key(&client, &agent).await);
    let plain = scene.make.scoped_key(&agent).key;
    let revoke = |key: &ScopedKey| Change::RevokeKey { org: scene.org, key: key.id, at: scene.make.tick() };
    scene.commit(scene.changes().create(&plain).account(revoke(&revoked))).await;
    scene.decommission(&leaving).await;
    let ends = |key: &ScopedKey| key.connector.unwrap().expires_at;
    let lapsed = async |expired, limit| scene.store.lapsed_grants(expired, limit).await.unwrap();
    assert_eq!(lapsed(ends(&first) - MOMENT, 99).await, []);
    assert_eq!(lapsed(ends(&last) - MOMENT, 99).await, [first.clone(), second.clone()]);
    assert_eq!(lapsed(ends(&last), 99).await, [first.clone(), second.clone(), last.clone()]);
    assert_eq!(lapsed(ends(&last), 1).await, std::slice::from_ref(&first));
    scene.commit(scene.changes().account(revoke(&first))).await;
    scene.commit(scene.changes().account(revoke(&second))).await;
    assert_eq!(lapsed(ends(&last), 99).await, [last]);
}

/// Clients that were never used are removed in batches, sooner than others.
pub async fn clients_that_were_never_used_are_purged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let mut clients = Vec::new();
    for _ in 0..5 {
        clients.push(scene.registered_client().await);
    }
    let [used, first, second, third, last] = clients.as_slice() else { panic!("five clients") };
    scene.store.note_client_use(used.id, last.created_at).await.unwrap();
    let never = Timestamp::from_micros(0);
    let forget = async |registered, limit| scene.store.forget_clients(never, registered, limit).await.unwrap();
    assert_eq!(forget(used.created_at, 9).await, 0);
    let until = third.created_at;
    assert_eq!((forget(until, 2).await, forget(until, 2).await, forget(until, 2).await), (2, 1, 0));
    for (client, is_known) in [(used, true), (first, false), (second, false), (third, false), (last, true)] {
        assert_eq!(scene.client_is_known(client).await, is_known, "{}", client.id);
    }
}

/// A client is registered only while there is room for clients that were never used.
pub async fn clients_that_were_never_used_are_limited(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let since = scene.make.tick();
    let register = async |client: &ConnectorClient| scene.store.register_client(client, since, 2).await.unwrap();
    let [first, second, third] = [scene.new_client(), scene.new_client(), scene.new_client()];
    assert!(register(&first).await && register(&second).await);
    assert!(!register(&third).await && !scene.client_is_known(&third).await);
    // Earlier ones do not count, and neither do those that were used.
    assert!(scene.store.register_client(&third, first.created_at, 2).await.unwrap());
    assert!(!register(&scene.new_client()).await);
    for client in [first, second] {
        scene.store.note_client_use(client.id, scene.make.tick()).await.unwrap();
    }
    assert!(register(&scene.new_client()).await);
    assert!(!register(&scene.new_client()).await);
}

/// The codes of a deleted user are gone. The keys that they granted stay.
pub async fn codes_go_with_their_user(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (client, agent) = (scene.registered_client().await, scene.agent().await);
    let (code, other) = (scene.stored_grant(&client, &agent).await, scene.stored_grant(&client, &agent).await);
    let key = scene.connector_key(&client, &agent).await;
    let user = scene.store.find_user(code.user).await.unwrap().unwrap();
    scene.commit(scene.changes().account(Change::DeleteUser { user: user.id, seen: user.version })).await;
    assert_eq!((scene.granted_code(&code).await, scene.granted_code(&other).await), (None, Some(other)));
    assert_eq!(scene.access_by(&key).await, key.connector);
    assert_refused!(scene.try_grant(&scene.new_grant(&client, &agent, user.id)).await, CommitError::Stale);
}

/// If a user is deleted while they grant codes, no code is left.
pub async fn no_code_outlives_its_user(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (client, agent) = (scene.registered_client().await, scene.agent().await);
    for _ in 0..3 {
        let user = scene.make.user();
        scene.commit(scene.changes().create(&user)).await;
        let codes: Vec<_> = (0..TASKS).map(|_| scene.new_grant(&client, &agent, user.id)).collect();
        let outcomes = race(TASKS, |index| {
            let (scene, code) = (scene.clone(), codes[index].clone());
            let deletion = Change::DeleteUser { user: user.id, seen: user.version };
            async move {
                if index == 0 {
                    scene.try_commit(scene.changes().account(deletion)).await
                } else {
                    scene.try_grant(&code).await
                }
            }
        })
        .await;
        for (index, outcome) in outcomes.iter().enumerate() {
            let stale = matches!(outcome, Err(CommitError::Stale)) && index > 0;
            assert!(outcome.is_ok() || stale, "{index}: {outcome:?}");
        }
        for code in &codes {
            assert_eq!(scene.granted_code(code).await, None);
        }
    }
}

/// The codes and tokens of a deleted account are gone at once, and no others.
pub async fn codes_and_tokens_go_with_their_organization(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let client = scene.registered_client().await;
    let mut granted = Vec::new();
    for scene in [&scene, &other] {
        let agent = scene.agent().await;
        let key = scene.connector_key(&client, &agent).await;
        granted.push((scene.stored_grant(&client, &agent).await, scene.stored_refresh_token(&key).await, key));
    }
    let (org, seen) = (scene.org, scene.organization().await.version);
    scene.commit(scene.changes().account(Change::DeleteOrganization { org, seen, at: scene.make.tick() })).await;
    for ((code, token, key), is_left) in granted.iter().zip([false, true]) {
        assert_eq!(scene.granted_code(code).await.is_some(), is_left);
        assert_eq!(scene.refresh_token_now(token).await.is_some(), is_left);
        assert_eq!(scene.access_by(key).await.is_some(), is_left);
    }
    while scene.store.remove_rows(org, 1).await.unwrap() > 0 {}
    let (code, token, _) = &granted[1];
    assert_eq!(scene.granted_code(code).await.as_ref(), Some(code));
    assert_eq!(scene.refresh_token_now(token).await.as_ref(), Some(token));
    assert!(scene.client_is_known(&client).await);
}
