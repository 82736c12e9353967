//! The pages about members and invitations, by their forms.

use kalends_e2e::{Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;

use crate::{
    claims::text,
    console::Human,
    members::{member, token},
    on_both,
    pages::{HOSTILE, Pages, hidden},
};

const ADA: &str = "ada@example.com";
/// Gives sign-ups a plan with a high rate, because no test waits between its requests.
const FAST: [(&str, &str); 1] = [("KALENDS_SIGNUP_PLAN", "custom")];
const BOB: &str = "bob@example.com";
const PAGE: &str = "/console/members";
const EVIL: &str = "https://evil.example";
const SWITCHED: &str = "You switched to another organization in another tab";
const GONE: &str = "There is no such member or invitation any more.";
const LAST_OWNER: &str = "The organization needs an owner; make somebody else an owner first";

/// The identifiers of the open invitations.
async fn invitations(owner: &Client) -> Vec<String> {
    let all = owner.get("/v1/auth/members").await.expect(200);
    all["invitations"].as_array().unwrap().iter().map(|invitation| text(&invitation["id"])).collect()
}

fn removal(id: &str) -> String {
    format!("{PAGE}/{id}/remove")
}

#[apply(on_both)]
#[tokio::test]
async fn somebody_is_invited_by_a_form(#[case] database: Database) {
    let server = Server::start_with(database, &FAST).await;
    let ada = Human::sign_up(&server, ADA).await;
    let owner = server.client(&ada.token);
    let mut pages = Pages::new(&server);
    pages.open(PAGE).await.asks_to_sign_in();
    pages.sign_in(ADA).await;
    let page = pages.open(PAGE).await.says(200, "<dd>ada@example.com</dd>");
    assert!(page.text.contains("(you)") && !page.text.contains("Open invitations"), "{}", page.text);
    let (org, once) = (hidden(&page.text, "org"), hidden(&page.text, "once"));
    let form = |email, role| [("org", &*org), ("once", &*once), ("email", email), ("role", role)];
    let wrong = pages.send(PAGE, &form("nobody", "king")).await.says(400, "Must be viewer, member, admin or owner");
    for part in ["value=\"nobody\"", "id=\"email-problem\"", "id=\"role-problem\""] {
        assert!(wrong.text.contains(part), "no {part} in {}", wrong.text);
    }
    pages.send(PAGE, &form(HOSTILE, HOSTILE)).await.says(400, "id=\"email-problem\"");
    pages.send(PAGE, &form(ADA, "viewer")).await.says(409, "This person is a member already.");
    assert_eq!(pages.send_from(EVIL, PAGE, &form(BOB, "viewer")).await.status, 403);
    pages.send(PAGE, &form(BOB, "viewer")[1..]).await.says(409, SWITCHED);
    assert!(invitations(&owner).await.is_empty());
    // A double click.
    let mut led = Vec::new();
    for _ in 0..2 {
        led.push(pages.send(PAGE, &form(BOB, "viewer")).await.location);
    }
    let [invitation]: [String; 1] = invitations(&owner).await.try_into().unwrap();
    let after = format!("{PAGE}?invited={invitation}");
    assert_eq!(led, [after.as_str(), after.as_str()]);
    let listed = pages.open(&after).await.says(200, "Invited bob@example.com.");
    assert!(listed.text.contains("Works until"), "{}", listed.text);
    assert!(listed.text.contains("This server sends no email."), "{}", listed.text);
    let stale = pages.open(&format!("{PAGE}?invited=inv_nobody")).await.says(200, BOB);
    assert!(!stale.text.contains("Invited "), "{}", stale.text);
    token(&server, BOB, 1).await;
    assert_eq!(server.mails().iter().filter(|mail| mail.to == BOB).count(), 1);

    let own = [("org", &*org)];
    pages.send(&removal(&invitation), &[]).await.says(409, SWITCHED);
    // The way back after an expired session.
    pages.open(&removal(&invitation)).await.leads_to(PAGE);
    pages.send(&removal(&invitation), &own).await.leads_to("/console/members?done=removed");
    // A double click.
    pages.send(&removal(&invitation), &own).await.leads_to("/console/members?done=gone");
    pages.open(&removal(&invitation)).await.leads_to(PAGE);
    assert!(invitations(&owner).await.is_empty());
}

#[apply(on_both)]
#[tokio::test]
async fn members_are_changed_and_removed_by_forms(#[case] database: Database) {
    let server = Server::start_with(database, &FAST).await;
    let ada = Human::sign_up(&server, ADA).await;
    let owner = server.client(&ada.token);
    let (bob, his) = member(&server, &owner, BOB, "viewer").await;
    let mut pages = Pages::new(&server);
    pages.sign_in(ADA).await;
    let page = pages.open(PAGE).await.says(200, "<dd>Viewer</dd>");
    let org = hidden(&page.text, "org");
    let role = |role| [("org", &*org), ("role", role)];
    let of = |user: &str| format!("{PAGE}/{user}");
    assert_eq!(pages.send_from(EVIL, &of(&bob.user), &role("admin")).await.status, 403);
    pages.send(&of(&bob.user), &role("admin")[1..]).await.says(409, SWITCHED);
    pages.send(&of(&bob.user), &role(HOSTILE)).await.says(400, "Must be viewer, member, admin or owner");
    pages.send(&of("usr_nobody"), &role("admin")).await.says(404, GONE);
    let refused = pages.send(&of(&ada.user), &role("viewer")).await.says(409, LAST_OWNER);
    let (own_entry, his_entry) = refused.text.split_once("bob@example.com").unwrap();
    assert!(own_entry.contains("id=\"role-1-problem\"") && own_entry.contains("value=\"viewer\" selected"));
    assert!(!his_entry.contains(LAST_OWNER), "{his_entry}");
    pages.open(&removal(&ada.user)).await.says(409, LAST_OWNER);
    pages.send(&removal(&ada.user), &role("")).await.says(409, LAST_OWNER);
    assert_eq!(his.get("/v1/auth/me").await.expect(200)["role"], "viewer");
    // Two tabs: the later form counts.
    for to in ["member", "admin"] {
        pages.send(&of(&bob.user), &role(to)).await.leads_to("/console/members?done=saved");
    }
    assert_eq!(his.get("/v1/auth/me").await.expect(200)["role"], "admin");
    pages.open(&of(&bob.user)).await.leads_to(PAGE);

    pages.open(&removal("usr_nobody")).await.says(404, GONE);
    pages.open(&removal(&bob.user)).await.says(200, "bob@example.com loses access at once.");
    let own = [("org", &*org)];
    pages.send(&removal(&bob.user), &own).await.leads_to("/console/members?done=removed");
    pages.open("/console/members?done=removed").await.says(200, "Removed.");
    his.get("/v1/auth/me").await.refused(401, "authentication_error");
    pages.send(&removal(&bob.user), &own).await.leads_to("/console/members?done=gone");
}

#[apply(on_both)]
#[tokio::test]
async fn roles_limit_what_members_do_with_members(#[case] database: Database) {
    let server = Server::start_with(database, &FAST).await;
    let ada = Human::sign_up(&server, ADA).await;
    let owner = server.client(&ada.token);
    member(&server, &owner, BOB, "admin").await;
    let mut pages = Pages::new(&server);
    pages.sign_in_to(BOB, &ada.org).await;
    let page = pages.open(PAGE).await.says(200, "Invite somebody");
    assert!(page.text.contains("value=\"admin\"") && !page.text.contains("value=\"owner\""), "{}", page.text);
    assert!(!page.text.contains(&removal(&ada.user)), "{}", page.text);
    let above = "You can grant, change and remove only roles up to your own; ask an owner.";
    let form = |role| [("org", &*ada.org), ("role", role), ("email", "grace@example.com")];
    let of_ada = format!("{PAGE}/{}", ada.user);
    pages.send(&of_ada, &form("viewer")).await.says(403, above);
    pages.send(PAGE, &form("owner")).await.says(403, above);
    pages.open(&removal(&ada.user)).await.says(403, above);

    for (email, role) in [("joan@example.com", "member"), ("eve@example.com", "viewer")] {
        let (human, _) = member(&server, &owner, email, role).await;
        let mut pages = Pages::new(&server);
        pages.sign_in_to(email, &ada.org).await;
        let page = pages.open(PAGE).await.says(200, "<dd>ada@example.com</dd>");
        for part in ["Invite somebody", "Change the role", "Remove</a>"] {
            assert!(!page.text.contains(part), "{role}: {part} in {}", page.text);
        }
        assert_eq!(pages.send(PAGE, &form("viewer")).await.status, 403, "{role}");
        assert_eq!(pages.send(&of_ada, &form("viewer")).await.status, 403, "{role}");
        pages.open(&removal(&ada.user)).await.says(403, "Only owners and admins invite, change and remove members");
        pages.send(&removal(&ada.user), &form("")).await.says(403, "Only owners and admins invite");
        // Everybody may leave. The session ends then.
        pages.open(&removal(&human.user)).await.says(200, "Leave Engines?");
        let left = pages.send(&removal(&human.user), &form("")).await.says(200, "You have left Engines");
        assert!(left.text.contains("Sign in again") && !pages.cookies.contains_key("service_session"));
        pages.open(PAGE).await.asks_to_sign_in();
        pages.sign_in(email).await;
        let own = pages.open(PAGE).await.says(200, email);
        assert!(!own.text.contains(ADA), "{}", own.text);
        // The form of an organization to which they belonged.
        pages.send(PAGE, &form("viewer")).await.says(409, SWITCHED);
    }
    let listed = owner.get("/v1/auth/members").await.expect(200);
    assert_eq!(listed["members"].as_array().unwrap().len(), 2);
}

#[apply(on_both)]
#[tokio::test]
async fn a_page_says_why_an_unproved_organization_cannot_invite(#[case] database: Database) {
    let server = Server::start_with(database, &[("KALENDS_EMAIL_PROOF", "on")]).await;
    Human::sign_up(&server, ADA).await;
    let mut pages = Pages::new(&server);
    pages.sign_in(ADA).await;
    let reason = "The email address of the organization is not confirmed yet";
    let page = pages.open(PAGE).await.says(200, reason);
    assert!(!page.text.contains("id=\"email\""), "there is no form to fill in for nothing: {}", page.text);
    let org = hidden(&page.text, "org");
    let form = [("org", &*org), ("email", BOB), ("role", "viewer")];
    pages.send(PAGE, &form).await.says(403, reason);
    pages.open("/console/organization").await.says(200, "Its email address is not confirmed yet.");
}
