//! Request bodies: JSON, files, or none.

use std::{error::Error, iter::successors};

use axum::{
    body::{Body, HttpBody as _},
    extract::{FromRequest, Request},
};
use bytes::Bytes;
use http::{Extensions, header};
use http_body_util::BodyExt as _;
use kalends_app::operations::{self, Operation};
use kalends_kernel::OrgId;
use serde::{
    Deserialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::error::Category;

use super::{
    bounds::Bounds,
    places::{OF_PROCESS, Place, Places},
    shape::Shaped,
    unknown::field_error,
};
use crate::{
    budget::{BODIES, Budget, Room, SMALL},
    error::ApiError,
    incoming::Late,
    limits::{BODY_MAX, FILE_MAX},
};

/// Marks a request whose body is already in memory. Either it was read at the entrance, like any body with an
/// `Idempotency-Key`, or it came with a tool call. A large body already has its place.
#[derive(Clone, Copy)]
pub(crate) struct AlreadyRead;

/// A body that keeps its place among the large bodies, and the memory that its organization holds for it.
pub(super) struct Held<T> {
    body: T,
    _place: Option<Place>,
    _room: Option<Room>,
}

impl<T> Held<T> {
    pub(super) const fn new(body: T, place: Option<Place>, room: Option<Room>) -> Self {
        Self { body, _place: place, _room: room }
    }
}

impl<T: AsRef<[u8]>> AsRef<[u8]> for Held<T> {
    fn as_ref(&self) -> &[u8] {
        self.body.as_ref()
    }
}

/// The maximum size of the body of an operation's request, in bytes.
pub(crate) fn max_of(operation: &Operation) -> usize {
    if operation.id == operations::IMPORT_CALENDAR.id { FILE_MAX } else { BODY_MAX }
}

/// A JSON body. A body that is not JSON is an `invalid_request`. If JSON has the wrong shape, the error names the
/// field.
pub(crate) struct JsonBody<T>(pub T);

/// Reads the whole body, at most [`BODY_MAX`] bytes, of a request without a credential.
///
/// # Errors
/// [`ApiError::TooLarge`], [`ApiError::BodyLate`] or, if the connection broke, [`ApiError::BodyLost`].
pub(crate) async fn read(body: Body) -> Result<Bytes, ApiError> {
    read_up_to(body, BODY_MAX).await
}

/// [`read`], for a body of at most `max` bytes.
///
/// # Errors
/// As [`read`].
pub(crate) async fn read_up_to(body: Body, max: usize) -> Result<Bytes, ApiError> {
    Ok(Reader::new(max, None).read(body).await?.whole())
}

/// The organization that sends a body. The entrance attaches it to requests.
#[derive(Clone, Copy)]
pub(crate) struct Sender(pub OrgId);

/// Reads the whole body of an operation's request, and returns the request with that body. A body of more than
/// [`BODY_MAX`] bytes keeps a place for as long as it exists. The place is counted for its [`Sender`].
///
/// # Errors
/// The errors of [`read`] and [`ApiError::BodiesUnderWay`]. For a large body, also [`ApiError::Uploading`] and
/// [`ApiError::NoPlace`].
pub(crate) async fn read_whole(request: Request, max: usize) -> Result<(Request, Bytes), ApiError> {
    let (mut parts, body) = request.into_parts();
    let bytes = read_sent(&parts.extensions, body, max).await?;
    parts.extensions.insert(AlreadyRead);
    Ok((Request::from_parts(parts, Body::from(bytes.clone())), bytes))
}

/// Reads the whole body of the request with these extensions.
async fn read_sent(extensions: &Extensions, body: Body, max: usize) -> Result<Bytes, ApiError> {
    let reader = Reader::new(max, extensions.get::<Sender>().map(|sender| sender.0));
    let reader = if extensions.get::<AlreadyRead>().is_some() { reader.of_memory() } else { reader };
    reader.read(body).await.map(Received::whole)
}

/// The settings for reading a body.
pub(super) struct Reader {
    /// The maximum size, in bytes.
    max: usize,
    /// The organization that holds the body's place and memory. Without an organization, large bodies are not accepted.
    org: Option<OrgId>,
    /// The places for large bodies, and the memory for all bodies that are not small. `None` if the body is already in
    /// memory.
    places: Option<(&'static Places, &'static Budget)>,
    /// The limits on the JSON.
    bounds: Option<Bounds>,
}

/// A body that was read.
pub(super) struct Received {
    pub(super) body: Bytes,
    /// The place, if the body is large.
    pub(super) place: Option<Place>,
    /// The memory, unless the body is small.
    pub(super) room: Option<Room>,
}

impl Received {
    /// The body, which keeps its place and its memory.
    pub(super) fn whole(self) -> Bytes {
        let Self { body, place, room } = self;
        if place.is_none() && room.is_none() { body } else { Bytes::from_owner(Held::new(body, place, room)) }
    }
}

impl Reader {
    pub(super) fn new(max: usize, org: Option<OrgId>) -> Self {
        let max = if org.is_some() { max } else { max.min(BODY_MAX) };
        Self { max, org, places: Some((&OF_PROCESS, &BODIES)), bounds: None }
    }

    /// For a body that is already in memory, which takes neither a place nor more memory.
    const fn of_memory(self) -> Self {
        Self { places: None, ..self }
    }

    /// Rejects JSON as soon as the part that has arrived exceeds the limits.
    pub(super) const fn of_json(self) -> Self {
        Self { bounds: Some(Bounds::new()), ..self }
    }

    /// Reads the whole body. The organization takes its turn when the declared or received length shows that the body
    /// is large. It takes the place only after more than [`BODY_MAX`] bytes have arrived, so that a slow body holds
    /// none.
    pub(super) async fn read(mut self, mut body: Body) -> Result<Received, ApiError> {
        let declared = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        if declared > self.max {
            return Err(ApiError::TooLarge(self.max));
        }
        let places = self.places.zip(self.org);
        let turn = |length| match places {
            Some(((places, _), org)) if length > BODY_MAX => places.turn(org).map(Some),
            _ => Ok(None),
        };
        let (mut turned, mut place, mut room) = (turn(declared)?, None, None);
        let mut text = Text::Nothing;
        while let Some(frame) = body.frame().await {
            let Ok(piece) = frame.map_err(|error| broken(&error))?.into_data() else { continue };
            let length = text.len() + piece.len();
            if length > self.max {
                return Err(ApiError::TooLarge(self.max));
            }
            if let Some(bounds) = &mut self.bounds {
                bounds.add(&piece)?;
            }
            if let Some(((_, budget), org)) = places
                && length > SMALL
                && room.is_none()
            {
                let bytes = if declared > 0 { declared.max(length) } else { BODY_MAX };
                let reserved = budget.reserve(org, bytes.min(BODY_MAX)).await;
                room = Some(reserved.ok_or(ApiError::BodiesUnderWay)?);
            }
            if length > BODY_MAX && place.is_none() {
                let turn = if turned.is_some() { turned.take() } else { turn(length)? };
                if let Some(turn) = turn {
                    place = Some(turn.place().await?);
                }
            }
            text.add(piece, declared);
        }
        Ok(Received { body: text.whole(), place, room })
    }
}

/// Why a body could not be read completely.
fn broken(error: &axum::Error) -> ApiError {
    // Each layer around a body wraps its errors once more.
    let late = successors(error.source(), |&cause| cause.source()).any(|cause| cause.is::<Late>());
    if late { ApiError::BodyLate } else { ApiError::BodyLost }
}

/// The part that has arrived. Most bodies are a single piece, which is not copied.
enum Text {
    Nothing,
    Piece(Bytes),
    Pieces(Vec<u8>),
}

impl Text {
    const fn len(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Piece(piece) => piece.len(),
            Self::Pieces(text) => text.len(),
        }
    }

    /// Adds a piece of a body with that declared length. The declared length is reserved only after a large part has
    /// arrived.
    fn add(&mut self, piece: Bytes, declared: usize) {
        let length = self.len() + piece.len();
        match self {
            Self::Nothing => *self = Self::Piece(piece),
            Self::Piece(first) => {
                let mut text = Vec::with_capacity(length);
                text.extend_from_slice(first);
                text.extend_from_slice(&piece);
                *self = Self::Pieces(text);
            }
            Self::Pieces(text) => {
                if length > BODY_MAX {
                    text.reserve_exact(declared.saturating_sub(text.len()));
                }
                text.extend_from_slice(&piece);
            }
        }
    }

    fn whole(self) -> Bytes {
        match self {
            Self::Nothing => Bytes::new(),
            Self::Piece(piece) => piece,
            Self::Pieces(text) => text.into(),
        }
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let (parts, body) = as_json(request)?.into_parts();
        parse(&read_sent(&parts.extensions, body, BODY_MAX).await?).map(Self)
    }
}

