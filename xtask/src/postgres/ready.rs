//! Whether a server accepts connections, according to its data folder.

use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;

/// A server that accepts connections on this port of loopback.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ready {
    pub(super) port: u16,
}

impl Ready {
    /// Reads `postmaster.pid` before and after connecting, because a killed server leaves the file behind.
    pub(super) fn read(data: &Path) -> Option<Self> {
        let file = data.join("postmaster.pid");
        let read = || Self::parse(&std::fs::read_to_string(&file).ok()?);
        TcpStream::connect((Ipv4Addr::LOCALHOST, read()?.port)).ok()?;
        read()
    }

    fn parse(text: &str) -> Option<Self> {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let port = lines.get(3)?.parse().ok()?;
        (*lines.get(7)? == "ready").then_some(Self { port })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = "4711\n/data\n1700000000\n5433\n/socket\n127.0.0.1\n  1 2\n";

    #[test]
    fn a_starting_server_is_not_ready() {
        assert_eq!(Ready::parse(&format!("{BEGIN}starting\n")), None);
        assert_eq!(Ready::parse("4711\n/data\n"), None);
    }

    #[test]
    fn a_ready_server_has_a_port() {
        assert_eq!(Ready::parse(&format!("{BEGIN}ready   \n")), Some(Ready { port: 5433 }));
    }
}
