//! The console's pages about claims, by their forms.

use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;

use crate::{
    claims::{AGENT, DAY, agent, claims, code, wrong},
    console::Human,
    on_both,
    pages::{HOSTILE, Pages, hidden},
};

/// The plan has no limit of speed.
const SETTINGS: &[(&str, &str)] = &[("KALENDS_SIGNUP_PLAN", "custom")];
const ADA: &str = "ada@example.com";
const LIST: &str = "/console/claims";
const EVIL: &str = "https://evil.example";
const SWITCHED: &str = "You switched to another organization in another tab";

#[apply(on_both)]
#[tokio::test]
async fn a_user_claims_an_organization_by_forms(#[case] database: Database) {
    let mut server = Server::start_with(database, SETTINGS).await;
    let (claimed, _) = agent(&server, AGENT).await;
    let ada = Human::sign_up(&server, ADA).await;
    let user = server.client(&ada.token);
    let mut pages = Pages::new(&server);
    pages.open(LIST).await.asks_to_sign_in();
    pages.sign_in(ADA).await;
    let form = pages.open(LIST).await.says(200, "Claim an organization");
    assert!(!form.text.contains("Enter the code"), "{}", form.text);
    let (org, once) = (hidden(&form.text, "org"), hidden(&form.text, "once"));
    let fields = |email| [("org", &*org), ("once", &*once), ("email", email)];
    for blank in ["", HOSTILE] {
        pages.send(LIST, &fields(blank)).await.says(400, "aria-describedby=\"email-problem\"");
    }
    assert_eq!(pages.send_from(EVIL, LIST, &fields(AGENT)).await.status, 403);
    pages.send(LIST, &fields(AGENT)[1..]).await.says(409, SWITCHED);
    assert!(claims(&user).await.is_empty());
    // A double click.
    let mut begun = Vec::new();
    for _ in 0..2 {
        begun.push(pages.send(LIST, &fields(AGENT)).await.location);
    }
    begun.dedup();
    let [address] = &begun[..] else { panic!("two claims: {begun:?}") };
    assert_eq!(claims(&user).await.len(), 1);
    let asks = pages.open(address).await.says(200, "an email to it has a code");
    assert!(asks.text.contains("This server sends no email."), "{}", asks.text);
    let claim = address.split('?').next().unwrap().to_owned();
    pages.open(LIST).await.says(200, &format!("href=\"{claim}\""));
    pages.open("/console/claims/nonsense").await.says(404, "There is no such claim.");

    let right = code(&server, AGENT, 1).await;
    let once = hidden(&asks.text, "once");
    let fields = |code| [("org", &*org), ("once", &*once), ("otp", code)];
    for wrong in [wrong(&right), "12", HOSTILE] {
        pages.send(&claim, &fields(wrong)).await.says(400, "aria-describedby=\"otp-problem\"");
    }
    pages.send("/console/claims/nonsense", &fields(&right)).await.says(404, "There is no such claim.");
    // The code of somebody else's claim.
    let eve = Human::sign_up(&server, "eve@example.com").await;
    let mut theirs = Pages::new(&server);
    theirs.sign_in(&eve.email).await;
    let sent = [("org", &*eve.org), ("once", &*once), ("otp", &*right)];
    theirs.send(&claim, &sent).await.says(400, "otp-problem");
    theirs.send(&claim, &fields(&right)).await.says(409, SWITCHED);
    // A double click.
    for _ in 0..2 {
        pages.send(&claim, &fields(&right)).await.leads_to("/console/claims?done=claimed");
    }
    let held = pages.open("/console/claims?done=claimed").await.says(200, "<dt>Becomes final</dt>");
    assert!(held.text.contains(&claimed) && !held.text.contains("Enter the code"), "{}", held.text);
    let switch = format!("/console/orgs/{claimed}/switch");
    assert!(!pages.open("/console/orgs").await.text.contains(&switch));

    server.restart_at_offset(DAY + 5).await;
    let mut pages = Pages::new(&server);
    pages.sign_in(ADA).await;
    pages.open(LIST).await.says(200, "The organization is yours");
    pages.open("/console/orgs").await.says(200, &switch);
    pages.send(&switch, &[]).await.leads_to("/console");
    pages.open(LIST).await.says(200, "<dt>Final since</dt>");
}
