//! Signing in with an OpenID Connect provider of the operator's, against a strict stand-in.

use crate::on_both;
use kalends_e2e::{Answering, CLIENT_SECRET, Database, SignInProvider, at};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    fixtures::{is_time, now},
    oauth::{World, me, terms},
};

/// A service with the stand-in as the operator's provider.
async fn world(database: Database) -> World {
    let provider = SignInProvider::start().await;
    let variables = provider.oidc_variables();
    World::offering(database, provider, variables, &[]).await
}

/// An identity token without the claims of the scopes `email` and `profile`.
fn bare(subject: &str) -> Value {
    json!({ "sub": subject, "email": null, "email_verified": null, "name": null })
}

/// Requires that no attempt begins, and that the answer redirects to the console.
async fn does_not_begin(world: &World) {
    let answer = world.server.anonymous().get("/v1/auth/oauth/oidc").await.expect(302);
    let expected = format!("{}/console?error=provider_unavailable", world.server.base_url());
    assert_eq!(answer.header("location"), expected, "{}", answer.describe());
    assert_eq!(answer.header("cache-control"), "no-store");
    assert!(answer.headers.get("set-cookie").is_none(), "{}", answer.describe());
}

#[apply(on_both)]
#[tokio::test]
async fn a_new_user_signs_up_and_signs_in_again(#[case] database: Database) {
    let world = world(database).await;
    let page = world.server.anonymous().undescribed().get("/console/sign-in").await.expect(200);
    let button = r#"href="/v1/auth/oauth/oidc">Continue with Example Login</a>"#;
    assert!(page.text().contains(button), "{}", page.text());
    // The provider vouches for addresses of any domain.
    world.provider.claims(&json!({ "sub": "ada", "hd": null, "xms_edov": null }));
    let first = me(&world.signed_in(&world.sign_in("oidc", &terms()).await)).await;
    assert_eq!((&first["user"]["email"], &first["user"]["name"]), (&json!("ada@example.com"), &json!("Ada Lovelace")));
    is_time(&first["user"]["email_verified_at"]);
    // The subject identifies the user, not the address.
    world.provider.claims(&json!({ "sub": "ada", "email": "other@example.com", "email_verified": false }));
    assert_eq!(me(&world.signed_in(&world.sign_in("oidc", "").await)).await, first);
    world.provider.claims(&json!({ "sub": "bob", "email": "bob@example.com" }));
    let bob = me(&world.signed_in(&world.sign_in("oidc", &terms()).await)).await;
    assert_ne!(bob["user"]["id"], first["user"]["id"]);
    // The discovery document is kept, and the identity tokens had an address.
    assert_eq!((world.provider.discoveries(), world.provider.user_infos()), (1, 0));
    assert_eq!(world.provider.exchanged().len(), 3);
    assert!(!world.server.log().contains(CLIENT_SECRET));
}

#[apply(on_both)]
#[tokio::test]
async fn an_email_names_the_provider(#[case] database: Database) {
    let world = world(database).await;
    let (made, _) = world.password_human("ada@example.com").await;
    let linked = me(&world.signed_in(&world.sign_in("oidc", "").await)).await;
    assert_eq!(linked["user"]["id"], made["user"]["id"]);
    let mails = world.server.wait_for_mails(1).await;
    assert!(mails[0].to == "ada@example.com" && mails[0].text.contains("Example Login"), "{mails:?}");
}

#[apply(on_both)]
#[tokio::test]
async fn the_address_may_be_only_in_userinfo(#[case] database: Database) {
    let mut world = world(database).await;
    // This provider also takes the client's secret only in the header.
    world.provider.takes_only_basic();
    world.provider.claims(&bare("ada"));
    world.provider.user_info(&json!({ "email": "ada@example.com", "email_verified": "true", "name": "Ada L." }));
    let ada = me(&world.signed_in(&world.sign_in("oidc", &terms()).await)).await;
    assert_eq!((&ada["user"]["email"], &ada["user"]["name"]), (&json!("ada@example.com"), &json!("Ada L.")));
    is_time(&ada["user"]["email_verified_at"]);
    assert_eq!(world.provider.user_infos(), 1);
    // Another person's address has to be verified.
    world.provider.claims(&bare("eve"));
    for verified in [json!(null), json!(false), json!("false"), json!(1)] {
        world.provider.user_info(&json!({ "email": "ada@example.com", "email_verified": verified }));
        world.failed(&world.sign_in("oidc", &terms()).await, "email_not_verified");
    }
    // The answer is about somebody else, about nobody, or has no address.
    for claims in [
        json!({ "sub": "ada", "email": "eve@example.com", "email_verified": true }),
        json!({ "sub": null, "email": "eve@example.com", "email_verified": true }),
        json!({}),
    ] {
        world.provider.user_info(&claims);
        world.failed(&world.sign_in("oidc", &terms()).await, "oauth_failed");
    }
    // A known user needs no such answer.
    world.provider.claims(&bare("ada"));
    world.provider.user_info(&json!({ "sub": null }));
    assert_eq!(me(&world.signed_in(&world.sign_in("oidc", "").await)).await, ada);
    world.provider.claims(&bare("eve"));
    // A provider without this endpoint sends no address, and a known user needs none.
    world.server.restart().await;
    world.register();
    world.provider.document(&json!({ "userinfo_endpoint": null }));
    let asked = world.provider.user_infos();
    world.failed(&world.sign_in("oidc", &terms()).await, "oauth_failed");
    world.provider.claims(&bare("ada"));
    assert_eq!(me(&world.signed_in(&world.sign_in("oidc", "").await)).await, ada);
    assert_eq!(world.provider.user_infos(), asked);
}

