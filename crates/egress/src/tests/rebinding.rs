//! DNS rebinding: names that are public at the first look-up, and private at the next.

use super::support::{Server, Stage, Trap, answer};
use crate::{EgressError, Exchange, NotAllowed};

/// The answers to the second look-up.
const SECOND: &[&str] = &[
    "127.0.0.1",
    "127.0.0.2",
    "127.255.255.254",
    "0.0.0.0",
    "0.0.0.1",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.255",
    "168.63.129.16",
    "169.254.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "192.168.255.255",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0.0.0.0",
    "::ffff:0:127.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:2::1",
    "2001:10::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a00:1::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    // Mixed with the address that was public before.
    "127.0.0.10,127.0.0.1",
    "127.0.0.1,127.0.0.10",
    "127.0.0.10,::1",
    "::1,127.0.0.10",
    "127.0.0.10,127.0.0.10,10.0.0.1",
    "127.0.0.10,127.0.0.10,127.0.0.10,127.0.0.10,127.0.0.10,127.0.0.10,127.0.0.10,127.0.0.10,127.0.0.10,127.0.0.1",
];

/// A public server that closes after every answer, so that the next request dials again. Traps listen on the same port
/// of other addresses of this machine.
async fn scene() -> (Server, Trap) {
    loop {
        let server = Server::public(|arrived| match arrived.path() {
            "/again" => answer("302 Found", "location: /\r\nconnection: close\r\n", b""),
            _ => answer("200 OK", "connection: close\r\n", b"public"),
        })
        .await;
        if let Some(trap) = Trap::on_loopback(server.port()) {
            return (server, trap);
        }
    }
}

#[tokio::test]
async fn only_checked_addresses_are_dialled() {
    assert!(SECOND.len() >= 50);
    let (server, trap) = scene().await;
    let stage = Stage::playing(&[]);
    for (index, second) in SECOND.iter().enumerate() {
        // The answer changes between two exchanges.
        let host = format!("a{index}.example.com");
        stage.names.set(&host, &["127.0.0.10", second]);
        let url = format!("https://{host}:{}/", server.port());
        assert_eq!(stage.fetch(&url).await.unwrap().body, "public");
        let (opened, connections) = (stage.recorder.opened(), server.connections());
        let refused = stage.fetch(&url).await.unwrap_err();
        assert!(matches!(refused, EgressError::NotAllowed(NotAllowed::Address(_))), "{second}: {refused:?}");
        assert_eq!((stage.recorder.opened(), server.connections()), (opened, connections), "{second}");

        // The answer changes within an exchange, which is redirected to the same name.
        let host = format!("b{index}.example.com");
        stage.names.set(&host, &["127.0.0.10", second]);
        let url = format!("https://{host}:{}/again", server.port());
        let refused = stage.egress.send(Exchange { redirects: 5, ..stage.get(&url) }).await.unwrap_err();
        assert!(matches!(refused, EgressError::NotAllowed(NotAllowed::Address(_))), "{second}: {refused:?}");
        assert_eq!((stage.recorder.opened(), server.connections()), (opened + 1, connections + 1), "{second}");

        // The answer is bad from the start.
        let host = format!("c{index}.example.com");
        stage.names.set(&host, &[second]);
        let refused = stage.fetch(&format!("https://{host}:{}/", server.port())).await.unwrap_err();
        assert!(matches!(refused, EgressError::NotAllowed(NotAllowed::Address(_))), "{second}: {refused:?}");
        assert_eq!((stage.recorder.opened(), server.connections()), (opened + 1, connections + 1), "{second}");
    }
    assert_eq!(trap.sprung(), 0);
    // There is one look-up for each connection, so there is no second one that could lie.
    assert_eq!(stage.names.lookups().len(), SECOND.len() * 5);
    assert_eq!(stage.recorder.requested(), SECOND.len() * 5);
}

/// A name whose answers alternate is refused whenever it is not public.
#[tokio::test]
async fn alternating_answers_are_checked_each_time() {
    let (server, trap) = scene().await;
    let stage = Stage::playing(&[]);
    let turns = ["127.0.0.10", "127.0.0.1"].repeat(10);
    stage.names.set("turn.example.com", &turns);
    let url = format!("https://turn.example.com:{}/", server.port());
    for turn in turns {
        assert_eq!(stage.fetch(&url).await.is_ok(), turn == "127.0.0.10");
    }
    assert_eq!((server.connections(), trap.sprung()), (10, 0));
}
