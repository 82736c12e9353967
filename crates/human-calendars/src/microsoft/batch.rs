//! Several requests in one (<https://learn.microsoft.com/graph/json-batching>).

use std::{collections::BTreeMap, time::Duration};

use kalends_app::ports::ProviderError;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::common::{NOT_CONSENTED, code, is_one_of, lapsed};
use crate::{
    account::{Account, RETRY_AFTER_MAX},
    answer::{Malformed, read, unavailable},
};

/// The status that stands for an answer that is missing.
const MISSING: u16 = 504;

/// A request in a batch.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) method: &'static str,
    /// The path and the query below the API's base URL, encoded.
    pub(super) url: String,
    /// The version that the event must have.
    pub(super) if_match: Option<String>,
    pub(super) body: Option<Value>,
}

/// The answer to a request in a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartAnswer {
    pub(super) status: u16,
    pub(super) retry_after: Option<Duration>,
    pub(super) body: Value,
}

/// The result of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Batch {
    /// The answers, in the order of the requests.
    Answered(Vec<PartAnswer>),
    /// The provider has too much to do: it did none of it.
    Later(Option<Duration>),
}

/// Sends a batch.
pub(super) async fn send(account: &Account<'_>, parts: &[Part]) -> Result<Batch, ProviderError> {
    let answer = account.post(account.url("/$batch", &[])?, &question(parts)).await?;
    answers(answer.status, answer.retry_after, &answer.body, parts.len())
}

fn question(parts: &[Part]) -> Value {
    let requests = parts.iter().enumerate().map(|(place, part)| {
        let mut headers = Map::new();
        headers.insert("Prefer".to_owned(), "outlook.timezone=\"UTC\"".into());
        let mut request = Map::new();
        if let Some(etag) = &part.if_match {
            headers.insert("If-Match".to_owned(), etag.as_str().into());
        }
        if let Some(body) = &part.body {
            headers.insert("Content-Type".to_owned(), "application/json".into());
            request.insert("body".to_owned(), body.clone());
        }
        request.insert("id".to_owned(), (place + 1).to_string().into());
        request.insert("method".to_owned(), part.method.into());
        request.insert("url".to_owned(), part.url.as_str().into());
        request.insert("headers".to_owned(), headers.into());
        Value::Object(request)
    });
    json!({ "requests": requests.collect::<Vec<_>>() })
}

#[derive(Deserialize)]
struct Responses {
    responses: Vec<Response>,
}

#[derive(Deserialize)]
struct Response {
    id: String,
    status: u16,
    #[serde(default)]
    headers: Value,
    #[serde(default)]
    body: Value,
}

/// The answers to a batch of `count` requests.
fn answers(status: u16, after: Option<Duration>, body: &[u8], count: usize) -> Result<Batch, ProviderError> {
    match status {
        200 => {}
        401 => return Err(lapsed("invalid_token")),
        429 | 503 | 504 => return Ok(Batch::Later(after)),
        _ => {
            let code = code(body);
            let reason = code.as_deref().unwrap_or_default();
            let lacks_consent = status == 403 && is_one_of(&NOT_CONSENTED, reason);
            return Err(if lacks_consent { lapsed("insufficient_scope") } else { unavailable(status, Some(reason)) });
        }
    }
    let Responses { responses } = read("the answer to a batch", body)?;
    // They come in any order.
    let mut by_id = BTreeMap::new();
    for response in responses {
        let answer =
            PartAnswer { status: response.status, retry_after: retry_after(&response.headers), body: response.body };
        if by_id.insert(response.id, answer).is_some() {
            return Err(Malformed::Sense("the answer to a batch answers a request twice").into());
        }
    }
    let missing = || PartAnswer { status: MISSING, retry_after: None, body: Value::Null };
    let answered = (1..=count).map(|place| by_id.remove(&place.to_string()).unwrap_or_else(missing));
    Ok(Batch::Answered(answered.collect()))
}

