//! A server that plays a script and records the requests that it receives.

use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// A received request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReceivedRequest {
    /// The method and the target.
    pub(super) line: String,
    /// Names in lower case, in the order received.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl ReceivedRequest {
    /// The value of a header, or an empty string if it is absent.
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

/// How the server handles a request.
#[derive(Debug, Clone)]
pub(super) enum Does {
    /// Answers with this head, after `HTTP/1.1 `, and this body.
    Answers(&'static str, String),
    /// Closes the connection without an answer.
    HangsUp,
    /// Answers with a truncated body.
    BreaksOff,
    /// Answers with an endless body.
    GoesOn,
}

pub(super) struct Stub {
    pub(super) url: String,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Stub {
    /// Plays the script in order and then repeats its last step.
    pub(super) async fn that(script: Vec<Does>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let known = Arc::clone(&requests);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                serve(stream, &script, &known).await;
            }
        });
        Self { url, requests }
    }

    pub(super) fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }
}

/// Serves one request per connection.
async fn serve(mut stream: TcpStream, script: &[Does], requests: &Mutex<Vec<ReceivedRequest>>) {
    let Some(request) = read(&mut stream).await else { return };
    let number = {
        let mut requests = requests.lock().unwrap();
        requests.push(request);
        requests.len()
    };
    let (head, body, length) = match &script[(number - 1).min(script.len() - 1)] {
        Does::HangsUp => return,
        Does::Answers(head, body) => (*head, body.clone(), body.len()),
        Does::BreaksOff => ("200 OK\r\ncontent-type: application/json", "{".to_owned(), 100),
        Does::GoesOn => ("200 OK\r\ncontent-type: text/calendar", " ".repeat(1 << 20), usize::MAX / 2),
    };
    let head = format!("HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
    let _ = stream.write_all(head.as_bytes()).await;
    while stream.write_all(body.as_bytes()).await.is_ok() && length > usize::MAX / 4 {}
}

async fn read(stream: &mut TcpStream) -> Option<ReceivedRequest> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        (stream.read_buf(&mut bytes).await.ok()? > 0).then_some(())?;
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let line = lines.next()?.trim_end_matches(" HTTP/1.1").to_owned();
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
    let mut request = ReceivedRequest { line, headers, body: String::new() };
    let length: usize = request.header("content-length").parse().unwrap_or(0);
    while bytes.len() < end + 4 + length {
        (stream.read_buf(&mut bytes).await.ok()? > 0).then_some(())?;
    }
    request.body = String::from_utf8(bytes[end + 4..].to_vec()).unwrap();
    Some(request)
}
