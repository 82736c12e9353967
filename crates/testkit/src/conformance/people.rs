//! Users, the organizations that they found, and their sessions.

use kalends_accounts::{
    Change, Email, Membership, PasswordHash, Role, SESSION_LASTS, Session, SessionEnd, User, UserName,
    active_membership,
};
use kalends_app::{ChangeSet, ports::CommitError};
use kalends_kernel::{OrgId, SessionId, UserId, Version};
use kalends_time::{SignedDuration, Timestamp};

use super::{
    StoreUnderTest,
    scene::{Scene, assert_refused, race, successes},
};
use crate::fixtures::{Compose, at};

/// How many tasks run at once.
const TASKS: usize = 16;

impl Scene {
    /// Stores a user.
    async fn user(&self) -> User {
        let user = self.make.user();
        self.commit(self.changes().create(&user)).await;
        user
    }

    /// The current state of the user.
    async fn user_now(&self, user: UserId) -> User {
        self.store.find_user(user).await.unwrap().unwrap()
    }

    /// The change that makes the user, at the current version, the organization's owner.
    async fn adding(&self, user: UserId, org: OrgId, since: Timestamp) -> Change {
        Change::AddOwner { membership: Membership::owner(user, org, since), seen: self.user_now(user).await.version }
    }

    /// Stores a session of the user.
    async fn session(&self, user: UserId, org: Option<OrgId>) -> Session {
        let session = self.make.session(user, org);
        self.commit(self.changes().account(self.beginning(&session).await)).await;
        session
    }

    async fn beginning(&self, session: &Session) -> Change {
        Change::CreateSession { session: *session, seen: self.user_now(session.user).await.version }
    }

    pub(super) async fn end(&self, end: SessionEnd, at: Timestamp) {
        self.commit(self.changes().account(Change::EndSessions { end, at })).await;
    }

    async fn session_now(&self, session: SessionId) -> Option<Session> {
        self.store.find_session(session).await.unwrap()
    }
}

/// Every field survives, empty and full. An unknown user is absent.
pub async fn people_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let bare = User { password: None, ..scene.make.user() };
    let stating = User { holds_address: false, ..scene.make.user() };
    let full = User {
        email_verified_at: Some(at("2099-12-31T23:59:59.999999Z")),
        name: UserName::from_stored("Žluťoučký kůň 診察 🐎 'quoted' \"twice\" \\ %_".into()),
        password: Some(PasswordHash::new("$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA".into())),
        version: Version(41),
        created_at: at("1970-01-01T00:00:00.000001Z"),
        ..scene.make.user()
    };
    for user in [&bare, &full, &stating] {
        scene.commit(scene.changes().create(user)).await;
    }
    assert_eq!(scene.store.find_user(stating.id).await.unwrap().as_ref(), Some(&stating));
    assert_eq!(scene.store.users_stating(&stating.email, 1).await.unwrap(), [stating]);
    for user in [&bare, &full] {
        assert_eq!(scene.store.find_user(user.id).await.unwrap().as_ref(), Some(user));
        assert_eq!(scene.store.find_user_by_email(&user.email).await.unwrap().as_ref(), Some(user));
    }
    let stranger = scene.make.user();
    assert_eq!(scene.store.find_user(stranger.id).await.unwrap(), None);
    assert_eq!(scene.store.find_user_by_email(&stranger.email).await.unwrap(), None);
    assert_eq!(scene.store.memberships_of(full.id).await.unwrap(), []);
    assert_eq!(scene.store.owner_of(scene.org).await.unwrap(), None);
}

/// An update is applied only if the row has the version that was seen.
pub async fn people_are_updated_only_at_the_version_seen(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let before = scene.user().await;
    let now = scene.make.tick();
    let after = User {
        email: scene.make.email(),
        email_verified_at: Some(now),
        ..before
            .with_password(PasswordHash::new("$other".into()), now)
            .named(UserName::from_stored("Grace".into()), now)
    };
    let update = |user: &User, seen| scene.try_commit(scene.changes().update(user, seen));
    assert_refused!(update(&after, after.version).await, CommitError::Stale);
    assert_eq!(scene.user_now(before.id).await, before);
    update(&after, before.version).await.unwrap();
    assert_eq!(scene.user_now(before.id).await, after);
    assert_refused!(update(&before, before.version).await, CommitError::Stale);
    assert_refused!(update(&scene.make.user(), Version::FIRST).await, CommitError::Stale);
    assert_eq!(scene.store.find_user_by_email(&before.email).await.unwrap(), None, "the old address is free");
}

