//! The discovery document of an operator's own provider (OpenID Connect Discovery 1.0), and how long it is kept.

use std::{
    future::Future,
    sync::{Arc, PoisonError, RwLock},
};

use kalends_egress::EgressError;
use kalends_remote::RemoteUrl;
use kalends_time::{SignedDuration, Timestamp};
use serde::Deserialize;
use tokio::sync::Mutex;
use url::Url;

/// How long a document is used before it is fetched again.
const LASTS: SignedDuration = SignedDuration::hours(1);
/// How long an earlier document is used before another attempt, if it could not be fetched again.
const RETRY_AFTER: SignedDuration = SignedDuration::minutes(1);
/// The maximum number of characters of another issuer that are logged.
const ISSUER_SHOWN: usize = 128;
/// The name of [`Authentication::Post`] in documents.
const POST: &str = "client_secret_post";

/// What is wrong with an endpoint on plain http.
const PLAIN: &str = "must be an https URL, except on this machine: an identity is trusted because it comes over TLS";

/// How the service shows its secret to the token endpoint (RFC 6749 section 2.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Authentication {
    /// In the form: `client_secret_post`.
    Post,
    /// In the header `Authorization`: `client_secret_basic`.
    Basic,
}

/// What the service needs of a discovery document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Document {
    pub(crate) authorization_endpoint: Url,
    pub(crate) token_endpoint: RemoteUrl,
    pub(crate) userinfo_endpoint: Option<RemoteUrl>,
    pub(crate) authentication: Authentication,
}

