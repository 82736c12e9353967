//! Verification of a server's identity.

use rstest::rstest;

use super::support::{Server, Stage, acceptor, ok};
use crate::{EgressError, StatusCode, TlsFault, clients};

const SERVER: &[u8] = include_bytes!("tls/server.pem");
const EXPIRED: &[u8] = include_bytes!("tls/expired.pem");

#[rstest]
#[case::a_name(SERVER, "hooks.example.com", None)]
#[case::an_address(SERVER, "127.0.0.10", None)]
#[case::another_name(SERVER, "hooks.example.net", Some(TlsFault::OtherName))]
#[case::a_deeper_name(SERVER, "a.b.example.com", Some(TlsFault::OtherName))]
#[case::expired(EXPIRED, "hooks.example.com", Some(TlsFault::Expired))]
#[tokio::test]
async fn the_certificate_must_fit_the_name(
    #[case] certificate: &'static [u8],
    #[case] host: &str,
    #[case] fault: Option<TlsFault>,
) {
    let server = Server::answering("127.0.0.10:0", Some(acceptor(certificate)), |_| ok("hello")).await;
    // A literal address is checked with its URL, which does not know that the test plays the public internet.
    let stage = Stage::playing(&[("127.0.0.10", server.port())]);
    stage.names.set(host, &["127.0.0.10"]);
    match (stage.fetch(&format!("https://{host}:{}/", server.port())).await, fault) {
        (Ok(reply), None) => assert_eq!((reply.status, &reply.body[..]), (StatusCode::OK, &b"hello"[..])),
        (Err(EgressError::Tls { fault, .. }), Some(expected)) => assert_eq!(fault, expected),
        (got, _) => panic!("{got:?}"),
    }
    assert!(server.requests().len() == usize::from(fault.is_none()), "a server that is not verified gets no request");
}

#[tokio::test]
async fn an_unknown_authority_is_refused() {
    let server = Server::public(|_| ok("")).await;
    let names = std::sync::Arc::new(super::support::Names::default());
    names.set("hooks.example.com", &["127.0.0.10"]);
    // The authorities are those that the system trusts.
    let mut recipe = clients::Recipe::new("Kalends-Test/1", names).unwrap();
    recipe.judge = super::support::playing_public;
    let egress = crate::Egress::from_recipe(crate::Allowed::none(), recipe, std::num::NonZeroUsize::MIN).unwrap();
    let exchange = Stage::real(&[]).get(&format!("https://hooks.example.com:{}/", server.port()));
    let refused = egress.send(exchange).await.unwrap_err();
    assert!(matches!(refused, EgressError::Tls { fault: TlsFault::UnknownIssuer, .. }), "{refused:?}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_server_without_tls_is_refused() {
    let server = Server::plain(|_| ok("")).await;
    let stage = Stage::real(&[("127.0.0.1", server.port())]);
    let answering = Server::raw(|mut wire| async move {
        use tokio::io::AsyncWriteExt as _;
        let _ = wire.write_all(b"220 mail.example.com ESMTP\r\n").await;
        let _ = wire.shutdown().await;
    })
    .await;
    let stage_of_mail = Stage::real(&[("127.0.0.1", answering.port())]);
    let refused = stage_of_mail.fetch(&format!("https://127.0.0.1:{}/", answering.port())).await.unwrap_err();
    assert!(matches!(refused, EgressError::Tls { fault: TlsFault::Handshake, .. }), "{refused:?}");
    // The operator allows http here. An https URL still requires TLS.
    assert_eq!(stage.fetch(&server.url("/")).await.unwrap().status, StatusCode::OK);
}
