//! Pages of the console about the session: a form that outlives it, and the organizations of the user.

use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    console::{Human, PASSWORD},
    members::member,
    on_both,
    pages::{HOSTILE, Pages, hidden},
};

/// The plan has no limit of speed.
const SETTINGS: &[(&str, &str)] = &[("KALENDS_SIGNUP_PLAN", "custom")];
const ADA: &str = "ada@example.com";
const AGENTS: &str = "/console/agents";
const ORGS: &str = "/console/orgs";
const EVIL: &str = "https://evil.example";
const ENDED: &str = "Your session has ended";
const SWITCHED: &str = "You switched to another organization in another tab";

#[apply(on_both)]
#[tokio::test]
async fn a_form_outlives_its_session(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, ADA).await;
    let owner = server.client(&ada.token);
    let (bob, _) = member(&server, &owner, "bob@example.com", "member").await;
    Human::sign_up(&server, "eve@example.com").await;
    let mut pages = Pages::new(&server);
    pages.sign_in(ADA).await;
    let form = pages.open("/console/agents/new").await.says(200, "Create the agent");
    let (org, once) = (hidden(&form.text, "org"), hidden(&form.text, "once"));
    let about = format!("One\r\n{HOSTILE}");
    let fields = [("org", &*org), ("once", &*once), ("name", "Scout"), ("type", "human"), ("description", &*about)];
    // The session ends, but the browser still sends its cookie.
    let cookies = pages.cookies.clone();
    pages.send("/console/sign-out", &[]).await;
    for cookies in [cookies, pages.cookies.clone()] {
        pages.cookies = cookies;
        let kept = pages.send(AGENTS, &fields).await.says(401, ENDED);
        let next = format!("/console/sign-in?next=/console/signed-in%3Forg%3D{org}");
        for part in [
            "Nothing was changed.",
            "<form method=\"post\" action=\"/console/agents\">",
            &format!("href=\"{next}\" target=\"_blank\" rel=\"noopener\""),
            &format!("name=\"org\" value=\"{org}\""),
            &format!("name=\"once\" value=\"{once}\""),
            "name=\"name\" value=\"Scout\"",
            "name=\"description\" value=\"One\n&#34;&#62;&#60;script",
        ] {
            assert!(kept.text.contains(part), "no {part} in {}", kept.text);
        }
        assert!(!kept.text.contains("Passwords and codes"), "{}", kept.text);
        assert_eq!(kept.cookie, "");
    }
    // Another site cannot show anything here. A form that is too large is not kept.
    let foreign = pages.send_from(EVIL, AGENTS, &fields).await;
    assert!(!foreign.text.contains("Scout"), "{}", foreign.text);
    foreign.asks_to_sign_in();
    let (large, many) = ("x".repeat(270_000), [("a", "1"); 401]);
    for fields in [&[("org", &*org), ("description", &*large)][..], &many] {
        let lost = pages.send(AGENTS, fields).await.says(401, "What you sent is too long to keep.");
        assert!(!lost.text.contains("<form") && lost.text.contains("/console/signed-in"), "{}", lost.text);
    }
    // Nothing that was typed, and nothing that belongs to an organization.
    let codes = [("once", &*once), ("code", "123456")];
    for (path, fields) in [
        ("/console/verify/resend", &fields[..0]),
        ("/console/members/usr_x/remove", &fields[..1]),
        ("/console/agents/agt_x/decommission", &fields[..2]),
        ("/console/security/confirm", &codes[..]),
        ("/console/account", &[fields[0], fields[2]][..]),
        (AGENTS, &fields[1..]),
    ] {
        pages.send(path, fields).await.asks_to_sign_in();
    }
    // The sign-in helps those who join or connect.
    pages.send("/console/join", &[("key", &once)]).await.leads_to("/console/sign-in?next=%2Fconsole%2Fjoin");
    let offer = "/console/sign-in?next=%2Fconsole%2Fconnect%2Foffer";
    pages.send("/console/connect/decline", &[fields[0], ("link", "x")]).await.leads_to(offer);
    let preview = pages.send("/console/booking-pages/preview", &fields).await;
    let preview = preview.says(401, "Your session has ended. Save to keep what you typed.");
    assert!(!preview.text.contains("Scout"), "{}", preview.text);
    pages.send("/console/sign-out", &[("next", AGENTS)]).await.leads_to("/console/sign-in");
    // Secrets are left out.
    let secret = [fields[0], ("name", "Scout"), ("api_token", "hush hush hush")];
    let left_out = pages.send(AGENTS, &secret).await.says(401, "Passwords and codes are not kept.");
    assert!(!left_out.text.contains("hush") && left_out.text.contains("Scout"), "{}", left_out.text);
    assert_eq!(owner.get("/v1/agents").await.expect(200)["total"], 0);

    // Somebody else signs in instead: not a member, and a member whose session is in another organization.
    let back = format!("/console/signed-in?org={org}");
    for (email, said) in [("eve@example.com", "of which you are not a member"), (&*bob.email, "Switch to it")] {
        let mut other = Pages::new(&server);
        let entered = [("email", email), ("password", PASSWORD), ("next", &*back)];
        other.send("/console/sign-in", &entered).await.leads_to(&back);
        other.open(&back).await.says(200, said);
        let kept = other.send(AGENTS, &fields).await.says(409, SWITCHED);
        for part in [&*format!("href=\"{back}\" target=\"_blank\""), "name=\"name\" value=\"Scout\"", &once] {
            assert!(kept.text.contains(part), "no {part} in {}", kept.text);
        }
        // Nothing that was typed.
        let bare = other.send("/console/agents/agt_x/pause", &fields[..1]).await.says(409, SWITCHED);
        assert!(!bare.text.contains("<form"), "{}", bare.text);
        if email == bob.email {
            other.send(&format!("/console/orgs/{org}/switch"), &[("next", &back)]).await.leads_to(&back);
            other.open(&back).await.says(200, "Close this tab");
        }
    }
    // The same user, who sends it twice.
    let entered = [("email", ADA), ("password", PASSWORD), ("next", &*back)];
    pages.send("/console/sign-in", &entered).await.leads_to(&back);
    let seen = pages.open(&back).await.says(200, "Close this tab");
    assert!(seen.text.contains(ADA), "{}", seen.text);
    pages.open("/console/signed-in?org=nonsense").await.says(200, "Close this tab");
    let mut created = Vec::new();
    for _ in 0..2 {
        let sent = pages.send(AGENTS, &fields).await;
        assert_eq!(sent.status, 303, "{}", sent.text);
        created.push(sent.location);
    }
    created.dedup();
    let agents = owner.get("/v1/agents").await.expect(200);
    assert_eq!((&agents["total"], created.len()), (&json!(1), 1));
    assert_eq!(agents.data()[0]["description"], format!("One\n{HOSTILE}"));
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_chooses_among_organizations(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, ADA).await;
    let (bob, _) = member(&server, &server.client(&ada.token), "bob@example.com", "viewer").await;
    let mut pages = Pages::new(&server);
    pages.open(ORGS).await.leads_to("/console/sign-in?next=%2Fconsole%2Forgs");
    pages.sign_in(&bob.email).await;
    let switch = |org: &str| format!("/console/orgs/{org}/switch");
    let listed = pages.open(ORGS).await.says(200, "(you are here)");
    for part in ["<dd>Owner</dd>", "<dd>Viewer</dd>", &*switch(&ada.org), "href=\"/console/claims\""] {
        assert!(listed.text.contains(part), "no {part} in {}", listed.text);
    }
    assert!(!listed.text.contains(&switch(&bob.org)), "{}", listed.text);
    // Each page leads there.
    pages.open(AGENTS).await.says(200, "<a href=\"/console/orgs\">");
    assert_eq!(pages.send_from(EVIL, &switch(&ada.org), &[]).await.status, 403);
    // A double click.
    for _ in 0..2 {
        pages.send(&switch(&ada.org), &[]).await.leads_to("/console");
    }
    let listed = pages.open(ORGS).await.says(200, &switch(&bob.org));
    assert!(!listed.text.contains(&switch(&ada.org)), "{}", listed.text);

    // Leaving ends the session. After the second click, the page claims nothing.
    let leave = format!("/console/members/{}/remove", bob.user);
    let leaves = hidden(&pages.open(&leave).await.says(200, "Leave Engines?").text, "leaves");
    let form = [("org", &*ada.org), ("leaves", &*leaves)];
    pages.send(&leave, &form).await.says(200, "You have left Engines");
    let second = "/console/sign-in?next=%2Fconsole%2Forgs&ended=parting";
    pages.send(&leave, &form).await.leads_to(second);
    pages.open(second).await.says(200, "this page does not know whether the form had its effect before.");
    pages.sign_in(&bob.email).await;
    let listed = pages.open(ORGS).await.says(200, "(you are here)");
    assert!(!listed.text.contains("/switch\""), "{}", listed.text);
}
