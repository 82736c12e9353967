//! Keys of test organizations.

use crate::on_both;
use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;

use crate::{claims::text, console::owner};

#[apply(on_both)]
#[tokio::test]
async fn a_test_organization_s_new_keys_are_test_keys(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org_with("pro", &["--test", "--email", "trial@example.com"]).await;
    let session = owner(&server, "trial@example.com").await;
    let mut open = org.key;
    for _ in 0..2 {
        server.client(&open).get("/v1/agents").await.expect(200);
        let replaced = session.post("/v1/auth/keys/regenerate").await.expect(200);
        let key = text(&replaced["key"]);
        assert!(key.strip_prefix("svc_sk_test_").is_some_and(|random| random.len() == 43), "{key}");
        assert_eq!(replaced["key_prefix"], key[..20]);
        server.client(&open).get("/v1/agents").await.refused(401, "unauthorized");
        open = key;
    }
    server.restart().await;
    let api = server.client(&open);
    assert_eq!(api.get("/v1/agents").await.expect(200).header("x-service-plan"), "pro");
    let log = api.get("/v1/audit-log?action=key.regenerate").await.expect(200);
    assert_eq!(log.data().len(), 2);
}
