//! A mail server that records what arrives, refuses some messages for now, and loses some connections.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::random::Random;

/// One recipient in this number is refused at first, as servers do that delay strangers.
const REFUSED: u64 = 20;
/// One message in this number is recorded, but the connection ends before the sender gets the reply.
const UNANSWERED: u64 = 200;
/// The most bytes of a message.
const MESSAGE_MAX: usize = 1 << 20;

/// What arrived for each recipient: the words of the subjects that name an event and a version, in the order of arrival.
pub(crate) type Arrived = BTreeMap<String, Vec<String>>;

/// The server's records.
#[derive(Debug)]
struct Records {
    arrived: Arrived,
    refused: HashSet<String>,
    random: Random,
}

/// A running server. It ends with the runtime.
#[derive(Debug, Clone)]
pub(crate) struct Receiver {
    records: Arc<Mutex<Records>>,
    pub(crate) port: u16,
}

impl Receiver {
    /// Starts a server on a free port of this machine.
    pub(crate) async fn start(random: Random) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let records = Records { arrived: Arrived::new(), refused: HashSet::new(), random };
        let receiver = Self { records: Arc::new(Mutex::new(records)), port };
        let accepting = receiver.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let receiver = accepting.clone();
                // A killed sender ends its connections in the middle.
                tokio::spawn(async move { drop(receiver.serve(stream).await) });
            }
        });
        Ok(receiver)
    }

    /// What has arrived so far.
    pub(crate) fn arrived(&self) -> Arrived {
        self.with(|records| records.arrived.clone())
    }

    fn with<T>(&self, work: impl FnOnce(&mut Records) -> T) -> T {
        work(&mut self.records.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn serve(&self, mut stream: TcpStream) -> Result<()> {
        let (reader, mut writer) = stream.split();
        let mut reader = BufReader::new(reader);
        let mut recipient = None;
        writer.write_all(b"220 receiver\r\n").await?;
        loop {
            let mut line = Vec::new();
            if reader.read_until(b'\n', &mut line).await? == 0 {
                return Ok(());
            }
            let line = String::from_utf8_lossy(&line).trim_end().to_owned();
            let verb = line.get(..4).unwrap_or_default().to_ascii_uppercase();
            let reply = match verb.as_str() {
                "EHLO" => "250-receiver\r\n250 8BITMIME",
                "RCPT" => {
                    let address = line.split(['<', '>']).nth(1).context("a recipient without an address")?.to_owned();
                    let refuses =
                        self.with(|records| records.random.one_in(REFUSED) && records.refused.insert(address.clone()));
                    if refuses {
                        "451 4.7.1 try again later"
                    } else {
                        recipient = Some(address);
                        "250 accepted"
                    }
                }
                "DATA" => {
                    writer.write_all(b"354 go on\r\n").await?;
                    let version = version(&mut reader).await?;
                    let address = recipient.take().context("a message without a recipient")?;
                    let answers = self.with(|records| {
                        records.arrived.entry(address).or_default().push(version);
                        !records.random.one_in(UNANSWERED)
                    });
                    if !answers {
                        return Ok(());
                    }
                    "250 accepted"
                }
                "QUIT" => {
                    writer.write_all(b"221 bye\r\n").await?;
                    return Ok(());
                }
                _ => "250 ok",
            };
            writer.write_all(reply.as_bytes()).await?;
            writer.write_all(b"\r\n").await?;
        }
    }
}

/// Reads a message, and returns the last word of its subject.
async fn version(reader: &mut (impl AsyncBufRead + Unpin)) -> Result<String> {
    let (mut found, mut length) = (None, 0);
    loop {
        let mut line = Vec::new();
        length += reader.read_until(b'\n', &mut line).await?;
        let line = String::from_utf8_lossy(&line);
        match line.trim_end() {
            "" if line.is_empty() => bail!("the message ended in the middle"),
            "." => return found.context("a message without a subject"),
            _ if length > MESSAGE_MAX => bail!("a message of more than {MESSAGE_MAX} bytes"),
            text if found.is_none() => {
                let subject = text.strip_prefix("Subject:");
                found = subject.and_then(|subject| subject.split_whitespace().last()).map(str::to_owned);
            }
            _ => {}
        }
    }
}