/// An address belongs to one user; addresses of organizations do not matter.
pub async fn an_address_belongs_to_one_user(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (first, second) = (scene.user().await, scene.user().await);
    let other = User { email: first.email.clone(), ..scene.make.user() };
    assert_refused!(scene.try_commit(scene.changes().create(&other)).await, CommitError::EmailTaken);
    let moved = User { email: first.email.clone(), version: second.version.next(), ..second.clone() };
    assert_refused!(scene.try_commit(scene.changes().update(&moved, second.version)).await, CommitError::EmailTaken);
    let organization = kalends_accounts::Organization { email: Some(first.email.clone()), ..scene.make.organization() };
    scene.commit(ChangeSet::new(organization.id).create(&organization)).await;
    let email = scene.make.email();
    let outcomes = race(TASKS, |_| {
        let (scene, user) = (scene.clone(), User { email: email.clone(), ..scene.make.user() });
        async move { scene.try_commit(scene.changes().create(&user)).await }
    })
    .await;
    assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    for outcome in outcomes.into_iter().filter(Result::is_err) {
        assert_refused!(outcome, CommitError::EmailTaken);
    }
}

/// Several users state an address that nobody holds, newest first. The first who holds it is the only one.
pub async fn several_users_state_an_address(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let email = scene.make.email();
    let mut stating = Vec::new();
    for _ in 0..4 {
        let user = User { email: email.clone(), holds_address: false, ..scene.make.user() };
        scene.commit(scene.changes().create(&user)).await;
        stating.insert(0, user);
    }
    scene.user().await;
    assert_eq!(scene.store.find_user_by_email(&email).await.unwrap(), None);
    assert_eq!(scene.store.users_stating(&email, 3).await.unwrap(), stating[..3]);
    let outcomes = race(stating.len(), |index| {
        let (scene, before) = (scene.clone(), stating[index].clone());
        async move {
            let after = before.proved(scene.make.tick());
            scene.try_commit(scene.changes().update(&after, before.version)).await
        }
    })
    .await;
    assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    let won = outcomes.iter().position(Result::is_ok).unwrap();
    for outcome in outcomes.into_iter().filter(Result::is_err) {
        assert_refused!(outcome, CommitError::EmailTaken);
    }
    assert_eq!(scene.store.find_user_by_email(&email).await.unwrap().map(|user| user.id), Some(stating[won].id));
    stating.remove(won);
    assert_eq!(scene.store.users_stating(&email, 9).await.unwrap(), stating);
    let late = User { email, holds_address: false, ..scene.make.user() };
    scene.commit(scene.changes().create(&late)).await;
}

/// An organization gets its first owner once. The user's version rises with every change of ownership, and guards it.
pub async fn an_organization_gets_its_first_owner_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (ada, bob) = (scene.user().await, scene.user().await);
    let (early, late) = (scene.make.tick(), scene.make.tick());
    scene.commit(scene.changes().account(scene.adding(ada.id, scene.org, late).await)).await;
    assert_eq!(scene.user_now(ada.id).await.version, ada.version.next());
    for (user, org, why) in [
        (ada.id, scene.org, "the user owns it already"),
        (bob.id, scene.org, "the organization has an owner"),
        (bob.id, OrgId::from_bytes([7; 16]), "the organization does not exist"),
    ] {
        let refused = scene.try_commit(scene.changes().account(scene.adding(user, org, late).await)).await;
        assert_refused!(refused, CommitError::Stale);
        assert_eq!(scene.user_now(bob.id).await, bob, "{why}");
    }
    let stale = Change::AddOwner { membership: Membership::owner(ada.id, other.org, early), seen: ada.version };
    assert_refused!(scene.try_commit(scene.changes().account(stale)).await, CommitError::Stale);
    scene.commit(scene.changes().account(scene.adding(ada.id, other.org, early).await)).await;

    let owned = |org, since| Membership::owner(ada.id, org, since);
    let both = [owned(other.org, early), owned(scene.org, late)];
    assert_eq!(scene.store.memberships_of(ada.id).await.unwrap(), both, "the longest owned first");
    assert_eq!(scene.store.memberships_of(bob.id).await.unwrap(), []);
    assert_eq!(scene.store.owner_of(scene.org).await.unwrap(), Some(both[1]));

    let seen = scene.user_now(ada.id).await.version;
    let giving_up = |user, seen| scene.changes().account(Change::RemoveMember { user, org: scene.org, seen });
    assert_refused!(scene.try_commit(giving_up(ada.id, ada.version)).await, CommitError::Stale);
    assert_refused!(scene.try_commit(giving_up(bob.id, bob.version)).await, CommitError::Stale);
    assert_eq!(scene.store.memberships_of(ada.id).await.unwrap(), both);
    scene.commit(giving_up(ada.id, seen)).await;
    assert_eq!(scene.store.memberships_of(ada.id).await.unwrap(), both[..1]);
    assert_eq!(scene.user_now(ada.id).await.version, seen.next());
    assert_refused!(scene.try_commit(giving_up(ada.id, seen.next())).await, CommitError::Stale);
}

