//! The terms of service: how long their version may be cached, and the stored acceptances.

use crate::on_both;
use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    console::Human,
    fixtures::{has_exactly, time},
};

const FIRST: &str = "2026-01-01";
const SECOND: &str = "2026-11-01";

#[apply(on_both)]
#[tokio::test]
async fn every_acceptance_is_stored_and_exported(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let current = async |server: &Server| {
        let answer = server.anonymous().get("/v1/auth/terms/current").await.expect(200);
        assert_eq!(answer.header("cache-control"), "public, max-age=60", "it may be cached for a short time");
        answer["version"].clone()
    };
    assert_eq!(current(&server).await, FIRST);
    let ada = Human::sign_up(&server, "ada@example.com").await;
    // Another user's acceptances are not in ada's export.
    Human::sign_up(&server, "bob@example.com").await;

    assert!(server.stop().await.success());
    server.start_again(&[("KALENDS_TERMS_VERSION", SECOND)]).await;
    assert_eq!(current(&server).await, SECOND);
    let body = json!({ "tos_version": SECOND });
    let (session, api) = (server.client(&ada.token), server.client(&ada.key));
    let in_console = session.patch("/v1/auth/terms").json(body.clone()).await.expect(200);
    let by_key = api.post("/v1/terms/accept").json(body).await.expect(200);

    // A later version that nobody accepted is not in the export.
    assert!(server.stop().await.success());
    server.start_again(&[("KALENDS_TERMS_VERSION", "2027-06-01")]).await;
    assert_eq!(current(&server).await, "2027-06-01");
    let export = server.client(&ada.token).get("/v1/auth/export").await.expect(200);
    let accepted = export["tos_acceptances"].as_array().unwrap().clone();
    for acceptance in &accepted {
        has_exactly(acceptance, &["version", "accepted_at"]);
    }
    let versions: Vec<_> = accepted.iter().map(|acceptance| acceptance["version"].clone()).collect();
    assert_eq!(versions, [FIRST, SECOND, SECOND]);
    assert!(accepted.is_sorted_by_key(|acceptance| time(&acceptance["accepted_at"])), "{accepted:#?}");
    for (acceptance, answer) in accepted[1..].iter().zip([&in_console, &by_key]) {
        assert_eq!(acceptance["accepted_at"], answer["data"]["accepted_terms_at"]);
    }
    let org = &export["org"];
    assert_eq!(
        (&org["accepted_terms_version"], &org["accepted_terms_at"]),
        (&json!(SECOND), &accepted[2]["accepted_at"])
    );
}