/// The time in the header `Retry-After`, at most [`RETRY_AFTER_MAX`].
fn retry_after(headers: &Value) -> Option<Duration> {
    let (_, value) = headers.as_object()?.iter().find(|(name, _)| name.eq_ignore_ascii_case("retry-after"))?;
    let seconds = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())?;
    Some(Duration::from_secs(seconds).min(RETRY_AFTER_MAX))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn requests_are_numbered() {
        let parts = [
            Part { method: "POST", url: "/me/a".into(), if_match: None, body: Some(json!({ "x": 1 })) },
            Part { method: "DELETE", url: "/me/b".into(), if_match: Some("W/\"1\"".into()), body: None },
        ];
        let prefer = "outlook.timezone=\"UTC\"";
        let expected = json!({ "requests": [
            { "id": "1", "method": "POST", "url": "/me/a", "body": { "x": 1 },
              "headers": { "Prefer": prefer, "Content-Type": "application/json" } },
            { "id": "2", "method": "DELETE", "url": "/me/b", "headers": { "Prefer": prefer, "If-Match": "W/\"1\"" } }
        ]});
        assert_eq!(question(&parts), expected);
    }

    #[test]
    fn answers_are_sorted_and_missing_ones_come_later() {
        let body = json!({ "responses": [
            { "id": "3", "status": 204 },
            { "id": "1", "status": 429, "headers": { "retry-after": "7" }, "body": { "error": { "code": "x" } } }
        ]});
        let Ok(Batch::Answered(answers)) = answers(200, None, body.to_string().as_bytes(), 3) else {
            panic!("answers")
        };
        let found: Vec<_> = answers.iter().map(|answer| (answer.status, answer.retry_after)).collect();
        assert_eq!(found, [(429, Some(Duration::from_secs(7))), (504, None), (204, None)]);
    }

    #[rstest]
    #[case(json!({ "Retry-After": "30" }), Some(30))]
    #[case(json!({ "RETRY-AFTER": 30 }), Some(30))]
    #[case::at_most_an_hour(json!({ "Retry-After": "86400" }), Some(3_600))]
    #[case::a_date(json!({ "Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT" }), None)]
    #[case::negative(json!({ "Retry-After": "-1" }), None)]
    #[case::absent(json!({}), None)]
    #[case::no_headers(Value::Null, None)]
    fn waits_are_read(#[case] headers: Value, #[case] seconds: Option<u64>) {
        assert_eq!(retry_after(&headers), seconds.map(Duration::from_secs));
    }

    #[rstest]
    #[case(401, "", "lapsed invalid_token")]
    #[case(403, "ErrorAccessDenied", "lapsed insufficient_scope")]
    #[case(403, "ErrorQuotaExceeded", "it answers with status 403 (ErrorQuotaExceeded)")]
    #[case(400, "BadRequest", "it answers with status 400 (BadRequest)")]
    #[case(500, "", "it answers with status 500")]
    #[case(429, "", "later")]
    #[case(503, "", "later")]
    #[case(504, "", "later")]
    fn failures_of_a_batch_are_classified(#[case] status: u16, #[case] code: &str, #[case] expected: &str) {
        let body = json!({ "error": { "code": code } }).to_string();
        let after = Some(Duration::from_secs(9));
        let found = match answers(status, after, body.as_bytes(), 1) {
            Ok(batch) => {
                assert_eq!(batch, Batch::Later(after));
                "later".to_owned()
            }
            Err(ProviderError::Lapsed(code)) => format!("lapsed {code}"),
            Err(ProviderError::Unavailable(error)) => error.to_string(),
            Err(error) => panic!("{error:?}"),
        };
        assert_eq!(found, expected);
    }

    #[rstest]
    #[case::not_json("<html>Dentist</html>")]
    #[case::no_list("{}")]
    #[case::no_status(r#"{"responses":[{"id":"1","body":"Dentist"}]}"#)]
    #[case::twice(r#"{"responses":[{"id":"1","status":201},{"id":"1","status":201}]}"#)]
    fn malformed_answers_are_refused(#[case] body: &str) {
        let read = answers(200, None, body.as_bytes(), 1);
        assert!(
            matches!(read, Err(ProviderError::Malformed(_))) && !format!("{read:?}").contains("Dentist"),
            "{read:?}"
        );
    }
}
