//! JSON bodies.

use std::{error::Error, time::Duration};

use axum::{
    body::{Body, to_bytes},
    extract::{FromRequest, Request},
};
use bytes::Bytes;
use http::header;
use http_body_util::{BodyExt as _, LengthLimitError};
use kalends_app::operations::{self, Operation};
use serde::{
    Deserialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::error::Category;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::{shape::Shaped, unknown::field_error};
use crate::{BODY_MAX, CALL_MAX, FILE_MAX, error::ApiError};

/// How long a body may take to arrive.
const ARRIVES_WITHIN: Duration = Duration::from_secs(20);

/// How many large bodies are held at once; others wait until one is done with.
const FILES_AT_ONCE: usize = 8;
static FILES: Semaphore = Semaphore::const_new(FILES_AT_ONCE);

/// How many messages longer than other bodies are held at once. They have places of their own: the request that such a
/// one brings asks for one of [`FILES`] while it is held.
const MESSAGES_AT_ONCE: usize = 4;
static MESSAGES: Semaphore = Semaphore::const_new(MESSAGES_AT_ONCE);

/// Marks a request whose body was read at the entrance, as one with an `Idempotency-Key` is.
#[derive(Clone, Copy)]
pub(crate) struct AlreadyRead;

/// A large body, and its place among those that are held.
struct Held {
    body: Bytes,
    _place: SemaphorePermit<'static>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

/// The most bytes of the body of an operation's request.
pub(crate) fn max_of(operation: &Operation) -> usize {
    if operation.id == operations::IMPORT_CALENDAR.id { FILE_MAX } else { BODY_MAX }
}

/// A body of JSON. What is not JSON is `invalid_request`; JSON of another shape names the field.
pub(crate) struct JsonBody<T>(pub T);

/// The whole body of at most `max` bytes.
///
/// # Errors
/// [`ApiError::TooLarge`], [`ApiError::BodyLate`] or, where the connection broke, [`ApiError::BodyLost`].
pub(crate) async fn read(body: Body, max: usize) -> Result<Bytes, ApiError> {
    // The semaphore is never closed; were it, no more than the bound would be missing.
    let place = if max > BODY_MAX { FILES.acquire().await.ok() } else { None };
    let body = collect(body, max).await?;
    Ok(match place {
        Some(place) => Bytes::from_owner(Held { body, _place: place }),
        None => body,
    })
}

async fn collect(body: Body, max: usize) -> Result<Bytes, ApiError> {
    let read = tokio::time::timeout(ARRIVES_WITHIN, to_bytes(body, max)).await.map_err(|_| ApiError::BodyLate)?;
    read.map_err(|error| {
        let too_large = error.source().is_some_and(|cause| cause.is::<LengthLimitError>());
        if too_large { ApiError::TooLarge(max) } else { ApiError::BodyLost }
    })
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        parse(&declared(request).await?).map(Self)
    }
}

/// JSON as it came, of at most [`CALL_MAX`] bytes.
pub(crate) struct JsonMessage {
    pub text: Bytes,
    /// The place of a large one, to be kept for as long as anything that was made of it.
    pub place: Option<SemaphorePermit<'static>>,
}

impl<S: Send + Sync> FromRequest<S> for JsonMessage {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let mut body = as_json(request)?;
        let mut text = Vec::new();
        fill(&mut text, &mut body, BODY_MAX).await?;
        // Hardly any is so large, and the others wait for nobody.
        let place = if text.len() > BODY_MAX { MESSAGES.acquire().await.ok() } else { None };
        fill(&mut text, &mut body, CALL_MAX).await?;
        if text.len() > CALL_MAX {
            return Err(ApiError::TooLarge(CALL_MAX));
        }
        parse::<IgnoredAny>(&text)?;
        Ok(Self { text: text.into(), place })
    }
}

/// Reads on until the body ends, or there are more than `max` bytes.
async fn fill(text: &mut Vec<u8>, body: &mut Body, max: usize) -> Result<(), ApiError> {
    let reading = async {
        while text.len() <= max {
            let Some(frame) = body.frame().await else { break };
            if let Ok(data) = frame.map_err(|_| ApiError::BodyLost)?.into_data() {
                text.extend_from_slice(&data);
            }
        }
        Ok(())
    };
    tokio::time::timeout(ARRIVES_WITHIN, reading).await.map_err(|_| ApiError::BodyLate)?
}

/// The body of a request that declares no other type than JSON.
async fn declared(request: Request) -> Result<Bytes, ApiError> {
    read(as_json(request)?, BODY_MAX).await
}

