//! Test doubles for everything outside of the service.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use kalends_accounts::SessionClaims;
use kalends_app::ports::{
    CredentialsError, FeedFetcher, FetchError, FetchedFeed, HumanCalendars, HumanSeen, SessionTokens, WebhookPost,
    WebhookReply, WebhookSender,
};
use kalends_bridge::HumanBusy;
use kalends_calendars::ports::{BusySource, LivingAgent};
use kalends_feeds::sync::Validators;
use kalends_kernel::HumanSource;
use kalends_kernel::{Entropy, OrgId, StoreError, base64url};
use kalends_notifications::Outcome;
use kalends_remote::RemoteUrl;
use kalends_testkit::SeededEntropy;
use kalends_time::Span;
use sha2::{Digest as _, Sha256};

/// Random bytes that are derived from the request for which they are drawn. A request that is added to the scenario
/// then does not change the identifiers of the others. Clones share their state.
#[derive(Debug, Clone, Default)]
pub(super) struct Draws(Arc<Mutex<SeededEntropy>>);

impl Draws {
    /// Starts again with bytes that are derived from `text`.
    pub(super) fn follow(&self, text: &str) {
        let seed = Sha256::digest(text).first_chunk().copied().map_or(0, u64::from_le_bytes);
        *self.0.lock().unwrap() = SeededEntropy::new(seed);
    }
}

impl Entropy for Draws {
    fn fill(&self, bytes: &mut [u8]) {
        self.0.lock().unwrap().fill(bytes);
    }
}

/// Tokens in the format of real ones, without a real signature.
#[derive(Debug, Default)]
pub(super) struct Tokens(Mutex<BTreeMap<String, String>>);

impl SessionTokens for Tokens {
    fn sign(&self, claims: &SessionClaims) -> Result<String, CredentialsError> {
        let claims = serde_json::to_string(claims).map_err(CredentialsError::failed)?;
        let parts = [r#"{"alg":"HS256","typ":"JWT"}"#, &claims, "a signature of 32 bytes in length"];
        let token = parts.map(|part| base64url(part.as_bytes())).join(".");
        self.0.lock().unwrap().insert(token.clone(), claims);
        Ok(token)
    }

    fn read(&self, token: &str) -> Option<SessionClaims> {
        serde_json::from_str(self.0.lock().unwrap().get(token)?).ok()
    }
}

/// A webhook receiver that accepts everything after a delay.
#[derive(Debug)]
pub(super) struct Receiver {
    /// The delay.
    pub(super) after: Duration,
}

#[async_trait]
impl WebhookSender for Receiver {
    fn exempts(&self, _: &str, _: u16) -> bool {
        false
    }

    async fn post(&self, _: WebhookPost) -> WebhookReply {
        if !self.after.is_zero() {
            tokio::time::sleep(self.after).await;
        }
        WebhookReply { outcome: Outcome::Accepted(204), problem: None }
    }
}

/// A server with one feed.
#[derive(Debug)]
pub(super) struct FeedServer(pub &'static str);

#[async_trait]
impl FeedFetcher for FeedServer {
    async fn fetch(&self, _: &RemoteUrl, _: &Validators) -> Result<FetchedFeed, FetchError> {
        let validators = Validators { etag: Some("\"1\"".to_owned()), last_modified: None };
        Ok(FetchedFeed::Full { body: self.0.as_bytes().into(), validators })
    }
}

/// No human calendars, or a database of them that fails. Clones share their state.
#[derive(Debug, Clone, Default)]
pub(super) struct Humans(Arc<Mutex<Trouble>>);

/// A problem of the database.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Trouble {
    /// No problem.
    #[default]
    None,
    /// The database does not answer.
    Away,
    /// The database fails.
    Broken,
}

impl Humans {
    /// Causes this problem from now on.
    pub(super) fn fail_with(&self, trouble: Trouble) {
        *self.0.lock().unwrap() = trouble;
    }
}

#[async_trait]
impl HumanCalendars for Humans {
    async fn human_sources(&self, _: OrgId, _: &[BusySource]) -> Result<Vec<HumanSeen>, StoreError> {
        match *self.0.lock().unwrap() {
            Trouble::None => Ok(Vec::new()),
            Trouble::Away => Err(StoreError::Unavailable("it is away".into())),
            Trouble::Broken => Err(StoreError::Failed("it is broken".into())),
        }
    }

    async fn human_sources_of_agents(&self, org: OrgId, _: &[LivingAgent]) -> Result<Vec<HumanSeen>, StoreError> {
        self.human_sources(org, &[]).await
    }

    async fn human_busy(&self, _: OrgId, _: &[HumanSource], _: Span) -> Result<Vec<HumanBusy>, StoreError> {
        Ok(Vec::new())
    }
}
