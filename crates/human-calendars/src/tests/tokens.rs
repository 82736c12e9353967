//! Requests to the token endpoints.

use kalends_accounts::oauth::{Provider, TokenRequest};
use kalends_app::ports::{CalendarProviders as _, ProviderError};
use kalends_time::SignedDuration;
use rstest::rstest;
use serde_json::json;

use super::{
    NOW, accounts, settings,
    stand_in::{StandIn, ok, reply},
    tokens,
};
use crate::CalendarAccounts;

/// The fields of a form, in order.
type Form = [(&'static str, &'static str)];

fn owned(form: &Form) -> Vec<(String, String)> {
    form.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[rstest]
#[case(Provider::Google)]
#[case(Provider::Microsoft)]
#[tokio::test]
async fn a_code_is_exchanged(#[case] provider: Provider) {
    let answer = json!({ "access_token": "a", "token_type": "Bearer", "expires_in": 600, "refresh_token": "r" });
    let server = StandIn::with_answers(vec![ok(answer)]).await;
    let request = TokenRequest {
        code: "4/0+a b".into(),
        code_verifier: "verifier".into(),
        redirect_uri: "https://calendar.example.com/callback".into(),
    };
    let granted = accounts(&server).authorize(provider, request, NOW).await.unwrap();
    assert_eq!((granted.access.as_str(), granted.refresh.as_str()), ("a", "r"));
    assert_eq!(granted.access_until, NOW + SignedDuration::minutes(10));
    let request = server.only_request();
    assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "/token"));
    assert_eq!(request.headers["accept"], "application/json");
    assert!(!request.headers.contains_key("authorization"));
    let form = owned(&[
        ("grant_type", "authorization_code"),
        ("code", "4/0+a b"),
        ("redirect_uri", "https://calendar.example.com/callback"),
        ("code_verifier", "verifier"),
        ("client_id", "kalends&co"),
        ("client_secret", "s&=cret"),
    ]);
    assert_eq!(request.form(), form);
}

#[rstest]
#[case::kept(Provider::Google, json!({ "access_token": "a", "expires_in": 600 }), "1//refresh")]
#[case::rotated(Provider::Microsoft, json!({ "access_token": "a", "refresh_token": "M.R3" }), "M.R3")]
#[tokio::test]
async fn tokens_are_renewed(#[case] provider: Provider, #[case] answer: serde_json::Value, #[case] refresh: &str) {
    let server = StandIn::with_answers(vec![ok(answer)]).await;
    let renewed = accounts(&server).renew(provider, &tokens(), NOW).await.unwrap();
    assert_eq!((renewed.access.as_str(), renewed.refresh.as_str()), ("a", refresh));
    let request = server.only_request();
    assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "/token"));
    let form = owned(&[
        ("grant_type", "refresh_token"),
        ("refresh_token", "1//refresh"),
        ("client_id", "kalends&co"),
        ("client_secret", "s&=cret"),
    ]);
    assert_eq!(request.form(), form);
}

#[tokio::test]
async fn a_revoked_consent_has_lapsed() {
    let server = StandIn::with_answers(vec![reply(400, json!({ "error": "invalid_grant" }))]).await;
    let renewed = accounts(&server).renew(Provider::Google, &tokens(), NOW).await;
    assert!(matches!(&renewed, Err(ProviderError::Lapsed(error)) if error == "invalid_grant"), "{renewed:?}");
}

#[tokio::test]
async fn a_consent_is_revoked_if_the_provider_supports_it() {
    let server = StandIn::with_answers(vec![ok(""), reply(503, "")]).await;
    let accounts = accounts(&server);
    accounts.revoke(Provider::Microsoft, &tokens()).await.unwrap();
    assert!(server.requests().is_empty(), "Microsoft has no revocation endpoint");
    accounts.revoke(Provider::Google, &tokens()).await.unwrap();
    let request = server.only_request();
    assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "/revoke"));
    assert_eq!(request.form(), owned(&[("token", "1//refresh")]));
    let failed = accounts.revoke(Provider::Google, &tokens()).await;
    assert!(matches!(failed, Err(ProviderError::Unavailable(_))), "{failed:?}");
}

#[tokio::test]
async fn an_unconfigured_provider_is_unavailable() {
    let server = StandIn::with_answers(vec![]).await;
    let only = CalendarAccounts::new(accounts(&server).egress(), vec![settings(Provider::Google, &server)], false);
    assert_eq!(only.client(Provider::Google).map(|client| client.client_id.as_str()), Some("kalends&co"));
    assert!(only.client(Provider::Microsoft).is_none());
    let renewed = only.renew(Provider::Microsoft, &tokens(), NOW).await;
    let Err(ProviderError::Unavailable(error)) = renewed else { panic!("{renewed:?}") };
    assert_eq!(error.to_string(), "it is not configured");
}

#[tokio::test]
async fn debug_output_has_no_secret() {
    let server = StandIn::with_answers(vec![]).await;
    let printed = format!("{:?}", settings(Provider::Google, &server));
    assert!(!printed.contains("s&=cret") && !printed.contains("/token"), "{printed}");
}