/// If many users become the owner at once, one succeeds.
pub async fn one_user_becomes_the_owner(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let since = scene.make.tick();
    let mut users = Vec::new();
    for _ in 0..TASKS {
        users.push(scene.user().await);
    }
    let outcomes = race(TASKS, |index| {
        let (scene, user) = (scene.clone(), users[index].id);
        async move { scene.try_commit(scene.changes().account(scene.adding(user, scene.org, since).await)).await }
    })
    .await;
    assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    let won = outcomes.iter().position(Result::is_ok).unwrap();
    assert_eq!(scene.store.owner_of(scene.org).await.unwrap().map(|owner| owner.user), Some(users[won].id));
}

/// If one user gives up several organizations at once, all at the same version, one change succeeds and the others are
/// stale: the caller that gives up the last one must know that nothing is left.
pub async fn organizations_are_given_up_one_at_a_time(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let user = scene.user().await;
    let mut orgs = vec![scene.org];
    while orgs.len() < TASKS {
        orgs.push(scene.other_organization().await.org);
    }
    for org in &orgs {
        scene.commit(scene.changes().account(scene.adding(user.id, *org, scene.make.tick()).await)).await;
    }
    let seen = scene.user_now(user.id).await.version;
    let outcomes = race(TASKS, |index| {
        let (scene, org, user) = (scene.clone(), orgs[index], user.id);
        async move { scene.try_commit(ChangeSet::new(org).account(Change::RemoveMember { user, org, seen })).await }
    })
    .await;
    assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    assert_eq!(scene.store.memberships_of(user.id).await.unwrap().len(), TASKS - 1);
}

/// A deleted user's sessions and memberships are deleted too; those of others stay.
pub async fn a_deleted_user_leaves_nothing(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (ada, bob) = (scene.user().await, scene.user().await);
    for (user, org) in [(&ada, scene.org), (&bob, other.org)] {
        scene.commit(scene.changes().account(scene.adding(user.id, org, scene.make.tick()).await)).await;
    }
    let (hers, his) = (scene.session(ada.id, Some(scene.org)).await, scene.session(bob.id, None).await);
    let delete = |seen| scene.changes().account(Change::DeleteUser { user: ada.id, seen });
    assert_refused!(scene.try_commit(delete(ada.version)).await, CommitError::Stale);
    assert_eq!(scene.session_now(hers.id).await, Some(hers));
    let seen = scene.user_now(ada.id).await.version;
    scene.commit(delete(seen)).await;
    assert_refused!(scene.try_commit(delete(seen)).await, CommitError::Stale);
    assert_eq!(scene.store.find_user(ada.id).await.unwrap(), None);
    assert_eq!(scene.store.owner_of(scene.org).await.unwrap(), None);
    assert_eq!(scene.session_now(hers.id).await, None);
    assert_eq!(scene.session_now(his.id).await, Some(his));
    assert!(scene.store.owner_of(other.org).await.unwrap().is_some());
    scene.commit(scene.changes().create(&User { email: ada.email.clone(), ..scene.make.user() })).await;
}

/// Every field survives. A session needs its user at the version that was seen.
pub async fn sessions_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let user = scene.user().await;
    let now = scene.make.tick();
    let plain = scene.session(user.id, None).await;
    let full = Session { org: Some(scene.org), revoked_at: Some(now), ..scene.make.session(user.id, None) };
    scene.commit(scene.changes().account(scene.beginning(&full).await)).await;
    for session in [plain, full] {
        assert_eq!(scene.session_now(session.id).await, Some(session));
    }
    assert_eq!(scene.session_now(SessionId::from_bytes([9; 16])).await, None);

    let late = scene.make.session(user.id, None);
    let begin = |session: Session, seen| scene.changes().account(Change::CreateSession { session, seen });
    assert_refused!(scene.try_commit(begin(late, user.version.next())).await, CommitError::Stale);
    let of_nobody = scene.make.session(scene.make.user().id, None);
    assert_refused!(scene.try_commit(begin(of_nobody, Version::FIRST)).await, CommitError::Stale);
    assert_eq!(scene.session_now(late.id).await, None);
}

