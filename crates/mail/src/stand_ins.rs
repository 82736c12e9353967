//! Stand-ins for the tests of this crate: a clock, a source of bytes, an SMTP server.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering},
};

use kalends_accounts::Email;
use kalends_app::ports::Mail;
use kalends_kernel::Entropy;
use kalends_time::{Clock, Timestamp};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::Notify,
};

use crate::Letterhead;

struct StillClock;

impl Clock for StillClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(1_790_000_000_000_000)
    }
}

#[derive(Default)]
struct CountingEntropy(AtomicU64);

impl Entropy for CountingEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let value = self.0.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            chunk.copy_from_slice(&value.to_le_bytes()[..chunk.len()]);
        }
    }
}

pub(crate) fn letterhead(host: &str) -> Letterhead {
    Letterhead::new(host, Arc::new(StillClock), Arc::new(CountingEntropy::default()))
}

pub(crate) fn mail() -> Mail {
    Mail {
        to: Email::parse("email", "ada@example.com").unwrap(),
        subject: "Ihr Schlüssel".into(),
        text: "Your code is 314159.\n\nIt holds for 10 minutes.\n".into(),
        html: "<p>Your code is <b>314159</b>.</p>\n".into(),
        calendar: None,
        agreed: false,
        until: None,
        reply_to: None,
    }
}

/// A message that the stand-in accepted.
#[derive(Clone, Default)]
pub(crate) struct Taken {
    pub(crate) from: String,
    pub(crate) to: Vec<String>,
    pub(crate) message: Vec<u8>,
}

#[derive(Default)]
struct Seen {
    taken: Vec<Taken>,
    signed_in: Vec<String>,
    connections: usize,
}

/// The verdict of a server that accepts the recipient and then says nothing more.
pub(crate) const HANGS: &str = "250 hangs";

/// The verdict of a server that accepts the recipient and then waits for more than the message.
pub(crate) const WAITS_ON: &str = "250 waits on";

/// A minimal SMTP server on the loopback interface, without STARTTLS.
pub(crate) struct SmtpStandIn {
    pub(crate) port: u16,
    seen: Arc<Mutex<Seen>>,
    hangs: Arc<Notify>,
}

impl SmtpStandIn {
    /// Starts a server that answers every recipient with `verdict`.
    pub(crate) async fn start(verdict: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Seen::default()));
        let hangs = Arc::new(Notify::new());
        let kept = (Arc::clone(&seen), Arc::clone(&hangs));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                kept.0.lock().unwrap().connections += 1;
                tokio::spawn(converse(stream, verdict, Arc::clone(&kept.0), Arc::clone(&kept.1)));
            }
        });
        Self { port, seen, hangs }
    }

    /// Waits until the server says nothing more.
    pub(crate) async fn waits(&self) {
        self.hangs.notified().await;
    }

    pub(crate) fn connections(&self) -> usize {
        self.seen.lock().unwrap().connections
    }

    pub(crate) fn taken(&self) -> Vec<Taken> {
        self.seen.lock().unwrap().taken.clone()
    }

    pub(crate) fn signed_in(&self) -> Vec<String> {
        self.seen.lock().unwrap().signed_in.clone()
    }
}

async fn converse(stream: TcpStream, verdict: &str, seen: Arc<Mutex<Seen>>, hangs: Arc<Notify>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut taken = Taken::default();
    stream.write_all(b"220 stand-in\r\n").await?;
    let mut line = Vec::new();
    loop {
        line.clear();
        if stream.read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        let command = String::from_utf8_lossy(&line).trim_end().to_owned();
        let argument = |prefix: &str| command[prefix.len()..].split(' ').next().unwrap_or_default().to_owned();
        let answer = match command.get(..4).unwrap_or_default() {
            "EHLO" => "250-stand-in\r\n250 AUTH PLAIN",
            "AUTH" => {
                seen.lock().unwrap().signed_in.push(command.clone());
                "235 welcome"
            }
            "MAIL" => {
                taken = Taken { from: argument("MAIL FROM:"), ..Taken::default() };
                "250 ok"
            }
            "RCPT" => {
                taken.to.push(argument("RCPT TO:"));
                verdict
            }
            "DATA" if verdict == HANGS => {
                hangs.notify_one();
                return std::future::pending().await;
            }
            "DATA" => {
                stream.write_all(b"354 go on\r\n").await?;
                loop {
                    line.clear();
                    stream.read_until(b'\n', &mut line).await?;
                    if line == b".\r\n" {
                        break;
                    }
                    taken.message.extend_from_slice(line.strip_prefix(b".").unwrap_or(&line));
                }
                seen.lock().unwrap().taken.push(taken.clone());
                if verdict == WAITS_ON { "354 go on" } else { "250 taken" }
            }
            "QUIT" => "221 bye",
            _ => "250 ok",
        };
        stream.write_all(format!("{answer}\r\n").as_bytes()).await?;
    }
}