fn as_json(request: Request) -> Result<Body, ApiError> {
    // A caller that names no type means JSON, as there is nothing else to mean.
    let media_type = request.headers().get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or(""));
    if media_type.is_some_and(|media_type| !is_json(media_type)) {
        return Err(ApiError::MediaType);
    }
    Ok(request.into_body())
}

/// No body, or an empty object (ruling 4.8).
pub(crate) struct NoBody;

/// An object without fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Empty {}

impl<S: Send + Sync> FromRequest<S> for NoBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let body = read(request.into_body(), BODY_MAX).await?;
        if !body.trim_ascii().is_empty() {
            parse::<Empty>(&body)?;
        }
        Ok(Self)
    }
}

/// A file: iCalendar text, or whatever does not say that it is something else.
pub(crate) struct File(pub Bytes);

impl<S: Send + Sync> FromRequest<S> for File {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let media_type = request.headers().get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or(""));
        let essence = media_type.map(|media_type| media_type.split(';').next().unwrap_or("").trim());
        let fits = |essence: &str| {
            ["text/calendar", "application/octet-stream"].iter().any(|known| essence.eq_ignore_ascii_case(known))
        };
        if !essence.is_none_or(fits) {
            return Err(ApiError::FileType);
        }
        // What was read at the entrance has its place already.
        let held = request.extensions().get::<AlreadyRead>().is_some();
        let body = request.into_body();
        if held { collect(body, FILE_MAX).await } else { read(body, FILE_MAX).await }.map(Self)
    }
}

fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    let mut json = serde_json::Deserializer::from_slice(body);
    let value = serde_path_to_error::deserialize(Shaped::json(&mut json)).map_err(|error| {
        let path = error.path().to_string();
        let cause = error.into_inner();
        match cause.classify() {
            // The shape is judged as the text is read: what follows may still be no JSON.
            Category::Data => match whole(body) {
                Ok(()) => field_error(&path, &cause.to_string()).into(),
                Err(why) => ApiError::NotJson(why),
            },
            Category::Syntax | Category::Eof | Category::Io => ApiError::NotJson(cause.to_string()),
        }
    })?;
    json.end().map_err(|error| ApiError::NotJson(error.to_string()))?;
    Ok(value)
}

