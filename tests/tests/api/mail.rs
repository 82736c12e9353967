//! The list of the emails that are sent for an organization.

use kalends_e2e::Database;
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    fixtures::{has_exactly, is_id},
    invitations_by_the_rule::{ADA, BOB, Host, people},
    on_both,
};

const MAIL: &str = "/v1/mail";

#[apply(on_both)]
#[tokio::test]
async fn an_organization_sees_its_emails_newest_first(#[case] database: Database) {
    let mut host = Host::new(database).await;
    assert_eq!(host.api.get(MAIL).await.expect(200).json, json!({ "data": [], "pagination": { "next_cursor": null } }));
    let meeting = host.invited(people(&[ADA, BOB]), json!({ "title": "Planning" })).await;
    host.delete_and_send(&meeting.id, "").await;
    host.mails(2).await;

    // The file is written just before the outcome is recorded.
    let list = loop {
        let list = host.api.get(MAIL).query(&[("status", "sent")]).await.expect(200);
        if list.data().len() == 4 {
            break list;
        }
    };
    has_exactly(&list.json, &["data", "pagination"]);
    let subjects = list.column("subject");
    assert_eq!(
        subjects,
        ["Cancelled: Planning", "Cancelled: Planning", "Invitation: Planning", "Invitation: Planning"]
    );
    for pair in list.column("to").chunks(2) {
        assert!(pair.iter().any(|to| to == ADA) && pair.iter().any(|to| to == BOB), "{pair:?}");
    }
    for email in list.data() {
        has_exactly(
            &email,
            &["id", "status", "to", "subject", "attempts", "last_reply", "next_attempt_at", "created_at", "ended_at"],
        );
        is_id(&email["id"], "eml_");
        assert_eq!((&email["status"], &email["attempts"]), (&json!("sent"), &json!(1)));
        assert!(email["last_reply"].is_null(), "there is no mail server: {email}");
        assert!(email["next_attempt_at"].is_null() && email["created_at"].as_str() <= email["ended_at"].as_str());
    }
    for link in &meeting.links {
        assert!(!list.text().contains(link.rsplit('/').next().unwrap()), "no text of an email is shown");
    }

    // Pages cover the list without a gap.
    let first = host.api.get(MAIL).query(&[("limit", "3")]).await.expect(200);
    let cursor = first.at("/pagination/next_cursor");
    let rest = host.api.get(MAIL).query(&[("limit", "3"), ("cursor", cursor.as_str().unwrap())]).await.expect(200);
    assert!(rest.at("/pagination/next_cursor").is_null());
    assert_eq!(
        (first.column("id"), rest.column("id")),
        (list.column("id")[..3].to_vec(), list.column("id")[3..].to_vec())
    );
    let none = host.api.get(MAIL).query(&[("status", "refused")]).await.expect(200);
    assert!(none.data().is_empty());

    // Other organizations, and agents, see nothing of it.
    let other = host.server.api(&host.server.org("pro").await);
    assert!(other.get(MAIL).await.expect(200).data().is_empty());
    let taken = other.get(MAIL).query(&[("cursor", &list.column("id")[0])]).await.expect(200);
    assert!(taken.data().is_empty());
    let body = json!({ "agent_id": host.agent, "label": "laptop" });
    let key = host.api.post("/v1/keys").json(body).await.expect(201);
    host.server.client(key["key"].as_str().unwrap()).get(MAIL).await.refused(403, "forbidden");
}

#[apply(on_both)]
#[tokio::test]
async fn invalid_queries_name_the_parameter(#[case] database: Database) {
    let host = Host::new(database).await;
    for (name, value) in [
        ("status", "gone"),
        ("cursor", "evt_01jn8r6v9ke0bt3m5qz2c7xwdh"),
        ("limit", "0"),
        ("limit", "201"),
        ("to", ADA),
    ] {
        host.api.get(MAIL).query(&[(name, value)]).await.refused(400, "validation_error").param(name);
    }
}
