//! Members of an organization: invitations by mail, roles, leaving, and what stays private to each of them.

use std::time::Duration;

use kalends_e2e::{Answer, Client, Database, Server, Visitor};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    booking_browser::{PHONE, fits},
    claims::{self, DAY, signed_in, text},
    connecting::{Connecting, HUMAN},
    console::{Human, PASSWORD, signing_up},
    fixtures::{has_exactly, is_id, is_time, wait_for},
    on_both,
};

const MEMBERS: &str = "/v1/auth/members";
const ACCEPT: &str = "/v1/auth/invitations/accept";

pub(crate) async fn invite(by: &Client, email: &str, role: &str) -> Answer {
    by.post(MEMBERS).json(json!({ "email": email, "role": role })).await
}

/// The token in the latest of `count` invitations to that address.
pub(crate) async fn token(server: &Server, to: &str, count: usize) -> String {
    for _ in 0..3_000 {
        let mut mails = server.mails();
        mails.retain(|mail| mail.to == to && mail.text.contains("/console/invitations#"));
        if mails.len() >= count {
            let text = mails.pop().unwrap().text;
            let (_, rest) = text.split_once("/console/invitations#").unwrap();
            return rest.split_whitespace().next().unwrap().to_owned();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("no {count} invitations of {to}: {:#?}", server.mails());
}

async fn accept(user: &Client, token: &str) -> Answer {
    user.post(ACCEPT).json(json!({ "token": token })).await
}

/// Signs up a user and makes them a member of the organization of `by`. The session is switched there.
pub(crate) async fn member(server: &Server, by: &Client, email: &str, role: &str) -> (Human, Client) {
    invite(by, email, role).await.expect(201);
    let human = Human::sign_up(server, email).await;
    let client = server.client(&human.token);
    let joined = accept(&client, &token(server, email, 1).await).await.expect(200);
    client.post(format!("/v1/auth/orgs/{}/switch", text(&joined["id"]))).await.expect(200);
    (human, client)
}

/// The addresses and roles of the members, and the addresses of the open invitations.
async fn listed(by: &Client) -> (Vec<(String, String)>, Vec<String>) {
    let all = by.get(MEMBERS).await.expect(200);
    let of = |list: &str| all[list].as_array().unwrap().clone();
    let members = of("members").iter().map(|member| (text(&member["email"]), text(&member["role"]))).collect();
    (members, of("invitations").iter().map(|invitation| text(&invitation["email"])).collect())
}

fn pair(email: &str, role: &str) -> (String, String) {
    (email.to_owned(), role.to_owned())
}

#[apply(on_both)]
#[tokio::test]
async fn an_invited_person_becomes_a_member(#[case] database: Database) {
    let server = Server::start_with(database, &[("KALENDS_LOG", "debug")]).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let invited = invite(&owner, "Bob@Example.com", "member").await.expect(201);
    has_exactly(&invited.json, &["id", "email", "role", "invited_by", "created_at", "expires_at"]);
    is_id(&invited["id"], "inv_");
    let shown = (&invited["email"], &invited["role"], &invited["invited_by"]);
    assert_eq!(shown, (&json!("bob@example.com"), &json!("member"), &json!(ada.user)));
    let token = token(&server, "bob@example.com", 1).await;
    let mail = server.mails().into_iter().find(|mail| mail.to == "bob@example.com").unwrap();
    assert_eq!(mail.subject, "Join \"Engines\" on Kalends");
    assert!(mail.text.contains("\"Ada\" invites you to the organization \"Engines\""), "{}", mail.text);
    let (members, invitations) = listed(&owner).await;
    assert_eq!((members, invitations), (vec![pair("ada@example.com", "owner")], vec!["bob@example.com".to_owned()]));

    // Only the holder of the address can accept it.
    let eve = server.client(&Human::sign_up(&server, "eve@example.com").await.token);
    accept(&eve, &token).await.refused(403, "forbidden").code("other_address");
    server.anonymous().post(ACCEPT).json(json!({ "token": token })).await.refused(401, "authentication_error");
    let bob = Human::sign_up(&server, "bob@example.com").await;
    let session = server.client(&bob.token);
    for wrong in ["nobody-s", &format!("{token}x"), " "] {
        accept(&session, wrong).await.refused(400, "validation_error").param("token");
    }
    assert_eq!(session.get("/v1/auth/me").await.expect(200)["user"]["email_verified_at"], json!(null));
    let joined = accept(&session, &token).await.expect(200);
    let expected = (&json!(ada.org), &json!("Engines"), &json!("member"), &json!(false));
    assert_eq!((&joined["id"], &joined["name"], &joined["role"], &joined["active"]), expected);
    accept(&session, &token).await.refused(400, "validation_error").param("token");

    // The session stays where it was. The address is proved.
    let me = session.get("/v1/auth/me").await.expect(200);
    assert_eq!((&me["org"]["id"], &me["role"]), (&json!(bob.org), &json!("owner")));
    is_time(&me["user"]["email_verified_at"]);
    let orgs = session.get("/v1/auth/orgs").await.expect(200);
    let roles: Vec<_> = orgs["orgs"].as_array().unwrap().iter().map(|org| (&org["id"], &org["role"])).collect();
    assert_eq!(roles, [(&json!(bob.org), &json!("owner")), (&json!(ada.org), &json!("member"))]);
    let switched = session.post(format!("/v1/auth/orgs/{}/switch", ada.org)).await.expect(200);
    assert_eq!((&switched["org"]["id"], &switched["role"]), (&json!(ada.org), &json!("member")));
    session.post("/v1/agents").json(json!({ "name": "Scout", "type": "ai" })).await.expect(201);
    assert_eq!(server.client(&ada.key).get("/v1/agents").await.expect(200)["total"], 1);
    let (members, invitations) = listed(&session).await;
    assert_eq!(members, [pair("ada@example.com", "owner"), pair("bob@example.com", "member")]);
    assert_eq!(invitations, Vec::<String>::new());

    // The audit log has both, the list of emails has the invitation, and the token is in neither of them.
    for (action, by) in [("member.invite", &ada.user), ("member.join", &bob.user)] {
        let log = owner.get("/v1/audit-log").query(&[("action", action)]).await.expect(200);
        assert_eq!((log.data().len(), &log.data()[0]["actor_key_prefix"]), (1, &json!(by[..20])), "{action}");
        assert!(!log.text().contains(&token));
    }
    let mails = owner.get("/v1/mail").await.expect(200);
    assert_eq!(mails.data()[0]["to"], "bob@example.com");
    assert!(!mails.text().contains(&token) && !invited.text().contains(&token) && !server.log().contains(&token));
}

#[apply(on_both)]
#[tokio::test]
async fn a_withdrawn_invitation_is_not_mailed_later(#[case] database: Database) {
    let mut server = Server::start_with(database, &[("KALENDS_MAIL_LIMITS", "org=9,recipient=1")]).await;
    let owner = server.client(&Human::sign_up(&server, "ada@example.com").await.token);
    let (bob, eve) = ("bob@example.com", "eve@example.com");
    // One email goes out. The others wait for the recipient's limit: one is withdrawn, one is replaced, one stays.
    for (email, sent) in [(bob, 1), (eve, 2)] {
        let first = invite(&owner, email, "viewer").await.expect(201);
        wait_for(|| async { owner.get("/v1/mail?status=sent").await }, |mail| mail.data().len() == sent).await;
        owner.delete(format!("{MEMBERS}/{}", first.id())).await.expect(204);
    }
    let withdrawn = invite(&owner, bob, "viewer").await.expect(201);
    owner.delete(format!("{MEMBERS}/{}", withdrawn.id())).await.expect(204);
    invite(&owner, eve, "viewer").await.expect(201);
    invite(&owner, eve, "member").await.expect(201);
    assert_eq!(owner.get("/v1/mail?status=outdated").await.expect(200).data().len(), 2);
    server.restart_at_offset(3_700).await;
    token(&server, eve, 2).await;
    let sent = server.mails();
    let to = |email: &str| sent.iter().filter(|mail| mail.to == email).count();
    assert_eq!((to(bob), to(eve)), (1, 2));
}

#[apply(on_both)]
#[tokio::test]
async fn invitations_end(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    Human::sign_up(&server, "bob@example.com").await;
    let (bob, email) = (signed_in(&server, "bob@example.com").await, "bob@example.com");

    // A new one replaces the old one.
    invite(&owner, email, "viewer").await.expect(201);
    let old = token(&server, email, 1).await;
    let again = invite(&owner, email, "admin").await.expect(201);
    let new = token(&server, email, 2).await;
    accept(&bob, &old).await.refused(400, "validation_error").param("token");
    assert_eq!(listed(&owner).await.1, [email]);

    // A repeated request sends no second email.
    let repeated = || {
        let body = json!({ "email": "eve@example.com", "role": "viewer" });
        owner.post(MEMBERS).header("idempotency-key", "once").json(body)
    };
    let first = repeated().await.expect(201);
    assert_eq!(repeated().await.expect(201).json, first.json);
    token(&server, "eve@example.com", 1).await;
    owner.delete(format!("{MEMBERS}/{}", first.id())).await.expect(204);
    assert_eq!(server.mails().iter().filter(|mail| mail.to == "eve@example.com").count(), 1);

    // A withdrawn one no longer works.
    let path = format!("{MEMBERS}/{}", again.id());
    owner.delete(&path).await.expect(204);
    owner.delete(&path).await.refused(404, "not_found").code("member_not_found");
    accept(&bob, &new).await.refused(400, "validation_error").param("token");
    assert_eq!(listed(&owner).await.1, Vec::<String>::new());

    // It works for 7 days.
    invite(&owner, email, "viewer").await.expect(201);
    let late = token(&server, email, 3).await;
    server.restart_at_offset(7 * DAY - 120).await;
    assert_eq!(listed(&signed_in(&server, "ada@example.com").await).await.1, [email]);
    server.restart_at_offset(7 * DAY + 5).await;
    let owner = signed_in(&server, "ada@example.com").await;
    assert_eq!(listed(&owner).await.1, Vec::<String>::new());
    accept(&signed_in(&server, email).await, &late).await.refused(400, "validation_error").param("token");
}

#[apply(on_both)]
#[tokio::test]
async fn invitations_are_validated(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    for (field, value) in [("email", json!("bob")), ("role", json!("king")), ("role", json!("Owner"))] {
        let mut body = json!({ "email": "bob@example.com", "role": "viewer" });
        body[field] = value;
        owner.post(MEMBERS).json(body).await.refused(400, "validation_error").param(field);
    }
    let known = invite(&owner, "ada@example.com", "viewer").await;
    known.refused(409, "conflict").code("already_member");
    // A key is no session.
    server.client(&ada.key).get(MEMBERS).await.refused(401, "authentication_error");
    // An agent's organization whose address is not proved sends no words to others.
    claims::agent(&server, "agent@example.com").await;
    let claimed = crate::console::owner(&server, "agent@example.com").await;
    invite(&claimed, "bob@example.com", "viewer").await.refused(403, "forbidden").code("verification_required");
    // Neither does an organization on the waiting list.
    server.cli(&["org", "waitlist", &ada.org]).await.succeeded();
    invite(&owner, "bob@example.com", "viewer").await.refused(403, "account_waitlisted");
    assert!(server.mails().iter().all(|mail| mail.to != "bob@example.com"));
}

#[apply(on_both)]
#[tokio::test]
async fn roles_are_changed_up_to_one_s_own(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let (bob, admin) = member(&server, &owner, "bob@example.com", "admin").await;
    let (eve, viewer) = member(&server, &owner, "eve@example.com", "viewer").await;
    let change = async |by: &Client, user: &str, role: &str| {
        by.patch(format!("{MEMBERS}/{user}")).json(json!({ "role": role })).await
    };
    let too_low = |answer: Answer| answer.refused(403, "forbidden").code("role_too_low");

    too_low(change(&viewer, &eve.user, "admin").await);
    too_low(invite(&viewer, "mallory@example.com", "viewer").await);
    too_low(change(&admin, &eve.user, "owner").await);
    too_low(change(&admin, &ada.user, "viewer").await);
    too_low(invite(&admin, "mallory@example.com", "owner").await);
    too_low(admin.delete(format!("{MEMBERS}/{}", ada.user)).await);
    // An invitation is replaced only by somebody who could withdraw it.
    let above = invite(&owner, "joan@example.com", "owner").await.expect(201);
    too_low(invite(&admin, "joan@example.com", "viewer").await);
    too_low(admin.delete(format!("{MEMBERS}/{}", above.id())).await);
    owner.delete(format!("{MEMBERS}/{}", above.id())).await.expect(204);
    too_low(viewer.delete(format!("{MEMBERS}/{}", bob.user)).await);
    change(&owner, "usr_nobody", "viewer").await.refused(404, "not_found").code("member_not_found");

    // The new role counts at once.
    viewer.post("/v1/agents").json(json!({ "name": "Scout", "type": "ai" })).await.refused(403, "forbidden");
    let promoted = change(&admin, &eve.user, "member").await.expect(200);
    has_exactly(&promoted.json, &["id", "email", "name", "role", "member_since"]);
    assert_eq!((&promoted["id"], &promoted["role"]), (&json!(eve.user), &json!("member")));
    viewer.post("/v1/agents").json(json!({ "name": "Scout", "type": "ai" })).await.expect(201);

    // The last owner stays one. With another, the first may step down, and loses the invitations above the new role.
    let last = |answer: Answer| answer.refused(409, "conflict").code("last_owner");
    last(change(&owner, &ada.user, "admin").await);
    last(owner.delete(format!("{MEMBERS}/{}", ada.user)).await);
    change(&owner, &bob.user, "owner").await.expect(200);
    invite(&owner, "grace@example.com", "owner").await.expect(201);
    invite(&owner, "joan@example.com", "viewer").await.expect(201);
    change(&owner, &ada.user, "admin").await.expect(200);
    assert_eq!(listed(&owner).await.1, ["joan@example.com"]);
    owner.delete("/v1/auth/account").await.refused(403, "forbidden").code("role_too_low");
    last(admin.delete(format!("{MEMBERS}/{}", bob.user)).await);
    change(&admin, &ada.user, "viewer").await.expect(200);
    assert_eq!(listed(&admin).await.1, Vec::<String>::new(), "a viewer invites nobody");
    let log = admin.get("/v1/audit-log?action=member.update").await.expect(200);
    assert_eq!(log.data().len(), 4);
}

#[apply(on_both)]
#[tokio::test]
async fn members_leave(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let (bob, his) = member(&server, &owner, "bob@example.com", "viewer").await;
    let (_, hers) = member(&server, &owner, "eve@example.com", "admin").await;

    // Everybody may leave. The session ends with the membership, so that it never speaks for another organization: the
    // request may be repeated.
    let leave = || his.delete(format!("{MEMBERS}/{}", bob.user)).header("idempotency-key", "once");
    leave().await.expect(204);
    leave().await.refused(401, "authentication_error");
    let his = signed_in(&server, "bob@example.com").await;
    let me = his.get("/v1/auth/me").await.expect(200);
    assert_eq!((&me["org"]["id"], &me["role"]), (&json!(bob.org), &json!("owner")));
    his.post(format!("/v1/auth/orgs/{}/switch", ada.org)).await.refused(404, "not_found");

    // Who belongs to nothing else loses the account.
    let accepted = member(&server, &hers, "joan@example.com", "member").await;
    let joan = accepted.1;
    joan.post(format!("/v1/auth/orgs/{}/switch", accepted.0.org)).await.expect(200);
    joan.delete("/v1/auth/account").await.expect(204);
    let joan = signed_in(&server, "joan@example.com").await;
    assert_eq!(joan.get("/v1/auth/me").await.expect(200)["org"]["id"], json!(ada.org));
    hers.delete(format!("{MEMBERS}/{}", accepted.0.user)).await.expect(204);
    joan.get("/v1/auth/me").await.refused(401, "authentication_error");
    assert_eq!(listed(&owner).await.0, [pair("ada@example.com", "owner"), pair("eve@example.com", "admin")]);
    Human::sign_up(&server, "joan@example.com").await;

    // The deletion of the organization ends all memberships.
    invite(&owner, "grace@example.com", "viewer").await.expect(201);
    let open = token(&server, "grace@example.com", 1).await;
    hers.delete("/v1/auth/account").await.refused(403, "forbidden").code("role_too_low");
    owner.delete("/v1/auth/account").await.expect(204);
    owner.get("/v1/auth/me").await.refused(401, "authentication_error");
    let eve = signed_in(&server, "eve@example.com").await;
    assert_eq!(eve.get("/v1/auth/orgs").await.expect(200)["orgs"].as_array().unwrap().len(), 1);
    let grace = server.client(&Human::sign_up(&server, "grace@example.com").await.token);
    accept(&grace, &open).await.refused(400, "validation_error").param("token");
}

#[apply(on_both)]
#[tokio::test]
async fn connected_calendars_are_private_to_their_member(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let connection = it.granted(&it.google).await;
    let (_, admin) = member(&it.server, &it.console, "admin@example.com", "owner").await;
    let grants = it.console.get("/v1/availability-grants").await.expect(200);
    let grant = grants.data()[0].clone();
    for list in ["/v1/calendar-connections", "/v1/availability-grants"] {
        assert_eq!(it.console.get(list).await.expect(200)["total"], 1);
        assert_eq!(admin.get(list).await.expect(200)["total"], 0, "{list}");
    }
    let path = format!("/v1/calendar-connections/{connection}");
    for way in ["", "/external-calendars"] {
        admin.get(format!("{path}{way}")).await.refused(404, "not_found");
    }
    for way in ["/pause", "/refresh", "/reauthorize"] {
        admin.post(format!("{path}{way}")).await.refused(404, "not_found");
    }
    admin.delete(&path).await.refused(404, "not_found");
    admin.delete(format!("/v1/availability-grants/{}", text(&grant["id"]))).await.refused(404, "not_found");
    let theirs = json!({ "external_calendar_ids": grant["external_calendar_ids"], "audience": "all" });
    admin.post("/v1/availability-grants").json(theirs).await.refused(404, "not_found");
    let export: Value = admin.get("/v1/auth/export").await.expect(200).json.clone();
    assert_eq!((&export["calendar_connections"], &export["availability_grants"]), (&json!([]), &json!([])));
    let members: Vec<_> = export["members"].as_array().unwrap().iter().map(|member| text(&member["email"])).collect();
    assert_eq!(members, [HUMAN, "admin@example.com"]);

    // They no longer count once the member has left, and the consent is given back.
    let me = it.console.get("/v1/auth/me").await.expect(200);
    let left = it.google.revoked().len();
    admin.delete(format!("{MEMBERS}/{}", text(&me["user"]["id"]))).await.expect(204);
    assert_eq!(it.google.revoked().len(), left + 1);
    let again = it.signed_in(HUMAN).await;
    assert_eq!(again.get("/v1/calendar-connections").await.expect(200)["total"], 0);
}

/// A sign-up with the token of an invitation.
async fn sign_up_with(server: &Server, email: &str, token: &str) -> Answer {
    let mut body = signing_up(email);
    body["invitation_token"] = json!(token);
    server.anonymous().post("/v1/auth/signup").json(body).await
}

#[apply(on_both)]
#[tokio::test]
async fn sign_up_can_be_left_to_invited_people(#[case] database: Database) {
    let mut server = Server::start(database).await;
    Human::sign_up(&server, "ada@example.com").await;
    server.stop().await;
    server.start_again(&[("KALENDS_SIGNUP", "invited")]).await;
    let owner = signed_in(&server, "ada@example.com").await;
    invite(&owner, "bob@example.com", "viewer").await.expect(201);
    let invitation = token(&server, "bob@example.com", 1).await;
    let closed = |answer: Answer| answer.refused(403, "forbidden").code("signup_closed");
    // An address alone proves nothing.
    for email in ["bob@example.com", "eve@example.com"] {
        closed(server.anonymous().post("/v1/auth/signup").json(signing_up(email)).await);
    }
    let agent = json!({ "email": "bob@example.com", "agent_name": "Scout", "tos_version": "2026-01-01" });
    closed(server.anonymous().post("/v1/agent/sign-up").json(agent).await);
    let wrong = sign_up_with(&server, "bob@example.com", "nobody-s").await;
    wrong.refused(400, "validation_error").param("invitation_token");
    let other = sign_up_with(&server, "eve@example.com", &invitation).await;
    other.refused(403, "forbidden").code("other_address");
    let made = sign_up_with(&server, "bob@example.com", &invitation).await.expect(201);
    is_time(&made["user"]["email_verified_at"]);
    let bob = signed_in(&server, "bob@example.com").await;
    assert_eq!(accept(&bob, &invitation).await.expect(200)["role"], "viewer");

    // If it is closed, an invitation does not help either. Users sign in as before.
    invite(&owner, "grace@example.com", "viewer").await.expect(201);
    let invitation = token(&server, "grace@example.com", 1).await;
    server.stop().await;
    server.start_again(&[("KALENDS_SIGNUP", "closed")]).await;
    closed(sign_up_with(&server, "grace@example.com", &invitation).await);
    signed_in(&server, "bob@example.com").await;
}

#[tokio::test]
async fn an_invited_person_joins_in_a_browser() {
    let server = Server::start(Database::Sqlite).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    invite(&owner, "bob@example.com", "member").await.expect(201);
    let link = format!("{}/console/invitations#{}", server.base_url(), token(&server, "bob@example.com", 1).await);
    let browser = Visitor::new().phone(PHONE.0, PHONE.1).open().await;
    browser.goto(&link).await;
    browser.headed("Sign in to join").await;
    assert!(!browser.url().await.contains('#'), "the token is not in the address");
    fits(&browser).await;

    // Somebody without an account makes one. The first attempt has another address than the invitation.
    browser.click("a[href='/console/sign-up?next=/console/join']").await;
    browser.headed("Create an account").await;
    fits(&browser).await;
    for (field, text) in [("#email", "robert@example.com"), ("#name", "Bob"), ("#password", PASSWORD)] {
        browser.fill(field, text).await;
    }
    browser.click("#accepted").await;
    browser.click("form button.primary").await;
    browser.wait_for_paragraph("The invitation was sent to another address. Use that one.").await;
    fits(&browser).await;
    browser.run("document.getElementById('email').value = ''").await;
    browser.fill("#email", "bob@example.com").await;
    browser.fill("#password", PASSWORD).await;
    browser.click("form button.primary").await;
    browser.headed("Welcome to Kalends").await;
    browser.click("a.primary").await;
    browser.headed("Join Engines").await;
    for says in ["invited to the organization Engines as a member", "You join as Bob (bob@example.com)"] {
        assert!(browser.text("main").await.contains(says));
    }
    fits(&browser).await;
    browser.click("form[action='/console/join'] button").await;
    browser.headed("Welcome to Engines").await;
    assert!(browser.text("main").await.contains("You are a member there."));
    assert_eq!(listed(&owner).await.0[1], pair("bob@example.com", "member"));
    fits(&browser).await;
    browser.click("button.primary").await;
    browser.headed("Engines").await;
    assert!(browser.text("main").await.contains("a member."));

    // A link is used once, and without its token it leads nowhere.
    browser.goto(&link).await;
    browser.headed("This invitation cannot be used").await;
    fits(&browser).await;
    browser.goto(&format!("{}/console/invitations", server.base_url())).await;
    browser.headed("Open your invitation").await;
    fits(&browser).await;
}

#[tokio::test]
async fn an_invited_person_joins_without_scripts_where_sign_up_is_closed_to_others() {
    let mut server = Server::start(Database::Sqlite).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    invite(&server.client(&ada.token), "bob@example.com", "viewer").await.expect(201);
    let token = token(&server, "bob@example.com", 1).await;
    server.stop().await;
    server.start_again(&[("KALENDS_SIGNUP", "invited")]).await;
    let link = format!("{}/console/invitations#{token}", server.base_url());
    let browser = Visitor::new().without_scripts().open().await;
    browser.goto(&link).await;
    browser.headed("Open your invitation").await;
    browser.fill("#code", &link).await;
    browser.click("button.primary").await;
    browser.headed("Sign in to join").await;
    browser.click("a[href='/console/sign-up?next=/console/join']").await;
    browser.headed("Create an account").await;
    for (field, text) in [("#email", "bob@example.com"), ("#name", "Bob"), ("#password", PASSWORD)] {
        browser.fill(field, text).await;
    }
    browser.click("#accepted").await;
    browser.click("form button.primary").await;
    browser.headed("Welcome to Kalends").await;
    browser.click("a.primary").await;
    browser.headed("Join Engines").await;
    browser.click("form[action='/console/sign-out'] button").await;
    browser.headed("Sign in to join").await;
    browser.fill("#email", "bob@example.com").await;
    browser.fill("#password", PASSWORD).await;
    browser.click("form button.primary").await;
    browser.headed("Join Engines").await;
    browser.click("form[action='/console/join'] button").await;
    browser.headed("Welcome to Engines").await;
}
