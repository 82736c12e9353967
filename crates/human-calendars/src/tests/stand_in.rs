//! A server with scripted answers, which records its requests.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use url::{Url, form_urlencoded};

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    pub(crate) method: String,
    /// The path and the query, as sent.
    pub(crate) target: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl ReceivedRequest {
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap()
    }

    /// The query, decoded.
    pub(crate) fn query(&self) -> Vec<(String, String)> {
        let url = Url::parse("http://x/").unwrap().join(&self.target).unwrap();
        url.query_pairs().into_owned().collect()
    }

    /// The content, as a form.
    pub(crate) fn form(&self) -> Vec<(String, String)> {
        assert_eq!(self.headers["content-type"], "application/x-www-form-urlencoded");
        form_urlencoded::parse(self.body.as_bytes()).into_owned().collect()
    }

    /// The content, as JSON.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.headers["content-type"], "application/json");
        serde_json::from_str(&self.body).unwrap()
    }
}

/// An answer and a delay. The server itself advances the clock by that delay.
pub(crate) struct StubAnswer {
    /// A status and a body, or no answer at all.
    answer: Option<(u16, String)>,
    after: Duration,
    /// More lines of the head.
    headers: String,
    /// Whether the connection ends before the answer.
    cut: bool,
}

impl StubAnswer {
    pub(crate) fn after(mut self, time: Duration) -> Self {
        self.after = time;
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push_str(&format!("{name}: {value}\r\n"));
        self
    }
}

pub(crate) fn ok(body: impl ToString) -> StubAnswer {
    reply(200, body)
}

#[expect(clippy::needless_pass_by_value, reason = "the argument is made for this call")]
pub(crate) fn reply(status: u16, body: impl ToString) -> StubAnswer {
    StubAnswer { answer: Some((status, body.to_string())), after: Duration::ZERO, headers: String::new(), cut: false }
}

/// Never answers.
pub(crate) fn nothing() -> StubAnswer {
    StubAnswer { answer: None, after: Duration::ZERO, headers: String::new(), cut: false }
}

/// Ends the connection before the answer.
pub(crate) fn cut() -> StubAnswer {
    StubAnswer { cut: true, ..nothing() }
}

/// The server. It lives as long as the test's runtime.
pub(crate) struct StandIn {
    port: u16,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl StandIn {
    /// A server that answers each request with the result of `answer`.
    pub(crate) async fn start(answer: impl Fn(&ReceivedRequest) -> StubAnswer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (requests, answer) = (Arc::<Mutex<Vec<ReceivedRequest>>>::default(), Arc::new(answer));
        let log = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                tokio::spawn(async move {
                    while let Some(request) = arrival(&mut stream).await {
                        let answer_now = answer(&request);
                        log.lock().unwrap().push(request);
                        if answer_now.cut {
                            break;
                        }
                        send(&mut stream, &answer_now).await;
                    }
                });
            }
        });
        Self { port, requests }
    }

    /// A server that gives these answers, in order.
    pub(crate) async fn with_answers(answers: Vec<StubAnswer>) -> Self {
        let answers = Mutex::new(answers.into_iter());
        Self::start(move |request| {
            let next = answers.lock().unwrap().next();
            next.unwrap_or_else(|| panic!("one request too many: {request:?}"))
        })
        .await
    }

    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// The only request.
    pub(crate) fn only_request(&self) -> ReceivedRequest {
        let mut requests = self.requests();
        assert_eq!(requests.len(), 1, "{requests:?}");
        requests.remove(0)
    }
}

async fn send(stream: &mut TcpStream, answer: &StubAnswer) {
    if !answer.after.is_zero() {
        tokio::time::advance(answer.after).await;
    }
    let Some((status, body)) = &answer.answer else { return std::future::pending().await };
    let head = format!(
        "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\n{}content-length: {}\r\n\r\n",
        answer.headers,
        body.len()
    );
    // The client may have given up.
    let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
}

/// Reads one request, or returns `None` if the connection ends.
async fn arrival(stream: &mut TcpStream) -> Option<ReceivedRequest> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let text = String::from_utf8(head).unwrap();
    let mut lines = text.split("\r\n");
    let mut line = lines.next()?.split(' ');
    let (method, target) = (line.next()?.to_owned(), line.next()?.to_owned());
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let mut body = vec![0; headers.get("content-length").map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).await.ok()?;
    Some(ReceivedRequest { method, target, headers, body: String::from_utf8(body).unwrap() })
}

/// Stops the clock as long as the result lives. Only [`tokio::time::advance`] moves it.
pub(crate) fn stand_still() -> mpsc::Sender<()> {
    tokio::time::pause();
    let (hold, held) = mpsc::channel();
    // While a blocking thread is busy, the runtime does not skip to the next timer.
    tokio::task::spawn_blocking(move || held.recv());
    hold
}
