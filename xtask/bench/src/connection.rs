//! A keep-alive connection with just enough HTTP/1.1 to cost little compared with the server.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

/// How long to wait for an answer outside of measurements.
const PATIENCE: Duration = Duration::from_secs(60);
/// The size of a read.
const CHUNK: usize = 1 << 16;

/// A connection to a server on this machine.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// The position in the buffer of the first unread byte.
    taken: usize,
}

/// A complete answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Whether it is the stored answer to an earlier request with the same `Idempotency-Key`.
    pub(crate) replayed: bool,
    pub(crate) body: Vec<u8>,
}

/// The status line and the headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Head {
    status: u16,
    replayed: bool,
    length: Length,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    Known(usize),
    Chunked,
}

/// The destination of a body.
enum Sink<'a> {
    Count(&'a mut usize),
    Keep(&'a mut Vec<u8>),
}

impl Sink<'_> {
    fn take(&mut self, bytes: &[u8]) {
        match self {
            Sink::Count(count) => **count += bytes.len(),
            Sink::Keep(kept) => kept.extend_from_slice(bytes),
        }
    }
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(2 * CHUNK), taken: 0 })
    }

    /// Opens a connection from another address of this machine.
    pub(crate) async fn open_from(own: IpAddr, address: SocketAddr) -> Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::new(own, 0))?;
        let stream = socket.connect(address).await.with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(2 * CHUNK), taken: 0 })
    }

    /// Sends a request and reads its answer without keeping it. Returns the status and the length of the body.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> Result<(u16, usize)> {
        self.stream.write_all(request).await?;
        let head = self.head().await?;
        let mut length = 0;
        self.body(head, &mut Sink::Count(&mut length)).await?;
        Ok((head.status, length))
    }

    /// Sends a request and returns its answer, with a time limit.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> Result<Answer> {
        let answered = async {
            self.stream.write_all(request).await?;
            let head = self.head().await?;
            let mut body = Vec::new();
            self.body(head, &mut Sink::Keep(&mut body)).await?;
            Ok(Answer { status: head.status, replayed: head.replayed, body })
        };
        tokio::time::timeout(PATIENCE, answered).await.context("the server did not answer for a minute")?
    }

    async fn head(&mut self) -> Result<Head> {
        loop {
            let waiting = self.waiting();
            if let Some(end) = end_of_head(waiting) {
                let head = Head::parse(&waiting[..end])?;
                self.taken += end;
                return Ok(head);
            }
            self.fill().await?;
        }
    }

    async fn body(&mut self, head: Head, sink: &mut Sink<'_>) -> Result<()> {
        match head.length {
            Length::Known(length) => self.pass(length, sink).await,
            Length::Chunked => loop {
                let size = self.line().await?;
                let size = size.split(';').next().unwrap_or_default().trim();
                let size =
                    usize::from_str_radix(size, 16).with_context(|| format!("not the size of a chunk: {size:?}"))?;
                if size == 0 {
                    // No trailers are expected, only the empty line after them.
                    self.line().await?;
                    return Ok(());
                }
                self.pass(size, sink).await?;
                self.line().await?;
            },
        }
    }

    /// Passes the next `length` bytes to the sink.
    async fn pass(&mut self, mut length: usize, sink: &mut Sink<'_>) -> Result<()> {
        while length > 0 {
            if self.waiting().is_empty() {
                self.fill().await?;
            }
            let waiting = self.waiting();
            let now = waiting.len().min(length);
            sink.take(&waiting[..now]);
            self.taken += now;
            length -= now;
        }
        Ok(())
    }

    async fn line(&mut self) -> Result<String> {
        loop {
            let waiting = self.waiting();
            if let Some(end) = waiting.iter().position(|byte| *byte == b'\n') {
                let line = String::from_utf8_lossy(&waiting[..end]).trim_end().to_owned();
                self.taken += end + 1;
                return Ok(line);
            }
            self.fill().await?;
        }
    }

    fn waiting(&self) -> &[u8] {
        &self.buffer[self.taken..]
    }

    async fn fill(&mut self) -> Result<()> {
        if self.taken == self.buffer.len() {
            self.buffer.clear();
        } else if self.taken > 0 {
            self.buffer.drain(..self.taken);
        }
        self.taken = 0;
        self.buffer.reserve(CHUNK);
        ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "the server closed the connection");
        Ok(())
    }
}