/// A session is switched while it is valid, and nothing else about it changes.
pub async fn only_valid_sessions_are_switched(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let user = scene.user().await;
    let (session, other) = (scene.session(user.id, None).await, scene.session(user.id, None).await);
    let now = scene.make.tick();
    let switch = async |session: Session, org, at| {
        let session = Session { org, expires_at: at, created_at: at, ..session };
        scene.try_commit(scene.changes().account(Change::SwitchSession { session, at })).await
    };
    switch(session, Some(scene.org), now).await.unwrap();
    let switched = Session { org: Some(scene.org), ..session };
    assert_eq!(scene.session_now(session.id).await, Some(switched), "only the organization changes");
    assert_refused!(switch(session, None, session.expires_at).await, CommitError::Stale);
    let of_another = Session { user: scene.make.user().id, ..session };
    assert_refused!(switch(of_another, None, now).await, CommitError::Stale);
    assert_eq!(scene.session_now(session.id).await, Some(switched));
    scene.end(SessionEnd::SignOut(session.id), now).await;
    assert_refused!(switch(session, None, now).await, CommitError::Stale);
    assert_eq!(scene.session_now(other.id).await, Some(other));
}

/// Each kind of end ends the sessions that it names, once.
pub async fn sessions_end(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (ada, bob) = (scene.user().await, scene.user().await);
    let mut sessions = Vec::new();
    for user in [&ada, &ada, &ada, &bob] {
        sessions.push(scene.session(user.id, None).await);
    }
    for end in [
        SessionEnd::SignOut(sessions[1].id),
        SessionEnd::SignOut(SessionId::from_bytes([9; 16])),
        SessionEnd::PasswordChange { user: ada.id, keep: Some(sessions[0].id) },
        SessionEnd::PasswordChange { user: ada.id, keep: None },
        SessionEnd::AccountDeletion(ada.id),
        SessionEnd::AccountDeletion(bob.id),
    ] {
        let now = scene.make.tick();
        scene.end(end, now).await;
        for session in &mut sessions {
            if end.ends(session) {
                *session = session.ended(now);
            }
            assert_eq!(scene.session_now(session.id).await, Some(*session), "{end:?}");
        }
    }
    assert!(sessions.iter().all(|session| session.revoked_at.is_some()));
}

/// Sessions that are switched to an organization end with it, and so does its ownership.
pub async fn sessions_end_with_their_organization(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let user = scene.user().await;
    for org in [scene.org, other.org] {
        scene.commit(scene.changes().account(scene.adding(user.id, org, scene.make.tick()).await)).await;
    }
    let (here, there, nowhere) = (
        scene.session(user.id, Some(scene.org)).await,
        scene.session(user.id, Some(other.org)).await,
        scene.session(user.id, None).await,
    );
    let (org, seen, at) = (scene.org, scene.organization().await.version, scene.make.tick());
    scene.commit(scene.changes().account(Change::DeleteOrganization { org, seen, at })).await;
    assert_eq!(scene.session_now(here.id).await, None);
    assert_eq!(scene.session_now(there.id).await, Some(there));
    assert_eq!(scene.session_now(nowhere.id).await, Some(nowhere));
    assert_eq!(scene.store.owner_of(scene.org).await.unwrap(), None);
    let owned = scene.store.memberships_of(user.id).await.unwrap();
    assert_eq!(owned.iter().map(|owned| owned.org).collect::<Vec<_>>(), [other.org]);

    // Later changes for it are refused.
    let late = scene.changes().account(scene.adding(user.id, scene.org, at).await);
    assert_refused!(scene.try_commit(late).await, CommitError::NoOrganization);
}

