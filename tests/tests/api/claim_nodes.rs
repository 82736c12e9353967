//! Claims whose hold has ended, with two nodes that let them take effect.

use kalends_e2e::{Client, Database::Postgres, Server};
use serde_json::{Value, json};

use crate::{
    claims::{agent, code, initiate, text, verify},
    console::{Human, PASSWORD},
    stored::number,
};

const CLAIMS: i64 = 5;
const HUMAN: &str = "ada@example.com";

async fn signed_in(server: &Server) -> Client {
    let body = json!({ "email": HUMAN, "password": PASSWORD });
    let answer = server.anonymous().post("/v1/auth/signin").json(body).await.expect(200);
    server.client(&text(&answer["token"]))
}

/// The entries of an organization's audit log that no request caused.
async fn takeovers(api: &Client) -> Vec<Value> {
    let log = api.get("/v1/audit-log?action=org.update").await.expect(200);
    log.data().into_iter().filter(|entry| entry["method"] == "AUTO").collect()
}

#[tokio::test]
async fn a_claim_takes_effect_once() {
    let mut server = Server::start(Postgres).await;
    let mut node = server.another_node().await;
    let ada = server.client(&Human::sign_up(&server, HUMAN).await.token);
    let mut claimed = Vec::new();
    for number in 0..CLAIMS {
        let address = format!("scout@place-{number}.example");
        let (org, _) = agent(&server, &address).await;
        let claim = initiate(&ada, &address).await;
        let code = code(&server, &address, 1).await;
        assert_eq!(verify(&ada, &claim, &code).await.expect(200)["status"], "held");
        claimed.push(org);
    }
    assert!(server.stop().await.success() && node.stop().await.success());
    assert_eq!(number(&server, "select count(*) from organization_owners").await, 1);

    // Both nodes find the claims due when they start, and requests ask both at once.
    let later = [("KALENDS_CLOCK_OFFSET_SECONDS", "86405")];
    tokio::join!(server.start_again(&later), node.start_again(&later));
    let nodes = tokio::join!(signed_in(&server), signed_in(&node));
    let ask = async |session: &Client| {
        let owned = session.get("/v1/auth/orgs").await.expect(200);
        let owned: Vec<_> = owned["orgs"].as_array().unwrap().iter().map(|org| text(&org["id"])).collect();
        assert!(claimed.iter().all(|org| owned.contains(org)), "{owned:?}");
        let listed = session.get("/v1/auth/claims").await.expect(200);
        assert_eq!(listed.column("status"), ["effective"; 5]);
    };
    tokio::join!(ask(&nodes.0), ask(&nodes.1));

    assert_eq!(number(&server, "select count(*) from organization_owners").await, 1 + CLAIMS);
    for org in &claimed {
        nodes.0.post(format!("/v1/auth/orgs/{org}/switch")).await.expect(200);
        let entries = takeovers(&nodes.0).await;
        assert_eq!((entries.len(), &entries[0]["resource"]), (1, &json!(org)), "{entries:#?}");
    }
    // Asking again changes nothing.
    tokio::join!(ask(&nodes.0), ask(&nodes.1));
    assert_eq!(takeovers(&nodes.0).await.len(), 1);
}