/// Why there is no discovery document.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Undiscovered {
    #[error("the discovery document cannot be fetched")]
    Unreached(#[source] EgressError),
    #[error("the discovery document's address answers with status {0}")]
    Status(u16),
    #[error("the discovery document is not a JSON object with an issuer and the required endpoints")]
    Malformed(#[source] serde_json::Error),
    #[error("the discovery document is from another issuer: {0:?}")]
    Issuer(String),
    #[error("the {0} of the discovery document {1}")]
    Endpoint(&'static str, String),
    #[error("the discovery document could not be fetched a moment ago")]
    JustFailed,
}

/// The fields of OpenID Connect Discovery 1.0, section 3, that are read.
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    userinfo_endpoint: Option<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

/// The address of the document of `issuer` (section 4).
pub(crate) fn address(issuer: &str) -> String {
    format!("{}/.well-known/openid-configuration", issuer.strip_suffix('/').unwrap_or(issuer))
}

/// Reads the document of `issuer`. `exempt` returns whether the operator allows a private host and port, as in
/// [`RemoteUrl::parse`].
///
/// # Errors
/// [`Undiscovered`]. The issuer in the document must be exactly `issuer` (section 4.3), and every endpoint must be an
/// address that the service may call.
pub(crate) fn read(
    issuer: &str,
    status: u16,
    body: &[u8],
    exempt: impl Fn(&str, u16) -> bool,
) -> Result<Document, Undiscovered> {
    if status != 200 {
        return Err(Undiscovered::Status(status));
    }
    let found: Metadata = serde_json::from_slice(body).map_err(Undiscovered::Malformed)?;
    if found.issuer != issuer {
        return Err(Undiscovered::Issuer(found.issuer.chars().take(ISSUER_SHOWN).collect()));
    }
    let endpoint = |name: &'static str, text: &str| {
        let url = RemoteUrl::parse(name, text, &exempt).map_err(|wrong| Undiscovered::Endpoint(name, wrong.message))?;
        // The signature of an identity token is not checked: it comes from the token endpoint over TLS instead (OpenID
        // Connect Core section 3.1.3.7).
        if url.is_confidential() { Ok(url) } else { Err(Undiscovered::Endpoint(name, PLAIN.to_owned())) }
    };
    // Without the list, a provider supports only the header (section 3).
    let methods = found.token_endpoint_auth_methods_supported.unwrap_or_default();
    let userinfo_endpoint = found.userinfo_endpoint.as_deref();
    Ok(Document {
        authorization_endpoint: endpoint("authorization_endpoint", &found.authorization_endpoint)?.as_url().clone(),
        token_endpoint: endpoint("token_endpoint", &found.token_endpoint)?,
        userinfo_endpoint: userinfo_endpoint.map(|text| endpoint("userinfo_endpoint", text)).transpose()?,
        authentication: if methods.iter().any(|method| method == POST) {
            Authentication::Post
        } else {
            Authentication::Basic
        },
    })
}

/// What is kept of earlier fetches.
#[derive(Default)]
struct Kept {
    /// The last valid document, with the time from which it is fetched again.
    document: Option<(Arc<Document>, Timestamp)>,
    /// The number of fetches that failed.
    failures: u64,
}

impl Kept {
    fn document(&self) -> Option<Arc<Document>> {
        self.document.as_ref().map(|(document, _)| Arc::clone(document))
    }

    fn fresh(&self, now: Timestamp) -> Option<Arc<Document>> {
        self.document.as_ref().filter(|(_, until)| now < *until).map(|(document, _)| Arc::clone(document))
    }
}

/// The document of one provider, kept for an hour.
///
/// There is one fetch at a time. A caller with a fresh document never waits, and neither does a caller with an earlier
/// one during a fetch. A caller without a document waits for the fetch in progress and shares its result, so that no
/// queue builds up behind a provider that does not answer.
#[derive(Default)]
pub(crate) struct Discovered {
    kept: RwLock<Kept>,
    turn: Mutex<()>,
}

impl Discovered {
    /// The document, from memory or from `fetch`, which runs only if it is needed.
    ///
    /// # Errors
    /// [`Undiscovered`] if the document cannot be fetched and there is no earlier one.
    pub(crate) async fn document(
        &self,
        now: Timestamp,
        fetch: impl Future<Output = Result<Document, Undiscovered>> + Send,
    ) -> Result<Arc<Document>, Undiscovered> {
        let (fresh, earlier, failures) = self.look(now);
        if let Some(document) = fresh {
            return Ok(document);
        }
        let _turn = match &earlier {
            Some(document) => match self.turn.try_lock() {
                Ok(turn) => turn,
                Err(_) => return Ok(Arc::clone(document)),
            },
            None => self.turn.lock().await,
        };
        // Another caller may have fetched it since then.
        let (fresh, earlier, failures_now) = self.look(now);
        if let Some(document) = fresh {
            return Ok(document);
        }
        if failures_now != failures {
            return earlier.ok_or(Undiscovered::JustFailed);
        }
        match fetch.await {
            Ok(document) => {
                let document = Arc::new(document);
                self.change(|kept| kept.document = Some((Arc::clone(&document), now + LASTS)));
                Ok(document)
            }
            Err(error) => {
                self.change(|kept| {
                    kept.failures += 1;
                    if let Some((_, until)) = &mut kept.document {
                        *until = now + RETRY_AFTER;
                    }
                });
                let Some(earlier) = earlier else { return Err(error) };
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "a provider's discovery document cannot be renewed; the earlier one is used"
                );
                Ok(earlier)
            }
        }
    }

    /// The fresh document, the last document, and the number of failures.
    fn look(&self, now: Timestamp) -> (Option<Arc<Document>>, Option<Arc<Document>>, u64) {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        (kept.fresh(now), kept.document(), kept.failures)
    }

    fn change(&self, change: impl FnOnce(&mut Kept)) {
        change(&mut self.kept.write().unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};
    use tokio::sync::oneshot;

    use super::*;

    const ISSUER: &str = "https://id.example.com/realms/staff";
    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn complete() -> Value {
        json!({
            "issuer": ISSUER,
            "authorization_endpoint": "https://id.example.com/authorize?prompt=login",
            "token_endpoint": "https://id.example.com/token",
            "userinfo_endpoint": "https://id.example.com/userinfo",
            "jwks_uri": "https://id.example.com/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        })
    }

    /// The complete document with these fields replaced. Null removes a field.
    fn but(fields: &Value) -> Vec<u8> {
        let mut document = complete();
        let given = document.as_object_mut().unwrap();
        given.extend(fields.as_object().unwrap().clone());
        given.retain(|_, value| !value.is_null());
        document.to_string().into_bytes()
    }

    fn read_public(body: &[u8]) -> Result<Document, Undiscovered> {
        read(ISSUER, 200, body, |_, _| false)
    }

    #[test]
    fn a_document_is_read() {
        let document = read_public(&but(&json!({}))).unwrap();
        assert_eq!(document.authorization_endpoint.as_str(), "https://id.example.com/authorize?prompt=login");
        assert_eq!(document.token_endpoint.as_str(), "https://id.example.com/token");
        assert_eq!(document.userinfo_endpoint.unwrap().as_str(), "https://id.example.com/userinfo");
        assert!(read_public(&but(&json!({ "userinfo_endpoint": null }))).unwrap().userinfo_endpoint.is_none());
    }

    #[rstest]
    #[case::slash("https://id.example.com/", "https://id.example.com/.well-known/openid-configuration")]
    #[case::path(ISSUER, "https://id.example.com/realms/staff/.well-known/openid-configuration")]
    fn the_address_follows_from_the_issuer(#[case] issuer: &str, #[case] expected: &str) {
        assert_eq!(address(issuer), expected);
    }

    #[rstest]
    #[case::both(json!(["client_secret_basic", "client_secret_post"]), Authentication::Post)]
    #[case::only_basic(json!(["client_secret_basic"]), Authentication::Basic)]
    #[case::another_method(json!(["private_key_jwt"]), Authentication::Basic)]
    #[case::nothing(json!([]), Authentication::Basic)]
    #[case::no_list(json!(null), Authentication::Basic)]
    fn the_secret_goes_where_the_provider_takes_it(#[case] methods: Value, #[case] expected: Authentication) {
        let body = but(&json!({ "token_endpoint_auth_methods_supported": methods }));
        assert_eq!(read_public(&body).unwrap().authentication, expected);
    }

    #[rstest]
    #[case::another("https://evil.example")]
    #[case::a_slash_more("https://id.example.com/realms/staff/")]
    #[case::a_longer_one("https://id.example.com/realms/staff2")]
    #[case::other_case("https://ID.example.com/realms/staff")]
    fn another_issuer_is_refused(#[case] issuer: &str) {
        let refused = read_public(&but(&json!({ "issuer": issuer })));
        assert!(matches!(&refused, Err(Undiscovered::Issuer(found)) if found == issuer), "{refused:?}");
    }

    #[rstest]
    #[case::authorization("authorization_endpoint")]
    #[case::token("token_endpoint")]
    #[case::userinfo("userinfo_endpoint")]
    fn endpoints_must_be_public_or_allowed(#[case] name: &'static str) {
        for url in [
            "http://id.example.com/x",
            "/x",
            "//id.example.com/x",
            "https://127.0.0.1/x",
            "https://id.local/x",
            "javascript:alert(1)",
            "",
        ] {
            let refused = read_public(&but(&json!({ name: url })));
            assert!(matches!(&refused, Err(Undiscovered::Endpoint(wrong, _)) if *wrong == name), "{url}: {refused:?}");
        }
        let local = but(&json!({ name: "http://127.0.0.1:9000/x" }));
        let exempt = |host: &str, port: u16| host == "127.0.0.1" && port == 9_000;
        assert!(read(ISSUER, 200, &local, exempt).is_ok());
        // In the operator's network, a host may be private, but somebody may be on the way to it.
        let exempt = |host: &str, port: u16| host == "10.0.0.7" && port == 9_000;
        for (scheme, is_accepted) in [("https", true), ("http", false)] {
            let near = but(&json!({ name: format!("{scheme}://10.0.0.7:9000/x") }));
            assert_eq!(read(ISSUER, 200, &near, exempt).is_ok(), is_accepted, "{scheme}");
        }
    }

    #[rstest]
    #[case::no_issuer(json!({ "issuer": null }))]
    #[case::no_authorization_endpoint(json!({ "authorization_endpoint": null }))]
    #[case::no_token_endpoint(json!({ "token_endpoint": null }))]
    #[case::no_text(json!({ "token_endpoint": 1 }))]
    #[case::no_list(json!({ "token_endpoint_auth_methods_supported": "client_secret_post" }))]
    fn incomplete_documents_are_refused(#[case] fields: Value) {
        let refused = read_public(&but(&fields));
        assert!(matches!(refused, Err(Undiscovered::Malformed(_))), "{refused:?}");
    }

    #[test]
    fn other_answers_are_refused() {
        let refused = read_public(b"<html>");
        assert!(matches!(refused, Err(Undiscovered::Malformed(_))), "{refused:?}");
        for status in [201, 302, 404, 500] {
            let refused = read(ISSUER, status, &but(&json!({})), |_, _| false);
            assert!(matches!(refused, Err(Undiscovered::Status(found)) if found == status), "{refused:?}");
        }
    }

    /// A document that differs from that of another number.
    fn numbered(number: u8) -> Document {
        let body = but(&json!({ "token_endpoint": format!("https://id.example.com/token/{number}") }));
        read_public(&body).unwrap()
    }

    async fn fetched(number: u8) -> Result<Document, Undiscovered> {
        Ok(numbered(number))
    }

    async fn failed() -> Result<Document, Undiscovered> {
        Err(Undiscovered::Status(500))
    }

    /// A fetch that must not happen.
    async fn unwanted() -> Result<Document, Undiscovered> {
        panic!("the document was fetched")
    }

    #[tokio::test]
    async fn a_document_is_kept_for_an_hour() {
        let discovered = Discovered::default();
        assert_eq!(*discovered.document(NOW, fetched(1)).await.unwrap(), numbered(1));
        let last = NOW + LASTS - SignedDuration::micros(1);
        assert_eq!(*discovered.document(last, unwanted()).await.unwrap(), numbered(1));
        assert_eq!(*discovered.document(NOW + LASTS, fetched(2)).await.unwrap(), numbered(2));
        assert_eq!(*discovered.document(NOW + LASTS, unwanted()).await.unwrap(), numbered(2));
    }

    #[tokio::test]
    async fn an_earlier_document_outlives_a_failure() {
        let discovered = Discovered::default();
        discovered.document(NOW, fetched(1)).await.unwrap();
        let later = NOW + LASTS;
        assert_eq!(*discovered.document(later, failed()).await.unwrap(), numbered(1));
        let last = later + RETRY_AFTER - SignedDuration::micros(1);
        assert_eq!(*discovered.document(last, unwanted()).await.unwrap(), numbered(1));
        assert_eq!(*discovered.document(later + RETRY_AFTER, fetched(2)).await.unwrap(), numbered(2));
    }

    #[tokio::test]
    async fn without_a_document_each_caller_tries() {
        let discovered = Discovered::default();
        let refused = discovered.document(NOW, failed()).await;
        assert!(matches!(refused, Err(Undiscovered::Status(500))), "{refused:?}");
        assert_eq!(*discovered.document(NOW, fetched(1)).await.unwrap(), numbered(1));
    }

    /// The results of two callers at once: the first one's fetch has `result`, and the second one must not fetch.
    async fn at_once(
        discovered: &Discovered,
        now: Timestamp,
        result: Result<Document, Undiscovered>,
    ) -> [Result<Arc<Document>, Undiscovered>; 2] {
        let (answer, answered) = oneshot::channel();
        let first = discovered.document(now, async move { answered.await.unwrap() });
        let second = discovered.document(now, unwanted());
        // They are polled in this order, so the answer comes when both wait for it.
        let (first, second, ()) = tokio::join!(first, second, async move { answer.send(result).unwrap() });
        [first, second]
    }

    #[tokio::test]
    async fn callers_without_a_document_share_one_fetch() {
        let discovered = Discovered::default();
        let [first, second] = at_once(&discovered, NOW, failed().await).await;
        assert!(matches!(first, Err(Undiscovered::Status(500))), "{first:?}");
        assert!(matches!(second, Err(Undiscovered::JustFailed)), "{second:?}");
        let [first, second] = at_once(&discovered, NOW, fetched(1).await).await;
        assert_eq!((*first.unwrap() == numbered(1), *second.unwrap() == numbered(1)), (true, true));
    }

    #[tokio::test]
    async fn a_caller_with_an_earlier_document_does_not_wait() {
        let discovered = Discovered::default();
        discovered.document(NOW, fetched(1)).await.unwrap();
        let [first, second] = at_once(&discovered, NOW + LASTS, fetched(2).await).await;
        assert_eq!((*first.unwrap() == numbered(2), *second.unwrap() == numbered(1)), (true, true));
    }
}
