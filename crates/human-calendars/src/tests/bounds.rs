//! Providers that are slow, send too much, or redirect to somebody else.

use std::time::Duration;

use kalends_accounts::oauth::Provider;
use kalends_app::ports::{CalendarProviders as _, ProviderError};
use kalends_bridge::{
    Access,
    CalendarProvider::{self, Google, Microsoft},
    Tokens,
};
use rstest::rstest;
use serde_json::json;

use super::{
    NOW, access, accounts, references, span,
    stand_in::{StandIn, nothing, ok, reply, stand_still},
    tokens,
};

fn error_text<T: std::fmt::Debug>(failed: Result<T, ProviderError>) -> String {
    let Err(ProviderError::Unavailable(error)) = failed else { panic!("{failed:?}") };
    error.to_string()
}

#[tokio::test]
async fn an_exchange_has_a_deadline() {
    let _held = stand_still();
    let server = StandIn::start(|_| nothing().after(Duration::from_secs(16))).await;
    let accounts = accounts(&server);
    let began = tokio::time::Instant::now();
    let late = "no complete answer within 15 s";
    assert_eq!(error_text(accounts.calendars(Google, &access()).await), late);
    assert_eq!(error_text(accounts.renew(Provider::Microsoft, &tokens(), NOW).await), late);
    assert_eq!(error_text(accounts.revoke(Provider::Google, &tokens()).await), late);
    assert_eq!((began.elapsed().as_secs(), server.requests().len()), (48, 3));
}

#[tokio::test]
async fn a_call_has_a_deadline_over_all_its_exchanges() {
    let _held = stand_still();
    let page = || ok(json!({ "items": [], "nextPageToken": "again" }));
    let answers = (0..6).map(|_| page()).chain([nothing()]);
    let server = StandIn::with_answers(answers.map(|answer| answer.after(Duration::from_secs(9))).collect()).await;
    let began = tokio::time::Instant::now();
    assert_eq!(error_text(accounts(&server).calendars(Google, &access()).await), "no complete answer within 60 s");
    assert_eq!((began.elapsed().as_secs(), server.requests().len()), (63, 7));
}

/// The runtime advances time when it is idle, which is while it waits for the server.
#[rstest]
#[case(Google)]
#[case(Microsoft)]
#[tokio::test(start_paused = true)]
async fn every_call_has_a_deadline(#[case] provider: CalendarProvider) {
    let server = StandIn::start(|_| nothing()).await;
    let accounts = accounts(&server).limited(Duration::from_secs(3));
    let late = "no complete answer within 3 s";
    let window = span("2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z");
    assert_eq!(error_text(accounts.calendars(provider, &access()).await), late);
    assert_eq!(error_text(accounts.busy(provider, &access(), &references(&["a"]), window).await), late);
    assert_eq!(error_text(accounts.renew(provider.oauth().unwrap(), &tokens(), NOW).await), late);
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_refused() {
    let server = StandIn::start(|request| {
        let most = if request.path() == "/token" { 64 << 10 } else { 4 << 20 };
        ok(" ".repeat(most + 1))
    })
    .await;
    let accounts = accounts(&server);
    for (failed, most) in [
        (accounts.calendars(Google, &access()).await.map(|_| ()), 4 << 20),
        (accounts.calendars(Microsoft, &access()).await.map(|_| ()), 4 << 20),
        (accounts.renew(Provider::Google, &tokens(), NOW).await.map(|_| ()), 64 << 10),
    ] {
        let Err(ProviderError::Malformed(error)) = failed else { panic!("{failed:?}") };
        assert_eq!(error.to_string(), format!("the answer is longer than {most} bytes"));
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let server = StandIn::start(|_| reply(307, "")).await;
    let accounts = accounts(&server);
    assert_eq!(error_text(accounts.calendars(Google, &access()).await), "it answers with status 307");
    assert_eq!(error_text(accounts.renew(Provider::Google, &tokens(), NOW).await), "it answers with status 307");
    assert_eq!(server.requests().len(), 2);
}

#[rstest]
#[case("two\r\nlines")]
#[case("\u{7f}")]
#[tokio::test]
async fn a_token_that_does_not_fit_a_header_has_lapsed(#[case] text: &str) {
    let server = StandIn::with_answers(vec![]).await;
    let odd = Access::Consent(Tokens { access: text.to_owned(), ..tokens() });
    let failed = accounts(&server).calendars(Google, &odd).await;
    assert!(matches!(&failed, Err(ProviderError::Lapsed(error)) if error == "invalid_token"), "{failed:?}");
}

#[tokio::test]
async fn errors_contain_no_token() {
    let server = StandIn::start(|request| {
        // The server echoes whatever was sent, in errors and in answers.
        let echo = format!("{} {}", request.headers.get("authorization").map_or("", String::as_str), request.body);
        match request.path() {
            "/revoke" => reply(400, json!({ "error_description": echo })),
            "/token" => ok(json!({ "access_token": [echo] })),
            path if path.ends_with("calendarList") => reply(401, json!({ "error": { "message": echo } })),
            _ => ok(json!({ "value": [{ "name": [echo] }] })),
        }
    })
    .await;
    let accounts = accounts(&server);
    let printed = [
        format!("{:?}", accounts.revoke(Provider::Google, &tokens()).await.unwrap_err()),
        format!("{:?}", accounts.renew(Provider::Google, &tokens(), NOW).await.unwrap_err()),
        format!("{:?}", accounts.calendars(Google, &access()).await.unwrap_err()),
        format!("{:?}", accounts.calendars(Microsoft, &access()).await.unwrap_err()),
    ];
    assert!(printed.iter().all(|printed| !printed.contains("access\"") && !printed.contains("ya29")), "{printed:?}");
    assert!(printed.iter().all(|printed| !printed.contains("refresh") && !printed.contains("s&=cret")), "{printed:?}");
}
