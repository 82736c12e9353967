//! Limits of time and size.

use std::{io::Write as _, sync::Arc, time::Duration};

use async_trait::async_trait;
use flate2::{Compression, write::GzEncoder};
use rstest::rstest;
use tokio::{io::AsyncWriteExt as _, sync::mpsc, time::advance};

use super::support::{Server, Stage, answer, arrival, ok, stand_still};
use crate::{Allowed, Egress, EgressError, Exchange, PastCap, Resolver, Settings};

const SECOND: Duration = Duration::from_secs(1);
/// Timers are rounded up to whole milliseconds.
const TICK: Duration = Duration::from_millis(2);

/// How a server stalls after the request has arrived.
#[derive(Clone, Copy)]
enum Dawdling {
    Silence,
    HeaderByHeader,
    ByteByByte,
    ChunkByChunk,
    Informational,
}

/// The server sends a little every second, and never finishes.
#[rstest]
#[case::silence(Dawdling::Silence)]
#[case::headers(Dawdling::HeaderByHeader)]
#[case::body(Dawdling::ByteByByte)]
#[case::chunks(Dawdling::ChunkByChunk)]
#[case::early_hints(Dawdling::Informational)]
#[tokio::test]
async fn the_deadline_spans_the_complete_answer(#[case] how: Dawdling) {
    let (arrivals, mut arrived) = mpsc::unbounded_channel();
    let (tick, ticks) = mpsc::unbounded_channel::<()>();
    let ticks = Arc::new(tokio::sync::Mutex::new(ticks));
    let server = Server::raw(move |mut wire| {
        let (arrivals, ticks) = (arrivals.clone(), Arc::clone(&ticks));
        async move {
            arrival(&mut wire).await.unwrap();
            let (begin, drip): (&[u8], &[u8]) = match how {
                Dawdling::Silence => (b"", b""),
                Dawdling::HeaderByHeader => (b"HTTP/1.1 200 OK\r\n", b"x-drip: 1\r\n"),
                Dawdling::ByteByByte => (b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n", b"x"),
                Dawdling::ChunkByChunk => (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
                Dawdling::Informational => (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
            };
            wire.write_all(begin).await.unwrap();
            arrivals.send(()).unwrap();
            while ticks.lock().await.recv().await.is_some() {
                if wire.write_all(drip).await.is_err() {
                    break;
                }
            }
        }
    })
    .await;
    let stage = Stage::real(&[("127.0.0.1", server.port())]);
    let _still = stand_still();
    let egress = Arc::clone(&stage.egress);
    let exchange = Exchange { deadline: 15 * SECOND, ..stage.get(&server.url("/")) };
    let sending = tokio::spawn(async move { egress.send(exchange).await });
    arrived.recv().await.unwrap();
    for _ in 0..14 {
        tick.send(()).unwrap();
        advance(SECOND).await;
        assert!(!sending.is_finished());
    }
    advance(SECOND + TICK).await;
    let late = sending.await.unwrap().unwrap_err();
    assert!(matches!(late, EgressError::Deadline { .. }), "{late:?}");
    assert_eq!(late.to_string(), "no complete answer within 15 s");
}

/// The server accepts connections, but never starts a handshake.
#[tokio::test]
async fn the_deadline_spans_the_handshake() {
    let (arrivals, mut arrived) = mpsc::unbounded_channel();
    let server = Server::raw(move |wire| {
        arrivals.send(()).unwrap();
        async move {
            let _open = wire;
            std::future::pending::<()>().await;
        }
    })
    .await;
    let stage = Stage::real(&[("127.0.0.1", server.port())]);
    let _still = stand_still();
    let egress = Arc::clone(&stage.egress);
    let url = format!("https://127.0.0.1:{}/", server.port());
    let exchange = Exchange { deadline: 3 * SECOND, ..stage.get(&url) };
    let sending = tokio::spawn(async move { egress.send(exchange).await });
    arrived.recv().await.unwrap();
    advance(3 * SECOND + TICK).await;
    assert!(matches!(sending.await.unwrap().unwrap_err(), EgressError::Deadline { .. }));
}

/// A look-up that never returns.
struct Silent(mpsc::UnboundedSender<String>);

#[async_trait]
impl Resolver for Silent {
    async fn resolve(&self, host: &str) -> std::io::Result<Vec<std::net::IpAddr>> {
        self.0.send(host.to_owned()).unwrap();
        std::future::pending().await
    }
}

#[tokio::test]
async fn the_deadline_spans_the_look_up() {
    let (lookups, mut looked_up) = mpsc::unbounded_channel();
    let settings = Settings { user_agent: "Kalends-Test/1".to_owned(), per_host: std::num::NonZeroUsize::MIN };
    let egress = Arc::new(Egress::new(Allowed::none(), Arc::new(Silent(lookups)), &settings).unwrap());
    let exchange = Exchange { deadline: 3 * SECOND, ..Stage::real(&[]).get("https://slow.example.com/") };
    let _still = stand_still();
    let sending = tokio::spawn(async move { egress.send(exchange).await });
    assert_eq!(looked_up.recv().await.unwrap(), "slow.example.com.");
    advance(3 * SECOND + TICK).await;
    assert!(matches!(sending.await.unwrap().unwrap_err(), EgressError::Deadline { .. }));
}

/// A redirect does not extend the deadline.
#[tokio::test]
async fn the_deadline_spans_redirects() {
    let (arrivals, mut arrived) = mpsc::unbounded_channel();
    let (go, gates) = mpsc::unbounded_channel::<()>();
    let gates = Arc::new(tokio::sync::Mutex::new(gates));
    let server = Server::raw(move |mut wire| {
        let (arrivals, gates) = (arrivals.clone(), Arc::clone(&gates));
        async move {
            while arrival(&mut wire).await.is_some() {
                arrivals.send(()).unwrap();
                gates.lock().await.recv().await;
                wire.write_all(&answer("302 Found", "location: /\r\n", b"")).await.unwrap();
            }
        }
    })
    .await;
    let stage = Stage::real(&[("127.0.0.1", server.port())]);
    let _still = stand_still();
    let egress = Arc::clone(&stage.egress);
    let exchange = Exchange { deadline: 10 * SECOND, redirects: 5, ..stage.get(&server.url("/")) };
    let sending = tokio::spawn(async move { egress.send(exchange).await });
    for _ in 0..3 {
        arrived.recv().await.unwrap();
        advance(3 * SECOND).await;
        assert!(!sending.is_finished());
        go.send(()).unwrap();
    }
    arrived.recv().await.unwrap();
    advance(SECOND + TICK).await;
    assert!(matches!(sending.await.unwrap().unwrap_err(), EgressError::Deadline { .. }));
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn a_compression_bomb_stops_at_the_cap() {
    let bomb = gzip(&vec![0; 8 << 20]);
    assert!(bomb.len() < 16_384, "the transfer is small: {}", bomb.len());
    let server = Server::plain(move |_| answer("200 OK", "content-encoding: gzip\r\n", &bomb)).await;
    let stage = Stage::real(&[("127.0.0.1", server.port())]);
    let refused = stage.fetch(&server.url("/")).await.unwrap_err();
    assert!(matches!(refused, EgressError::TooLarge { limit: 65_536 }), "{refused:?}");
    let exchange = Exchange { past_cap: PastCap::Truncate, ..stage.get(&server.url("/")) };
    let reply = stage.egress.send(exchange).await.unwrap();
    assert!(reply.truncated && reply.body.len() == 65_536 && reply.body.iter().all(|byte| *byte == 0));
}

#[tokio::test]
async fn compressed_content_is_decompressed() {
    let text = "BEGIN:VCALENDAR\r\n".repeat(1_000);
    let (complete, broken) = (gzip(text.as_bytes()), gzip(text.as_bytes())[..40].to_vec());
    let server = Server::plain(move |arrived| {
        let body = if arrived.path() == "/whole" { &complete } else { &broken };
        answer("200 OK", "content-encoding: gzip\r\n", body)
    })
    .await;
    let stage = Stage::real(&[("127.0.0.1", server.port())]);
    let reply = stage.fetch(&server.url("/whole")).await.unwrap();
    assert_eq!(reply.body, text);
    assert!(!reply.headers.contains_key("content-encoding") && !reply.truncated);
    let refused = stage.fetch(&server.url("/broken")).await.unwrap_err();
    assert!(matches!(refused, EgressError::Protocol(_)), "{refused:?}");
}

#[rstest]
#[case(10, 10, PastCap::Refuse, Some((10, false)))]
#[case(10, 10, PastCap::Truncate, Some((10, false)))]
#[case(11, 10, PastCap::Refuse, None)]
#[case(11, 10, PastCap::Truncate, Some((10, true)))]
#[case(0, 0, PastCap::Refuse, Some((0, false)))]
#[case(1, 0, PastCap::Truncate, Some((0, true)))]
#[case(1_000_000, 65_536, PastCap::Truncate, Some((65_536, true)))]
#[case(1_000_000, 65_536, PastCap::Refuse, None)]
#[tokio::test]
async fn the_cap_is_exact(
    #[case] length: usize,
    #[case] max_body: usize,
    #[case] past_cap: PastCap,
    #[case] kept: Option<(usize, bool)>,
) {
    let body = "x".repeat(length);
    let server = Server::plain(move |arrived| match arrived.path() {
        "/announced" => ok(&body),
        _ => format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
            .replace("\r\n0\r\n\r\n\r\n0", "\r\n0")
            .replace("\r\n\r\n0\r\n\r\n0\r\n\r\n", "\r\n\r\n0\r\n\r\n")
            .into_bytes(),
    })
    .await;
    let stage = Stage::real(&[("127.0.0.1", server.port())]);
    for path in ["/announced", "/chunked"] {
        let exchange = Exchange { max_body, past_cap, ..stage.get(&server.url(path)) };
        match (stage.egress.send(exchange).await, kept) {
            (Ok(reply), Some(kept)) => assert_eq!((reply.body.len(), reply.truncated), kept, "{path}"),
            (Err(EgressError::TooLarge { limit }), None) => assert_eq!(limit, max_body),
            (got, _) => panic!("{path}: {got:?}"),
        }
    }
}

/// An answer that announces an excessive length is refused unread.
#[tokio::test]
async fn an_announced_length_over_the_cap_is_refused() {
    let server = Server::plain(|_| b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n".to_vec()).await;
    let stage = Stage::real(&[("127.0.0.1", server.port())]);
    let refused = stage.fetch(&server.url("/")).await.unwrap_err();
    assert!(matches!(refused, EgressError::TooLarge { .. }), "{refused:?}");
}

#[rstest]
#[case::some(&"x-a: 1\r\n".repeat(99), true)]
#[case::too_many(&"x-a: 1\r\n".repeat(100), false)]
#[case::long(&format!("x-a: {}\r\n", "a".repeat(300_000)), true)]
#[case::too_long(&format!("x-a: {}\r\n", "a".repeat(1_000_000)), false)]
#[case::too_long_a_name(&format!("{}: a\r\n", "a".repeat(100_000)), false)]
#[tokio::test]
async fn headers_are_bounded(#[case] headers: &str, #[case] taken: bool) {
    let headers = headers.to_owned();
    let server = Server::plain(move |_| answer("200 OK", &headers, b"")).await;
    let stage = Stage::real(&[("127.0.0.1", server.port())]);
    match stage.fetch(&server.url("/")).await {
        Ok(_) => assert!(taken),
        Err(EgressError::Protocol(_)) => assert!(!taken),
        Err(other) => panic!("{other:?}"),
    }
}

#[rstest]
#[case::nothing(b"")]
#[case::half_a_head(b"HTTP/1.1 200 OK\r\ncontent-le")]
#[case::half_a_body(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc")]
#[case::half_a_chunk(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab")]
#[case::no_http(b"220 mail.example.com ESMTP\r\n")]
#[case::old_http(b"hello")]
#[case::two_lengths(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab")]
#[case::no_length(b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n")]
#[case::folded(b"HTTP/1.1 200 OK\r\nx-a: b\r\n c\r\ncontent-length: 0\r\n\r\n")]
#[tokio::test]
async fn a_broken_answer_is_an_error(#[case] bytes: &'static [u8]) {
    let server = Server::raw(move |mut wire| async move {
        arrival(&mut wire).await;
        wire.write_all(bytes).await.unwrap();
        wire.shutdown().await.unwrap();
    })
    .await;
    let stage = Stage::real(&[("127.0.0.1", server.port())]);
    let refused = stage.fetch(&server.url("/")).await.unwrap_err();
    assert!(matches!(refused, EgressError::Protocol(_)), "{refused:?}");
}