#[apply(on_both)]
#[tokio::test]
async fn nobody_signs_in_without_a_valid_discovery_document(#[case] database: Database) {
    let mut world = world(database).await;
    for (status, text) in [(404, "{}"), (302, ""), (503, ""), (200, "<html>"), (200, &" ".repeat(1 << 20))] {
        world.provider.discovers(Answering::With(status, text.to_owned()));
        does_not_begin(&world).await;
    }
    world.provider.discovers(Answering::Properly);
    for fields in [
        json!({ "issuer": "https://evil.example" }),
        json!({ "issuer": format!("http://{}/", world.provider.address()) }),
        json!({ "issuer": null }),
        json!({ "authorization_endpoint": "javascript:alert(1)" }),
        json!({ "token_endpoint": null }),
        json!({ "token_endpoint": "http://provider.example/token" }),
        json!({ "userinfo_endpoint": "https://127.0.0.1/userinfo" }),
    ] {
        world.provider.document(&fields);
        does_not_begin(&world).await;
    }
    let log = world.server.log();
    assert!(log.contains("another issuer"), "{log}");
    // The failure is reported to the page that the sign-in began on.
    let answer = world.server.anonymous().get("/v1/auth/oauth/oidc?return_to=connections").await.expect(302);
    let expected =
        format!("{}/console/sign-in?next=/console/connections&error=provider_unavailable", world.server.base_url());
    assert_eq!(answer.header("location"), expected);
    // A document that is valid again counts at once. While it is fresh, the provider's failures do not matter.
    world.provider.document(&json!({}));
    let first = me(&world.signed_in(&world.sign_in("oidc", &terms()).await)).await;
    world.provider.discovers(Answering::With(500, String::new()));
    assert_eq!(me(&world.signed_in(&world.sign_in("oidc", "").await)).await, first);
    // The document is lost while a browser is at the provider.
    let begun = world.begin("oidc", "").await;
    let path = world.back(&begun).await;
    world.server.restart().await;
    world.failed(&world.answer(&path, &begun.cookie).await, "provider_unavailable");
}

#[apply(on_both)]
#[tokio::test]
async fn invalid_identities_are_refused(#[case] database: Database) {
    let world = world(database).await;
    let now = at(&now(&world.server.anonymous()).await).timestamp();
    for claims in [
        json!({ "nonce": "another" }),
        json!({ "nonce": null }),
        json!({ "aud": "another-client" }),
        json!({ "aud": ["kalends-client", "another-client"] }),
        json!({ "iss": "https://evil.example" }),
        json!({ "iss": format!("http://{}/", world.provider.address()) }),
        json!({ "exp": now - 3_600 }),
        json!({ "iat": now + 3_600 }),
        json!({ "sub": "" }),
    ] {
        world.provider.claims(&claims);
        world.failed(&world.sign_in("oidc", &terms()).await, "oauth_failed");
    }
    world.provider.claims(&json!({}));
    let begun = world.begin("oidc", &terms()).await;
    let path = format!("{}&iss=https%3A%2F%2Fevil.example", world.back(&begun).await);
    world.failed(&world.answer(&path, &begun.cookie).await, "oauth_failed");
    // An unverified address belongs to nobody.
    world.password_human("ada@example.com").await;
    for verified in [json!(null), json!(false), json!("false"), json!(1)] {
        world.provider.claims(&json!({ "email_verified": verified }));
        world.failed(&world.sign_in("oidc", &terms()).await, "email_not_verified");
    }
    world.provider.claims(&json!({ "email_verified": "true" }));
    world.signed_in(&world.sign_in("oidc", &terms()).await);
}

#[apply(on_both)]
#[tokio::test]
async fn it_has_no_calendars(#[case] database: Database) {
    let world = world(database).await;
    let ada = world.signed_in(&world.sign_in("oidc", &terms()).await);
    let start = "/v1/calendar-connections/oauth/oidc/start";
    ada.post(start).json(json!({})).await.refused(404, "not_found").code("provider_not_found");
    let callback = "/v1/calendar-connections/oauth/oidc/callback";
    world.server.anonymous().get(callback).await.refused(404, "not_found");
}