pub(super) fn as_json(request: Request) -> Result<Request, ApiError> {
    // JSON is the only type that routes accept, so a missing content type means JSON.
    let media_type = request.headers().get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or(""));
    if media_type.is_some_and(|media_type| !is_json(media_type)) {
        return Err(ApiError::MediaType);
    }
    Ok(request)
}

/// A JSON body that may be left out if all of its fields may.
pub(crate) struct OptionalBody<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for OptionalBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let (parts, body) = as_json(request)?.into_parts();
        let body = read_sent(&parts.extensions, body, BODY_MAX).await?;
        if body.trim_ascii().is_empty() { Ok(Self(T::default())) } else { parse(&body).map(Self) }
    }
}

/// No body, or an empty object.
pub(crate) struct NoBody;

/// An object without fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Empty {}

impl<S: Send + Sync> FromRequest<S> for NoBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let body = read_sent(&parts.extensions, body, BODY_MAX).await?;
        if !body.trim_ascii().is_empty() {
            parse::<Empty>(&body)?;
        }
        Ok(Self)
    }
}

/// A file: iCalendar text. The content type may be missing or unspecific.
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
        let (parts, body) = request.into_parts();
        read_sent(&parts.extensions, body, FILE_MAX).await.map(Self)
    }
}

fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    Bounds::check(body)?;
    let mut json = serde_json::Deserializer::from_slice(body);
    let value = serde_path_to_error::deserialize(Shaped::json(&mut json)).map_err(|error| {
        let path = error.path().to_string();
        let cause = error.into_inner();
        match cause.classify() {
            // The shape is checked while the text is parsed, so the rest may still not be JSON.
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

/// Checks that the whole body is JSON of any shape.
pub(super) fn whole(body: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
    serde_json::from_str::<IgnoredAny>(text).map(drop).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::{
        pin::Pin,
        task::{Context, Poll},
    };

    use futures::{StreamExt as _, stream};
    use kalends_app::Refusal;
    use kalends_testkit::fixtures::Fixtures;
    use kalends_wire as wire;
    use rstest::rstest;
    use serde_json::{Value, json, value::RawValue};

    use super::*;
    use crate::limits::BODIES_MAX;

    /// The parameter and the message of the error for this body.
    fn refusal<T: DeserializeOwned>(body: &str) -> (String, String) {
        match parse::<T>(body.as_bytes()) {
            Err(ApiError::Refused(Refusal::Invalid(errors))) => {
                let error = errors.first();
                (error.param, error.message)
            }
            Err(other) => panic!("{other:?}"),
            Ok(_) => panic!("{body} is accepted"),
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
    #[case::object(AGENT, r#"["Name","ai",null,null]"#, "body", "must be an object, got an array")]
    #[case::empty_array_for_an_object(AGENT, "[]", "body", "must be an object, got an array")]
    #[case::no_body(NOTHING, "[]", "body", "must be an object, got an array")]
    #[case::null(AGENT, "null", "body", "must be an object, got null")]
    #[case::text(AGENT, r#""Ada""#, "body", "must be an object, got \"Ada\"")]
    #[case::object_in_an_array(
        PROPOSAL,
        r#"{"slots":[["2026-03-02T09:00:00Z","2026-03-02T10:00:00Z",1.0,null]]}"#,
        "slots[0]",
        "must be an object, got an array"
    )]
    #[case::object_in_a_batch(BATCH, r#"{"events":[[]]}"#, "events[0]", "must be an object, got an array")]
    #[case::optional_object(
        RULES,
        r#"{"working_hours":{"mon":["09:00","17:00"]}}"#,
        "working_hours.mon",
        "must be an object, got an array"
    )]
    #[case::map_of_objects(RULES, r#"{"working_hours":[null]}"#, "working_hours", "must be an object, got an array")]
    #[case::required_nullable_object(
        RULES,
        r#"{"overrides":[{"date":"2026-12-24","working_hours":["09:00","17:00"]}]}"#,
        "overrides[0].working_hours",
        "must be an object, got an array"
    )]
    #[case::name(
        AGENT,
        r#"{"name":"Ada","type":{"ai":null}}"#,
        "type",
        "must be one of ai, human, resource; got an object"
    )]
    #[case::unknown_name(AGENT, r#"{"type":"robot"}"#, "type", "must be one of ai, human, resource; got \"robot\"")]
    #[case::number_for_a_name(AGENT, r#"{"type":1}"#, "type", "must be one of ai, human, resource; got 1")]
    #[case::array_for_a_name(AGENT, r#"{"type":["ai"]}"#, "type", "must be one of ai, human, resource; got an array")]
    #[case::number_for_a_string(AGENT, r#"{"name":5}"#, "name", "must be a string, got a number")]
    #[case::flag_for_a_string(AGENT, r#"{"name":true}"#, "name", "must be a string, got true")]
    #[case::null_for_a_string(AGENT, r#"{"name":null}"#, "name", "must be a string, got null")]
    #[case::fraction(EVENT, r#"{"reminders":[5.5]}"#, "reminders[0]", "must be a whole number, got 5.5")]
    #[case::text_for_number(EVENT, r#"{"reminders":["5"]}"#, "reminders[0]", "must be a whole number, got \"5\"")]
    #[case::tiny_fraction(EVENT, r#"{"hold_priority":1e-9}"#, "hold_priority", "must be a whole number, got 1e-9")]
    #[case::too_large_number(
        EVENT,
        r#"{"hold_priority":9223372036854775808}"#,
        "hold_priority",
        "must be a whole number from -9223372036854775808 to 9223372036854775807, got 9223372036854775808"
    )]
    #[case::clearable_field(EVENT_CHANGE, r#"{"reminders":{}}"#, "reminders", "must be an array, got an object")]
    #[case::text_for_a_flag(EVENT, r#"{"all_day":"true"}"#, "all_day", "must be true or false, got \"true\"")]
    #[case::text_for_weight(
        PROPOSAL,
        r#"{"slots":[{"weight":"1"}]}"#,
        "slots[0].weight",
        "must be a number, got \"1\""
    )]
    #[case::missing(AGENT, r#"{"name":"Ada"}"#, "type", "is required")]
    #[case::repeated(AGENT, r#"{"name":"Ada","name":"Eve"}"#, "name", "must be given once")]
    #[case::unknown(RESPONSE, r#"{"agnt_id":"x"}"#, "agnt_id", "is not known; did you mean agent_id?")]
    #[case::value_that_looks_like_a_position(
        AGENT,
        r#"{"type":"a at line b"}"#,
        "type",
        "must be one of ai, human, resource; got \"a at line b\""
    )]
    fn errors_of_shape_use_the_terms_of_json(
        #[case] refused: Refused,
        #[case] body: &str,
        #[case] param: &str,
        #[case] message: &str,
    ) {
        assert_eq!(refused(body), (param.to_owned(), message.to_owned()), "{body}");
    }

    #[test]
    fn long_values_are_truncated() {
        let (_, message) = AGENT(&json!({ "type": "é".repeat(1_000) }).to_string());
        assert_eq!(message, format!("must be one of ai, human, resource; got \"{}\"…", "é".repeat(64)));
    }

    const LARGE: usize = BODY_MAX + 1;

    fn places(count: usize) -> &'static Places {
        Box::leak(Box::new(Places::new(count)))
    }

    fn org() -> OrgId {
        Fixtures::new().organization().id
    }

    fn reader(places: &'static Places, org: OrgId) -> Reader {
        Reader { places: Some((places, &BODIES)), ..Reader::new(FILE_MAX, Some(org)) }
    }

    /// A body without a declared length.
    fn undeclared(pieces: usize) -> Body {
        let piece = Bytes::from(vec![b' '; BODY_MAX]);
        Body::from_stream(stream::iter(vec![piece; pieces]).map(Ok::<_, axum::Error>))
    }

    /// A body that declares this many bytes and sends none.
    struct Declared(usize);

    impl axum::body::HttpBody for Declared {
        type Data = Bytes;
        type Error = axum::Error;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<http_body::Frame<Bytes>, axum::Error>>> {
            Poll::Pending
        }

        fn size_hint(&self) -> http_body::SizeHint {
            http_body::SizeHint::with_exact(self.0 as u64)
        }
    }

    #[tokio::test]
    async fn an_organization_sends_one_large_body_at_a_time() {
        let (places, org) = (places(2), org());
        let held = reader(places, org).read(Body::from(vec![b' '; LARGE])).await.unwrap().whole();
        assert_eq!(held.len(), LARGE);
        for another in [Body::new(Declared(LARGE)), undeclared(2)] {
            assert!(matches!(reader(places, org).read(another).await, Err(ApiError::Uploading)));
        }
        assert!(reader(places, org).read(undeclared(1)).await.is_ok(), "a small body needs no place");
        drop(held);
        assert!(reader(places, org).read(undeclared(2)).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_holds_no_place() {
        let (places, make) = (places(1), Fixtures::new());
        let (one, other) = (make.organization().id, make.organization().id);
        let dripping = tokio::spawn(reader(places, one).read(Body::new(Declared(LARGE))));
        tokio::task::yield_now().await;
        assert!(matches!(places.turn(one), Err(ApiError::Uploading)), "it has its turn");
        let held = reader(places, other).read(undeclared(2)).await.unwrap();
        let third = reader(places, make.organization().id).read(undeclared(2)).await;
        assert!(matches!(third, Err(ApiError::NoPlace)));
        drop(held);
        dripping.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn the_bodies_of_an_organization_share_a_limit() {
        let (make, places) = (Fixtures::new(), places(1));
        let (one, other) = (make.organization().id, make.organization().id);
        let mut held = Vec::new();
        for _ in 0..BODIES_MAX / BODY_MAX {
            held.push(reader(places, one).read(undeclared(1)).await.unwrap().whole());
        }
        let beyond = reader(places, one).read(undeclared(1)).await;
        assert!(matches!(beyond, Err(ApiError::BodiesUnderWay)));
        assert!(reader(places, one).read(Body::from(vec![b' '; SMALL])).await.is_ok(), "a small body is not counted");
        assert!(reader(places, one).of_memory().read(undeclared(1)).await.is_ok(), "nor is one that was read before");
        assert!(reader(places, other).read(undeclared(1)).await.is_ok());
        held.pop();
        assert!(reader(places, one).read(undeclared(1)).await.is_ok());
    }

    #[tokio::test]
    async fn a_body_that_declares_too_much_is_not_read() {
        let read = reader(places(1), org()).read(Body::new(Declared(FILE_MAX + 1))).await;
        assert!(matches!(read, Err(ApiError::TooLarge(FILE_MAX))));
        let read = Reader::new(FILE_MAX, None).read(Body::new(Declared(LARGE))).await;
        assert!(matches!(read, Err(ApiError::TooLarge(BODY_MAX))), "large bodies require an organization");
    }

    #[tokio::test]
    async fn pieces_are_joined() {
        let pieces = ["{\"a\":", "[1,", "2]", "}"].map(|piece| Ok::<_, axum::Error>(Bytes::from(piece)));
        let read = reader(places(1), org()).read(Body::from_stream(stream::iter(pieces))).await.unwrap();
        assert_eq!((&read.body[..], read.place.is_some()), (&b"{\"a\":[1,2]}"[..], false));
        let whole = Bytes::from_static(b"as it is");
        let read = reader(places(1), org()).read(Body::from(whole.clone())).await.unwrap();
        assert_eq!(read.body.as_ptr(), whole.as_ptr(), "one piece is not copied");
    }

    #[tokio::test]
    async fn json_beyond_its_limits_is_rejected_early() {
        let endless = stream::repeat_with(|| Ok::<_, axum::Error>(Bytes::from_static(b"[")));
        let read = reader(places(1), org()).of_json().read(Body::from_stream(endless)).await;
        assert!(matches!(read, Err(ApiError::TooDeep)));
        let endless = stream::repeat_with(|| Ok::<_, axum::Error>(Bytes::from_static(b"{},")));
        let read = reader(places(1), org()).of_json().read(Body::from_stream(endless)).await;
        assert!(matches!(read, Err(ApiError::TooManyValues)));
    }

    #[test]
    fn the_docs_state_the_limits() {
        use kalends_kernel::PAGE_BYTES_MAX;

        use crate::limits::{BYTES_A_SECOND, CALL_MAX, DEPTH_MAX, FREE, PLACES, VALUES_MAX, WITHIN};

        let requests = include_str!("../../../../docs/use/requests.md");
        let tools = include_str!("../../../../docs/use/tools.md");
        let thousands = format!("{},{:03}", VALUES_MAX / 1_000, VALUES_MAX % 1_000);
        for (document, words) in [
            (requests, format!("{} MiB; a file that is imported {} MiB", BODY_MAX >> 20, FILE_MAX >> 20)),
            (
                requests,
                format!("{} KB a second or more after the first {} seconds", BYTES_A_SECOND / 1_000, FREE.as_secs()),
            ),
            (requests, format!("{} seconds in all", WITHIN.as_secs())),
            (requests, format!("at most {DEPTH_MAX} arrays and objects")),
            (requests, format!("{thousands} values")),
            (requests, format!("The service holds {PLACES} of them")),
            (requests, format!("more than {} KiB | {} MiB for each organization", SMALL >> 10, BODIES_MAX >> 20)),
            (requests, format!("may hold {} MiB of answers for each core", PAGE_BYTES_MAX >> 20)),
            (tools, format!("\n{} MiB, which holds the largest file", CALL_MAX >> 20)),
        ] {
            assert!(document.contains(&words), "{words}");
        }
    }

    #[test]
    fn the_limits_apply_to_every_body() {
        let deep = format!("{}1{}", "[".repeat(65), "]".repeat(65));
        let metadata = |value: &str| format!(r#"{{"name":"Ada","type":"ai","metadata":{{"a":{value}}}}}"#);
        assert!(matches!(parse::<wire::CreateAgent>(metadata(&deep).as_bytes()), Err(ApiError::TooDeep)));
        let many = json!(vec![0; 50_000]).to_string();
        assert!(matches!(parse::<wire::CreateAgent>(metadata(&many).as_bytes()), Err(ApiError::TooManyValues)));
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
    fn other_values_are_parsed_as_usual() {
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