/// Whether all of the body is JSON, whatever its shape.
fn whole(body: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
    serde_json::from_str::<IgnoredAny>(text).map(drop).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use kalends_app::Refusal;
    use kalends_wire as wire;
    use rstest::rstest;
    use serde_json::{Value, json, value::RawValue};

    use super::*;

    /// Of what something is said, and what.
    fn refusal<T: DeserializeOwned>(body: &str) -> (String, String) {
        match parse::<T>(body.as_bytes()) {
            Err(ApiError::Refused(Refusal::Invalid(errors))) => {
                let error = errors.first();
                (error.param, error.message)
            }
            Err(other) => panic!("{other:?}"),
            Ok(_) => panic!("{body} is taken"),
        }
    }

    type Refused = fn(&str) -> (String, String);

    const AGENT: Refused = refusal::<wire::CreateAgent>;
    const EVENT: Refused = refusal::<wire::CreateEvent>;
    const BATCH: Refused = refusal::<wire::CreateEventBatch>;
    const EVENT_CHANGE: Refused = refusal::<wire::UpdateEvent>;
    const PROPOSAL: Refused = refusal::<wire::CreateProposal>;
    const RESPONSE: Refused = refusal::<wire::RespondToProposal>;
    const RULES: Refused = refusal::<wire::PutAvailabilityRules>;
    const NOTHING: Refused = refusal::<Empty>;

    #[rstest]
    #[case::an_object(AGENT, r#"["Name","ai",null,null]"#, "body", "must be an object, got an array")]
    #[case::an_object_that_may_be_empty(AGENT, "[]", "body", "must be an object, got an array")]
    #[case::no_body(NOTHING, "[]", "body", "must be an object, got an array")]
    #[case::null(AGENT, "null", "body", "must be an object, got null")]
    #[case::a_text(AGENT, r#""Ada""#, "body", "must be an object, got \"Ada\"")]
    #[case::objects_in_an_array(
        PROPOSAL,
        r#"{"slots":[["2026-03-02T09:00:00Z","2026-03-02T10:00:00Z",1.0,null]]}"#,
        "slots[0]",
        "must be an object, got an array"
    )]
    #[case::objects_in_a_batch(BATCH, r#"{"events":[[]]}"#, "events[0]", "must be an object, got an array")]
    #[case::an_object_that_may_be_missing(
        RULES,
        r#"{"working_hours":{"mon":["09:00","17:00"]}}"#,
        "working_hours.mon",
        "must be an object, got an array"
    )]
    #[case::the_same_of_all(RULES, r#"{"working_hours":[null]}"#, "working_hours", "must be an object, got an array")]
    #[case::an_object_that_must_be_told(
        RULES,
        r#"{"overrides":[{"date":"2026-12-24","working_hours":["09:00","17:00"]}]}"#,
        "overrides[0].working_hours",
        "must be an object, got an array"
    )]
    #[case::a_name(
        AGENT,
        r#"{"name":"Ada","type":{"ai":null}}"#,
        "type",
        "must be one of ai, human, resource; got an object"
    )]
    #[case::an_unknown_name(AGENT, r#"{"type":"robot"}"#, "type", "must be one of ai, human, resource; got \"robot\"")]
    #[case::a_number_for_a_name(AGENT, r#"{"type":1}"#, "type", "must be one of ai, human, resource; got 1")]
    #[case::an_array_for_a_name(
        AGENT,
        r#"{"type":["ai"]}"#,
        "type",
        "must be one of ai, human, resource; got an array"
    )]
    #[case::a_string(AGENT, r#"{"name":5}"#, "name", "must be a string, got a number")]
    #[case::a_string_of_a_flag(AGENT, r#"{"name":true}"#, "name", "must be a string, got true")]
    #[case::a_string_of_null(AGENT, r#"{"name":null}"#, "name", "must be a string, got null")]
    #[case::a_whole_number(EVENT, r#"{"reminders":[5.5]}"#, "reminders[0]", "must be a whole number, got 5.5")]
    #[case::a_number_of_a_text(EVENT, r#"{"reminders":["5"]}"#, "reminders[0]", "must be a whole number, got \"5\"")]
    #[case::a_small_number(EVENT, r#"{"hold_priority":1e-9}"#, "hold_priority", "must be a whole number, got 1e-9")]
    #[case::a_large_number(
        EVENT,
        r#"{"hold_priority":9223372036854775808}"#,
        "hold_priority",
        "must be a whole number from -9223372036854775808 to 9223372036854775807, got 9223372036854775808"
    )]
    #[case::a_field_that_may_be_cleared(
        EVENT_CHANGE,
        r#"{"reminders":{}}"#,
        "reminders",
        "must be an array, got an object"
    )]
    #[case::a_flag(EVENT, r#"{"all_day":"true"}"#, "all_day", "must be true or false, got \"true\"")]
    #[case::any_number(PROPOSAL, r#"{"slots":[{"weight":"1"}]}"#, "slots[0].weight", "must be a number, got \"1\"")]
    #[case::missing(AGENT, r#"{"name":"Ada"}"#, "type", "is required")]
    #[case::twice(AGENT, r#"{"name":"Ada","name":"Eve"}"#, "name", "must be given once")]
    #[case::unknown(RESPONSE, r#"{"agnt_id":"x"}"#, "agnt_id", "is not known; did you mean agent_id?")]
    #[case::words_of_a_position(
        AGENT,
        r#"{"type":"a at line b"}"#,
        "type",
        "must be one of ai, human, resource; got \"a at line b\""
    )]
    fn what_does_not_fit_is_told_in_words_of_json(
        #[case] refused: Refused,
        #[case] body: &str,
        #[case] param: &str,
        #[case] message: &str,
    ) {
        assert_eq!(refused(body), (param.to_owned(), message.to_owned()), "{body}");
    }

    #[test]
    fn what_is_long_is_told_in_part() {
        let (_, message) = AGENT(&json!({ "type": "é".repeat(1_000) }).to_string());
        assert_eq!(message, format!("must be one of ai, human, resource; got \"{}\"…", "é".repeat(64)));
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Whole {
        small: u8,
        large: u64,
        real: f64,
        letter: char,
        pair: (i64, bool),
        maybe: Option<Option<i64>>,
        wrapped: Wrapped,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Wrapped(Vec<String>);

    #[test]
    fn everything_else_is_read_as_it_was() {
        let body = json!({ "small": 255, "large": u64::MAX, "real": 2, "letter": "é", "pair": [-0.0, true], "maybe": 20.0,
            "wrapped": ["a"] });
        let whole = Whole {
            small: 255,
            large: u64::MAX,
            real: 2.0,
            letter: 'é',
            pair: (0, true),
            maybe: Some(Some(20)),
            wrapped: Wrapped(vec!["a".to_owned()]),
        };
        assert_eq!(parse::<Whole>(body.to_string().as_bytes()).unwrap(), whole);
        let text = r#"{"b":[1, 1.50,{"c":null}],"a":"\u00e9"}"#;
        assert_eq!(parse::<Value>(text.as_bytes()).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(parse::<Box<RawValue>>(text.as_bytes()).unwrap().get(), text);
        assert_eq!(refusal::<Vec<u8>>("[256]").1, "must be a whole number from 0 to 255, got 256");
    }
}
