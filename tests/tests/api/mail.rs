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
    let mut list = host.api.get(MAIL).query(&[("status", "sent")]).await.expect(200);
    for _ in 0..1_200 {
        if list.data().len() == 4 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        list = host.api.get(MAIL).query(&[("status", "sent")]).await.expect(200);
    }
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

const REPLY_TO: &str = "/v1/mail/reply-to";
const TEAM: &str = "team@example.com";
/// The button with which an address agrees.
const AGREES: &[(&str, &str)] = &[("agrees", "true")];

/// The path of the link in the last email to that address.
async fn link(host: &mut Host, to: &str) -> String {
    let mail = host.mails(1).await.remove(0);
    assert_eq!((mail.to.as_str(), mail.subject.as_str()), (to, "May replies go to this address?"));
    let (_, rest) = mail.text.split_once("/replies/").unwrap();
    format!("/replies/{}", rest.split_whitespace().next().unwrap())
}

/// The address that replies to the next invitation go to.
async fn replies_go_to(host: &mut Host) -> Option<String> {
    host.invited(people(&["guest@example.com"]), json!({})).await.mails.remove(0).reply_to
}

#[apply(on_both)]
#[tokio::test]
async fn replies_go_to_an_address_once_it_has_agreed(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let none = json!({ "email": null, "pending": null });
    assert_eq!(host.api.get(REPLY_TO).await.expect(200).json, none);
    assert_eq!(replies_go_to(&mut host).await, None);

    let asked = host.api.put(REPLY_TO).json(json!({ "email": TEAM })).await.expect(200);
    assert_eq!((&asked["email"], &asked.at("/pending/email")), (&json!(null), &json!(TEAM)));
    let first = link(&mut host, TEAM).await;
    let again = host.api.put(REPLY_TO).json(json!({ "email": TEAM })).await.expect(200);
    assert_eq!(again.at("/pending/email"), TEAM);
    let second = link(&mut host, TEAM).await;
    assert_eq!(host.open(&first).await.status, 404, "only the newest link works");
    // Opening the page changes nothing.
    let page = host.open(&second).await;
    assert_eq!(page.status, 200);
    assert!(page.text.contains(TEAM) && page.text.contains("Do you agree?"), "{}", page.text);
    assert_eq!(host.api.get(REPLY_TO).await.expect(200).json, again.json);
    assert_eq!(replies_go_to(&mut host).await, None);

    assert_eq!(host.submit(&second, &[]).await.status, 400, "without a button, nothing changes");
    assert_eq!(host.api.get(REPLY_TO).await.expect(200).json, again.json);
    let page = host.submit(&second, AGREES).await;
    assert_eq!(page.status, 200, "{}", page.text);
    assert!(page.text.contains("role=\"status\"") && page.text.contains(TEAM), "{}", page.text);
    let agreed = json!({ "email": TEAM, "pending": null });
    assert_eq!(host.api.get(REPLY_TO).await.expect(200).json, agreed);
    assert_eq!(replies_go_to(&mut host).await.as_deref(), Some(TEAM));
    // A reload shows the same, and a repetition changes nothing.
    assert!(host.open(&second).await.text.contains("Stop receiving replies"));
    assert_eq!(host.submit(&second, AGREES).await.status, 200);
    assert_eq!(host.api.get(REPLY_TO).await.expect(200).json, agreed);
    let gone = host.open(&first).await;
    assert!(gone.status == 404 && gone.text.contains("This link does not work any more"), "{}", gone.text);

    // Another address, which agrees by a program. The first stays in use until then.
    host.api.put(REPLY_TO).json(json!({ "email": ADA })).await.expect(200);
    let third = link(&mut host, ADA).await;
    assert_eq!(replies_go_to(&mut host).await.as_deref(), Some(TEAM));
    let anonymous = host.server.anonymous();
    let yes = json!({ "agrees": true });
    assert_eq!(
        anonymous.post(&third).json(yes.clone()).await.expect(200).json,
        json!({ "email": ADA, "agrees": true })
    );
    assert_eq!(replies_go_to(&mut host).await.as_deref(), Some(ADA));
    anonymous.post(&second).json(yes.clone()).await.refused(404, "not_found").code("reply_link_not_found");
    // It is not asked again.
    let same = host.api.put(REPLY_TO).json(json!({ "email": ADA })).await.expect(200);
    assert_eq!(same.json, json!({ "email": ADA, "pending": null }));

    // The address ends the replies by itself.
    let page = host.submit(&third, &[("agrees", "false")]).await;
    assert!(page.status == 200 && page.text.contains("do not go to"), "{}", page.text);
    assert_eq!(host.api.get(REPLY_TO).await.expect(200).json, none);
    assert_eq!(replies_go_to(&mut host).await, None);
    assert_eq!(host.open(&third).await.status, 404);

    host.api.put(REPLY_TO).json(json!({ "email": TEAM })).await.expect(200);
    let fourth = link(&mut host, TEAM).await;
    anonymous.post(&fourth).json(yes.clone()).await.expect(200);
    host.api.delete(REPLY_TO).await.expect(204);
    assert_eq!(host.api.get(REPLY_TO).await.expect(200).json, none);
    anonymous.post(&fourth).json(yes).await.refused(404, "not_found").code("reply_link_not_found");
    assert_eq!(replies_go_to(&mut host).await, None);
}

#[apply(on_both)]
#[tokio::test]
async fn a_question_about_replies_expires(#[case] database: Database) {
    let mut host = Host::new(database).await;
    host.api.put(REPLY_TO).json(json!({ "email": TEAM })).await.expect(200);
    let asked = link(&mut host, TEAM).await;
    host.later(7 * 24 * 60 * 60).await;
    assert_eq!(host.open(&asked).await.status, 404);
    assert_eq!(host.submit(&asked, AGREES).await.status, 404);
    let none = json!({ "email": null, "pending": null });
    assert_eq!(host.api.get(REPLY_TO).await.expect(200).json, none);
}

#[apply(on_both)]
#[tokio::test]
async fn only_an_organization_that_may_send_emails_asks_for_replies(#[case] database: Database) {
    let host = Host::new(database).await;
    for (body, param) in [
        (json!({}), "email"),
        (json!({ "email": "team" }), "email"),
        (json!({ "email": "a@example.com\r\nBcc: b@example.com" }), "email"),
        (json!({ "email": TEAM, "name": "Team" }), "name"),
    ] {
        host.api.put(REPLY_TO).json(body).await.refused(400, "validation_error").param(param);
    }
    let body = json!({ "agent_id": host.agent, "label": "laptop" });
    let key = host.api.post("/v1/keys").json(body).await.expect(201);
    let agent = host.server.client(key["key"].as_str().unwrap());
    agent.get(REPLY_TO).await.refused(403, "forbidden");
    agent.put(REPLY_TO).json(json!({ "email": TEAM })).await.refused(403, "forbidden");
    agent.delete(REPLY_TO).await.refused(403, "forbidden");

    let body = json!({ "email": "new@example.com", "agent_name": "Scout", "tos_version": "2026-01-01" });
    let key = host.server.anonymous().post("/v1/agent/sign-up").json(body).await.expect(200);
    let unverified = host.server.client(key["api_key"].as_str().unwrap());
    let refused = unverified.put(REPLY_TO).json(json!({ "email": TEAM })).await.refused(403, "forbidden");
    refused.code("verification_required");
    for token in ["x", "A", &"A".repeat(43)] {
        assert_eq!(host.open(&format!("/replies/{token}")).await.status, 404);
        assert_eq!(host.submit(&format!("/replies/{token}"), AGREES).await.status, 404);
    }
}
