//! HTTP/1.1 by hand: a client that sends any bytes, where a proper client would refuse or correct them.

use std::{net::SocketAddr, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// Longer than any request here takes, and shorter than the server's own deadline.
const PATIENCE: Duration = Duration::from_secs(20);
/// An error message must be shorter than this many characters.
const MESSAGE_MAX: usize = 2_000;

/// An answer, with its headers and body.
#[derive(Debug)]
pub(crate) struct RawAnswer {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// A connection that stays open between requests and can send them in pieces.
pub(crate) struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: &str) -> Self {
        Self { stream: TcpStream::connect(address).await.expect("a connection"), read: Vec::new() }
    }

    /// Sends these bytes. A failure is ignored, because the answer shows whether the server still reads.
    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.stream.write_all(bytes.as_ref()).await;
    }

    /// Reads the next answer, which may have a 1xx status. Returns `None` if the server closes the connection first.
    pub(crate) async fn answer(&mut self) -> Option<RawAnswer> {
        let answer = timeout(PATIENCE, async {
            let end = loop {
                match self.read.windows(4).position(|window| window == b"\r\n\r\n") {
                    Some(end) => break end,
                    None => self.more().await?,
                }
            };
            let (status, headers) = head(&self.read[..end])?;
            self.read.drain(..end + 4);
            let mut answer = RawAnswer { status, headers, body: Vec::new() };
            let length = answer.header("content-length").parse().unwrap_or(0);
            while self.read.len() < length {
                self.more().await?;
            }
            answer.body = self.read.drain(..length).collect();
            Some(answer)
        });
        answer.await.expect("an answer, or the end of the connection, in time")
    }

    async fn more(&mut self) -> Option<()> {
        let mut buffer = [0; 4096];
        // A reset ends the reading in the same way as a close.
        let length = self.stream.read(&mut buffer).await.ok().filter(|length| *length > 0)?;
        self.read.extend_from_slice(&buffer[..length]);
        Some(())
    }
}

/// The status and headers of an answer.
fn head(bytes: &[u8]) -> Option<(u16, Vec<(String, String)>)> {
    let head = String::from_utf8_lossy(bytes).into_owned();
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    Some((status, headers))
}

/// Sends `request` on a new connection and reads until the server closes it. Returns `None` if there is no answer.
pub(crate) async fn send(address: SocketAddr, request: &[u8]) -> Option<RawAnswer> {
    let bytes = timeout(PATIENCE, exchange(address, request)).await.expect("an answer in time");
    RawAnswer::parse(&bytes)
}

/// Sends a plain request with a key and an optional JSON body.
pub(crate) async fn call(address: SocketAddr, key: &str, method: &str, path: &str, body: Option<&Value>) -> RawAnswer {
    let body = body.map(Value::to_string).unwrap_or_default();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {key}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    send(address, request.as_bytes()).await.expect("an answer")
}

async fn exchange(address: SocketAddr, request: &[u8]) -> Vec<u8> {
    let (mut reader, mut writer) = TcpStream::connect(address).await.expect("a connection").into_split();
    let mut answer = Vec::new();
    // Write and read concurrently. A server that refuses early does not read to the end, and its answer is in our
    // buffer when the connection breaks.
    let (_, _) = tokio::join!(writer.write_all(request), reader.read_to_end(&mut answer));
    answer
}

impl RawAnswer {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        loop {
            let end = rest.windows(4).position(|window| window == b"\r\n\r\n")?;
            let (status, headers) = head(&rest[..end])?;
            rest = &rest[end + 4..];
            // "100 Continue" precedes the answer itself.
            if status >= 200 {
                return Some(Self { status, headers, body: rest.to_vec() });
            }
        }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The fault of an answer, if it has one. It must not be a server failure, and an error must use the envelope or
    /// be a page.
    pub(crate) fn fault(&self) -> Option<String> {
        let fault = |what: &str| {
            Some(format!("{what}: {} {:?} {}", self.status, self.headers, String::from_utf8_lossy(&self.body)))
        };
        if self.status >= 500 {
            return fault("a failure of the server");
        }
        let id = self.header("x-request-id");
        if !id.starts_with("req_") {
            return fault("no request id");
        }
        if self.status < 400 {
            return None;
        }
        // Errors in a form are shown to a person, on a page whose policy allows no foreign code.
        if self.header("content-type") == "text/html; charset=utf-8" {
            let guarded = self.header("content-security-policy").starts_with("default-src 'none'");
            return if guarded { None } else { fault("a page without a policy") };
        }
        let body = self.json();
        let error = &body["error"];
        let message = error["message"].as_str().unwrap_or_default();
        if self.header("content-type") != "application/json" || body.as_object().is_none_or(|body| body.len() != 1) {
            return fault("no envelope");
        }
        if error["type"].as_str().is_none_or(str::is_empty) || error["request_id"] != id {
            return fault("an envelope without type, or of another request");
        }
        if message.is_empty() || message.chars().count() >= MESSAGE_MAX {
            return fault("an empty or endless message");
        }
        None
    }
}
