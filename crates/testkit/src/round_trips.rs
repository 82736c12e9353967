//! Counts how often something waits for Postgres: a proxy in front of the server that forwards everything and reads
//! along.

use std::{
    io::{self, Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

/// The server's message that a statement was parsed.
const PARSE_COMPLETE: u8 = b'1';
/// The server's message that it is ready for the next command.
const READY: u8 = b'Z';
/// A message that the server sends unprompted.
const NOTICE: u8 = b'N';
const PARAMETER: u8 = b'S';
const NOTIFICATION: u8 = b'A';
/// The bytes of a message before its content: its type, and the length of everything but the type.
const HEADER: usize = 5;

/// A proxy in front of a Postgres server that counts round trips. Connections must not be encrypted.
///
/// A round trip ends when the server is ready for the next command. The costs of new connections are left out: the
/// startup, and the first parsing of a statement, which the driver requests separately. The check whether a connection
/// still works is left out too: the server answers it only by being ready. Therefore the count depends neither on which
/// connection of a pool runs a statement nor on how long that connection was idle.
#[derive(Debug)]
pub struct RoundTrips {
    address: SocketAddr,
    count: Arc<AtomicU64>,
}

impl RoundTrips {
    /// Listens on a loopback port of its own, and forwards each connection to `server`, a host and a port.
    ///
    /// # Errors
    /// If no port is available.
    pub fn before(server: (String, u16)) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let (address, count) = (listener.local_addr()?, Arc::<AtomicU64>::default());
        let counted = Arc::clone(&count);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (server, counted) = (server.clone(), Arc::clone(&counted));
                thread::spawn(move || connect(client, &server, &counted));
            }
        });
        Ok(Self { address, count })
    }

    /// The address to connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The number of round trips so far. A round trip is counted before its client learns that it has ended.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }
}

/// Forwards everything, both ways, until one side ends. A failure is left to the client.
fn connect(client: TcpStream, server: &(String, u16), count: &AtomicU64) {
    let Ok(server) = TcpStream::connect((server.0.as_str(), server.1)) else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (Ok(from_client), Ok(to_server)) = (client.try_clone(), server.try_clone()) else { return };
    thread::spawn(move || pass(from_client, to_server, |_| {}));
    let mut reader = Reader::default();
    pass(server, client, |bytes| {
        count.fetch_add(reader.round_trips(bytes), Ordering::SeqCst);
    });
}

fn pass(mut from: TcpStream, mut to: TcpStream, mut look: impl FnMut(&[u8])) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let bytes = buffer.get(..length).unwrap_or_default();
        look(bytes);
        if to.write_all(bytes).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

/// Reads the messages of one server connection, in pieces of any size.
#[derive(Debug, Default)]
struct Reader {
    header: Vec<u8>,
    /// How many bytes of the current message's content are still missing.
    left: usize,
    begun: bool,
    /// Whether the current round trip parsed a statement, and whether the server answered anything.
    parsed: bool,
    answered: bool,
}

impl Reader {
    /// How many round trips end in these bytes.
    fn round_trips(&mut self, mut bytes: &[u8]) -> u64 {
        let mut ended = 0;
        while !bytes.is_empty() {
            if self.left > 0 {
                let content = self.left.min(bytes.len());
                self.left -= content;
                bytes = bytes.get(content..).unwrap_or_default();
                continue;
            }
            let missing = (HEADER - self.header.len()).min(bytes.len());
            self.header.extend_from_slice(bytes.get(..missing).unwrap_or_default());
            bytes = bytes.get(missing..).unwrap_or_default();
            if let &[kind, a, b, c, d] = self.header.as_slice() {
                let length = u32::from_be_bytes([a, b, c, d]);
                self.left = usize::try_from(length).unwrap_or_default().saturating_sub(HEADER - 1);
                self.header.clear();
                ended += self.message(kind);
            }
        }
        ended
    }

    fn message(&mut self, kind: u8) -> u64 {
        match kind {
            PARSE_COMPLETE => self.parsed = true,
            READY => {
                // The driver waits until a statement is parsed before it sends another message.
                let counts = self.begun && self.answered && !self.parsed;
                (self.begun, self.answered, self.parsed) = (true, false, false);
                return u64::from(counts);
            }
            // The server may send these at any time.
            NOTICE | PARAMETER | NOTIFICATION => {}
            _ => self.answered = true,
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8, content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len() + 4).unwrap().to_be_bytes();
        [&[kind], &length[..], content].concat()
    }

    #[test]
    fn startup_parsing_and_pings_do_not_count() {
        let ready = message(READY, b"I");
        let rows = message(b'D', &[READY; 300]);
        let replies = [
            message(b'R', &[0; 4]),
            ready.clone(),
            // A statement is parsed, then run, then run again.
            [message(PARSE_COMPLETE, b""), message(b'T', b"columns"), ready.clone()].concat(),
            [message(b'2', b""), rows.clone(), ready.clone()].concat(),
            [message(b'2', b""), rows, ready.clone()].concat(),
            // A check whether the connection works.
            message(NOTICE, b"going down"),
            ready,
        ]
        .concat();
        for size in [1, 3, 7, replies.len()] {
            let mut reader = Reader::default();
            let counted: u64 = replies.chunks(size).map(|bytes| reader.round_trips(bytes)).sum();
            assert_eq!(counted, 2, "in pieces of {size}");
        }
    }
}
