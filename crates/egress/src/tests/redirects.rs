//! Redirects over real connections.

use rstest::rstest;

use super::support::{Server, Stage, answer, ok};
use crate::{EgressError, Exchange, HeaderName, HeaderValue, Method, RedirectFault};

/// `/5` redirects to `/4`, and so on; `/0` answers.
fn countdown(path: &str) -> Vec<u8> {
    match path.trim_start_matches('/').parse::<u32>().unwrap() {
        0 => ok("there"),
        left => answer("302 Found", &format!("location: /{}\r\n", left - 1), b"not here"),
    }
}

#[rstest]
#[case(5, 5, true)]
#[case(5, 4, false)]
#[case(6, 5, false)]
#[case(6, 200, false)]
#[case(1, 1, true)]
#[case(0, 0, true)]
#[tokio::test]
async fn redirects_are_counted(#[case] wanted: u32, #[case] redirects: u8, #[case] arrives: bool) {
    let server = Server::plain(|arrived| countdown(arrived.path())).await;
    let stage = Stage::real(&[("127.0.0.1", server.port())]);
    let exchange = Exchange { redirects, ..stage.get(&server.url(&format!("/{wanted}"))) };
    let reply = stage.egress.send(exchange).await;
    if arrives {
        assert_eq!(reply.unwrap().body, "there");
        assert_eq!(server.requests().len(), wanted as usize + 1);
    } else {
        let limit = redirects.min(5);
        let refused = reply.unwrap_err();
        assert!(
            matches!(refused, EgressError::Redirect(RedirectFault::TooMany { limit: reported }) if reported == limit)
        );
        assert_eq!(server.requests().len(), usize::from(limit) + 1);
    }
}

#[tokio::test]
async fn without_a_limit_a_redirect_is_an_answer() {
    let server = Server::plain(|arrived| countdown(arrived.path())).await;
    let stage = Stage::real(&[("127.0.0.1", server.port())]);
    let reply = stage.fetch(&server.url("/1")).await.unwrap();
    assert_eq!((reply.status.as_u16(), &reply.body[..], server.requests().len()), (302, &b"not here"[..], 1));
    assert_eq!(reply.headers["location"], "/0");
}

#[tokio::test]
async fn not_modified_is_not_a_redirect() {
    let server = Server::plain(|_| b"HTTP/1.1 304 Not Modified\r\nlocation: https://10.0.0.1/\r\n\r\n".to_vec()).await;
    let stage = Stage::real(&[("127.0.0.1", server.port())]);
    let reply = stage.egress.send(Exchange { redirects: 5, ..stage.get(&server.url("/")) }).await.unwrap();
    assert_eq!(reply.status.as_u16(), 304);
}

/// The same exchange is redirected within its origin and to another one.
#[tokio::test]
async fn another_origin_gets_no_secrets() {
    let stranger = Server::plain(|_| ok("")).await;
    let elsewhere = stranger.url("/stolen");
    let server = Server::plain(move |arrived| match arrived.path() {
        "/home" => answer("302 Found", "location: /here\r\n", b""),
        "/away" => answer("302 Found", &format!("location: {elsewhere}\r\n"), b""),
        "/content" => answer("307 Temporary Redirect", &format!("location: {elsewhere}\r\n"), b""),
        _ => ok(""),
    })
    .await;
    let stage = Stage::real(&[("127.0.0.1", server.port()), ("127.0.0.1", stranger.port())]);
    let send = async |path: &str| {
        let mut exchange = Exchange { method: Method::POST, redirects: 3, ..stage.get(&server.url(path)) };
        exchange.body = "secret".into();
        for name in ["authorization", "cookie", "x-signature", "webhook-signature", "x-any"] {
            exchange.headers.insert(HeaderName::from_static(name), HeaderValue::from_static("secret"));
        }
        exchange.headers.insert("accept", HeaderValue::from_static("text/calendar"));
        stage.egress.send(exchange).await
    };
    send("/home").await.unwrap();
    assert_eq!(server.requests()[1].header("x-signature"), Some("secret"));
    send("/away").await.unwrap();
    let refused = send("/content").await.unwrap_err();
    assert!(matches!(refused, EgressError::Redirect(RedirectFault::BodyElsewhere)), "{refused:?}");
    let stolen = stranger.requests();
    assert_eq!(stolen.len(), 1);
    assert!(!format!("{stolen:?}").contains("secret"), "{stolen:?}");
    assert_eq!(stolen[0].header("accept"), Some("text/calendar"));
}

#[tokio::test]
async fn a_redirect_from_https_to_http_is_refused() {
    let plain = Server::plain(|_| ok("plain")).await;
    let to = plain.url("/");
    let server = Server::public(move |_| answer("301 Moved", &format!("location: {to}\r\n"), b"")).await;
    let stage = Stage::playing(&[("127.0.0.1", plain.port())]);
    stage.names.set("feeds.example.com", &["127.0.0.10"]);
    let url = format!("https://feeds.example.com:{}/", server.port());
    let refused = stage.egress.send(Exchange { redirects: 5, ..stage.get(&url) }).await.unwrap_err();
    assert!(matches!(refused, EgressError::Redirect(RedirectFault::Downgrade)), "{refused:?}");
    assert_eq!(plain.connections(), 0);
}
