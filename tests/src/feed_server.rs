//! A server of iCalendar feeds on its own port. Tests set the answer of each path and can change it.

use std::{
    collections::HashMap,
    io::{self, Write as _},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode, Uri,
        header::{CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, LOCATION},
    },
    response::{IntoResponse as _, Response},
};
use flate2::{Compression, write::GzEncoder};
use futures::{StreamExt as _, stream};

/// The longest wait for an expected request on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The unpacked size of a decompression bomb, in MiB. It is far above every limit.
const BOMB_MIB: usize = 64;

/// The answer of a path.
#[derive(Debug, Clone)]
pub enum Serving {
    /// A whole body.
    Full {
        /// The body as it is sent.
        body: Bytes,
        /// The other headers. Those that validate a cache are compared with the conditions of a request.
        headers: HeaderMap,
    },
    /// A status without content.
    Status(u16),
    /// A redirect to this address, with 302.
    Redirect(String),
    /// The beginning of a calendar. Then the connection breaks.
    BreaksOff(String),
    /// A calendar without end.
    Endless,
    /// No answer at all.
    Hang,
}

impl Serving {
    /// A calendar, or a text that claims to be one.
    pub fn calendar(text: impl Into<String>) -> Self {
        Self::typed("text/calendar; charset=utf-8", Bytes::from(text.into()))
    }

    /// A web page.
    pub fn page(text: impl Into<String>) -> Self {
        Self::typed("text/html; charset=utf-8", Bytes::from(text.into()))
    }

    /// A compressed calendar.
    pub fn zipped(text: &str) -> Self {
        let body = zipped(|encoder| encoder.write_all(text.as_bytes()));
        Self::typed("text/calendar; charset=utf-8", body).with(CONTENT_ENCODING, "gzip")
    }

    /// A calendar that is small until it is decompressed.
    pub fn bomb() -> Self {
        let body = zipped(|encoder| {
            encoder.write_all(b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n")?;
            (0..BOMB_MIB).try_for_each(|_| encoder.write_all(&[b'X'; 1 << 20]))
        });
        Self::typed("text/calendar; charset=utf-8", body).with(CONTENT_ENCODING, "gzip")
    }

    /// The same body with an entity tag. A request with this tag is answered with 304.
    #[must_use]
    pub fn tagged(self, etag: &str) -> Self {
        self.with(ETAG, etag)
    }

    /// The same body with a modification date. A request with this date is answered with 304.
    #[must_use]
    pub fn dated(self, last_modified: &str) -> Self {
        self.with(LAST_MODIFIED, last_modified)
    }

    fn typed(media_type: &'static str, body: Bytes) -> Self {
        Self::Full { body, headers: HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(media_type))]) }
    }

    fn with(mut self, name: HeaderName, value: &str) -> Self {
        let Self::Full { headers, .. } = &mut self else { panic!("no body to describe: {self:?}") };
        headers.insert(name, HeaderValue::from_str(value).expect("a header's value"));
        self
    }
}

fn zipped(write: impl FnOnce(&mut GzEncoder<Vec<u8>>) -> io::Result<()>) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    write(&mut encoder).expect("memory takes it");
    encoder.finish().expect("memory takes it").into()
}

/// A request as received.
#[derive(Debug, Clone)]
pub struct FeedRequest {
    /// The requested path and query.
    pub path: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// The status of the answer, or 0 if there was none.
    pub answered: u16,
}

impl FeedRequest {
    /// A header, or an empty string if it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("a header of visible characters"))
    }
}

#[derive(Default)]
struct Desk {
    serving: HashMap<String, Serving>,
    requests: Vec<FeedRequest>,
}

/// A feed server. It ends with the test.
#[derive(Clone)]
pub struct FeedServer {
    address: String,
    desk: Arc<Mutex<Desk>>,
}

impl FeedServer {
    /// Starts a server without any feeds.
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("its address").to_string();
        let server = Self { address, desk: Arc::default() };
        let router = Router::new().fallback(serve).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        server
    }

    /// `127.0.0.1:PORT`. The service must be allowed to reach it.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn desk<T>(&self, act: impl FnOnce(&mut Desk) -> T) -> T {
        act(&mut self.desk.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sets the answer of a path from now on. It is 404 until then.
    pub fn serve(&self, path: &str, serving: Serving) {
        self.desk(|desk| desk.serving.insert(path.to_owned(), serving));
    }

    /// The requests for a path so far, oldest first.
    pub fn requests(&self, path: &str) -> Vec<FeedRequest> {
        self.desk(|desk| desk.requests.iter().filter(|request| request.path == path).cloned().collect())
    }

    /// The number of requests for a path.
    pub fn count(&self, path: &str) -> usize {
        self.requests(path).len()
    }

    /// Waits until a path was requested this many times.
    pub async fn wait_for(&self, path: &str, count: usize) {
        let began = tokio::time::Instant::now();
        while self.count(path) < count {
            assert!(began.elapsed() < PATIENCE, "{} of {count} requests for {path}", self.count(path));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Whether the client already has this answer (RFC 9110, section 13.2.2).
fn is_known(request: &HeaderMap, answer: &HeaderMap) -> bool {
    match request.get(IF_NONE_MATCH) {
        Some(tag) => answer.get(ETAG) == Some(tag),
        None => request.get(IF_MODIFIED_SINCE).is_some_and(|date| answer.get(LAST_MODIFIED) == Some(date)),
    }
}

async fn serve(State(server): State<FeedServer>, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path_and_query().map_or_else(String::new, ToString::to_string);
    let (serving, place) = server.desk(|desk| {
        desk.requests.push(FeedRequest { path: path.clone(), headers: headers.clone(), answered: 0 });
        (desk.serving.get(&path).cloned().unwrap_or(Serving::Status(404)), desk.requests.len() - 1)
    });
    let answer = match serving {
        Serving::Full { headers: known, .. } if is_known(&headers, &known) => {
            let validators = known.into_iter().filter(|(name, _)| *name != Some(CONTENT_TYPE));
            let validators = validators.filter_map(|(name, value)| Some((name?, value))).collect::<HeaderMap>();
            (StatusCode::NOT_MODIFIED, validators).into_response()
        }
        Serving::Full { body, headers } => (headers, body).into_response(),
        Serving::Status(status) => StatusCode::from_u16(status).expect("a status").into_response(),
        Serving::Redirect(to) => (StatusCode::FOUND, [(LOCATION, to)]).into_response(),
        Serving::BreaksOff(text) => {
            let broken = stream::iter([Ok(Bytes::from(text)), Err(io::Error::other("the line is cut"))]);
            Body::from_stream(broken).into_response()
        }
        Serving::Endless => {
            let begin = stream::iter([Ok::<_, io::Error>(Bytes::from_static(b"BEGIN:VCALENDAR\r\n"))]);
            let lines = stream::repeat_with(|| Ok(Bytes::from_static(&[b'X'; 1 << 16])));
            Body::from_stream(begin.chain(lines)).into_response()
        }
        Serving::Hang => std::future::pending().await,
    };
    server.desk(|desk| desk.requests[place].answered = answer.status().as_u16());
    answer
}