fn end_of_head(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|start| start + 4)
}

impl Head {
    fn parse(bytes: &[u8]) -> Result<Self> {
        let text = std::str::from_utf8(bytes).context("the head of an answer is not UTF-8")?;
        let mut lines = text.split("\r\n");
        let first = lines.next().unwrap_or_default();
        let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
        let Some(status) = status else { bail!("no status in {first:?}") };
        let mut head = Self { status, replayed: false, length: Length::Known(0) };
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            if name.eq_ignore_ascii_case("content-length") {
                head.length = Length::Known(value.trim().parse().context("content-length is not a number")?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                head.length = Length::Chunked;
            } else if name.eq_ignore_ascii_case("idempotency-replayed") {
                head.replayed = true;
            }
        }
        Ok(head)
    }
}

impl Answer {
    /// The body as JSON, if the status is the expected one.
    pub(crate) fn json(&self, expected: u16) -> Result<Value> {
        let excerpt = || String::from_utf8_lossy(&self.body).chars().take(600).collect::<String>();
        ensure!(self.status == expected, "expected {expected}, got {}: {}", self.status, excerpt());
        serde_json::from_slice(&self.body).with_context(|| format!("not JSON: {}", excerpt()))
    }
}

/// The bytes of a GET with a bearer key.
pub(crate) fn get(target: &str, key: Option<&str>) -> Vec<u8> {
    let authorization = key.map(|key| format!("authorization: Bearer {key}\r\n")).unwrap_or_default();
    format!("GET {target} HTTP/1.1\r\nhost: localhost\r\n{authorization}\r\n").into_bytes()
}

/// The bytes of a POST of JSON, with an optional `Idempotency-Key`.
pub(crate) fn post(target: &str, key: Option<&str>, idempotency: Option<&str>, body: &str) -> Vec<u8> {
    let authorization = key.map(|key| format!("authorization: Bearer {key}\r\n")).unwrap_or_default();
    let idempotency = idempotency.map(|key| format!("idempotency-key: {key}\r\n")).unwrap_or_default();
    let length = body.len();
    let about = "content-type: application/json";
    format!(
        "POST {target} HTTP/1.1\r\nhost: localhost\r\n{authorization}{idempotency}{about}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The bytes of a PATCH of JSON.
pub(crate) fn patch(target: &str, key: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "PATCH {target} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The bytes of a PUT of JSON.
pub(crate) fn put(target: &str, key: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "PUT {target} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The bytes of a DELETE.
pub(crate) fn delete(target: &str, key: &str) -> Vec<u8> {
    format!("DELETE {target} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\r\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    async fn answered(bytes: &'static [u8]) -> Answer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut connection = Connection::open(listener.local_addr().unwrap()).await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        // In small pieces, so that every boundary falls inside something.
        let written = tokio::spawn(async move {
            for piece in bytes.chunks(7) {
                server.write_all(piece).await.unwrap();
                tokio::task::yield_now().await;
            }
            server
        });
        let answer = connection.ask(&get("/", None)).await.unwrap();
        assert!(connection.waiting().is_empty());
        drop(written.await.unwrap());
        answer
    }

    #[tokio::test]
    async fn a_body_of_known_length_is_read() {
        let answer =
            answered(b"HTTP/1.1 201 Created\r\nContent-Length: 12\r\nIdempotency-Replayed: true\r\n\r\nhello, world")
                .await;
        assert_eq!((answer.status, answer.replayed, answer.body.as_slice()), (201, true, b"hello, world".as_slice()));
    }

    #[tokio::test]
    async fn a_body_in_chunks_is_read() {
        let answer = answered(
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n7;x=y\r\n, world\r\n0\r\n\r\n",
        )
        .await;
        assert_eq!((answer.status, answer.body.as_slice()), (200, b"hello, world".as_slice()));
    }

    #[tokio::test]
    async fn an_answer_without_a_body_ends_with_its_head() {
        assert_eq!(answered(b"HTTP/1.1 204 No Content\r\ndate: today\r\n\r\n").await.status, 204);
    }
}