/// What a session opens is what the reads of its parts and the active membership say.
pub async fn a_session_opens_the_active_membership(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (user, lonely) = (scene.user().await, scene.user().await);
    for (at, role) in [(&other, Role::Viewer), (&scene, Role::Owner)] {
        let membership = Membership { user: user.id, org: at.org, role, since: scene.make.tick() };
        let seen = scene.user_now(user.id).await.version;
        let change = match role {
            Role::Owner => Change::AddOwner { membership, seen },
            _ => Change::AddMember { membership, seen },
        };
        at.commit(at.changes().account(change)).await;
    }
    let mut sessions = Vec::new();
    for org in [None, Some(scene.org), Some(other.org), Some(OrgId::from_bytes([9; 16]))] {
        sessions.push(scene.session(user.id, org).await);
    }
    scene.end(SessionEnd::SignOut(sessions[1].id), scene.make.tick()).await;
    let memberships = scene.store.memberships_of(user.id).await.unwrap();
    let mut opened = Vec::new();
    for session in &sessions {
        let found = scene.store.find_signed_in(session.id, user.id).await.unwrap();
        let active = active_membership(&memberships, session.org);
        assert_eq!(found.as_ref().map(|found| (found.organization.id, found.role)), active.map(|it| (it.org, it.role)));
        if let Some(found) = &found {
            assert_eq!(Some(found.session), scene.session_now(session.id).await);
            assert_eq!(found.user, scene.user_now(user.id).await);
            let organization = scene.store.find_organization(found.organization.id).await.unwrap();
            assert_eq!(Some(&found.organization), organization.as_ref());
        }
        opened.push(found.map(|found| (found.organization.id, found.session.revoked_at.is_some())));
    }
    assert_eq!(opened, [Some((other.org, false)), Some((scene.org, true)), Some((other.org, false)), None]);

    let of_another = scene.store.find_signed_in(sessions[0].id, lonely.id).await.unwrap();
    assert_eq!(of_another, None, "the session of another user");
    let nowhere = scene.session(lonely.id, None).await;
    assert_eq!(scene.store.find_signed_in(nowhere.id, lonely.id).await.unwrap(), None, "no membership");
}

/// Expired sessions are removed in batches, and nothing else is.
pub async fn expired_sessions_are_purged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let user = scene.user().await;
    let mut sessions = Vec::new();
    for _ in 0..6 {
        sessions.push(scene.session(user.id, None).await);
    }
    let now = sessions[4].created_at + SESSION_LASTS;
    let forget = async |now, limit| scene.store.forget_sessions(now, limit).await.unwrap();
    assert_eq!(forget(sessions[0].expires_at - SignedDuration::micros(1), 9).await, 0);
    assert_eq!((forget(now, 3).await, forget(now, 3).await, forget(now, 3).await), (3, 2, 0));
    for (index, session) in sessions.iter().enumerate() {
        assert_eq!(scene.session_now(session.id).await, (index == 5).then_some(*session));
    }
}

/// A sign-in with a password that is being changed is refused, or is signed out with the other sessions.
pub async fn no_session_outlives_a_password_change(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for _ in 0..4 {
        let user = scene.user().await;
        let sessions: Vec<_> = (0..TASKS).map(|_| scene.make.session(user.id, None)).collect();
        let now = scene.make.tick();
        let outcomes = race(TASKS, |index| {
            let (scene, user, session) = (scene.clone(), user.clone(), sessions[index]);
            async move {
                let seen = user.version;
                let changes = if index == TASKS / 2 {
                    let changed = user.with_password(PasswordHash::new("$other".into()), now);
                    let end = SessionEnd::PasswordChange { user: user.id, keep: None };
                    scene.changes().update(&changed, seen).account(Change::EndSessions { end, at: now })
                } else {
                    scene.changes().account(Change::CreateSession { session, seen })
                };
                scene.try_commit(changes).await
            }
        })
        .await;
        outcomes[TASKS / 2].as_ref().unwrap();
        for (session, outcome) in sessions.iter().zip(&outcomes) {
            let found = scene.session_now(session.id).await;
            assert!(found.is_none_or(|found| found.revoked_at == Some(now)), "{outcome:?}");
        }
    }
}

/// Every address is found in the form in which it is stored.
pub async fn addresses_are_found_as_stored(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let email = Email::parse("email", "Ada+Console@Bücher.EXAMPLE.").unwrap();
    let user = User { email: email.clone(), ..scene.make.user() };
    scene.commit(scene.changes().create(&user)).await;
    let email = Email::parse("email", "ada+console@xn--bcher-kva.example").unwrap();
    assert_eq!(scene.store.find_user_by_email(&email).await.unwrap(), Some(user));
}
