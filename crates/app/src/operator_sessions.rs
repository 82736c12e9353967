//! Who is the operator: the token on the administration routes, and the sessions on the operator's pages. Nothing is
//! stored: a session is its cookie.

use std::net::IpAddr;

use kalends_accounts::{AdminToken, OperatorSession, Provenance, check_provenance, is_seal};
use kalends_plans::IpLane;
use kalends_time::Timestamp;

use crate::{App, Refusal};

impl App {
    /// Whether there are pages for the operator.
    pub const fn has_operator_pages(&self) -> bool {
        self.parts.settings.admin_token.is_some()
    }

    /// Admits a request to an administration route that presents the token.
    ///
    /// # Errors
    /// [`Refusal::Unauthorized`] if it is not the token, or if there is none. [`Refusal::TooFast`] after too many wrong
    /// ones.
    pub async fn admit_operator(&self, presented: Option<&str>, address: Option<IpAddr>) -> Result<(), Refusal> {
        let presented = presented.ok_or(Refusal::Unauthorized)?;
        let admitted = self.check_token(presented, address).await;
        if matches!(admitted, Err(Refusal::Unauthorized)) {
            tracing::warn!("somebody called an administration route with a wrong token");
        }
        admitted.map(drop)
    }

    /// Begins a session of the operator, who presents the token. Returns the value of its cookie.
    ///
    /// # Errors
    /// As [`Self::admit_operator`].
    pub async fn sign_in_operator(&self, presented: &str, address: Option<IpAddr>) -> Result<String, Refusal> {
        let admitted = self.check_token(presented, address).await;
        if matches!(admitted, Err(Refusal::Unauthorized)) {
            tracing::warn!("somebody tried to sign in to the operator's pages with a wrong token");
        }
        let token = admitted?;
        let session = OperatorSession::begin(self.now());
        let cookie = session.cookie(&self.parts.tokens.sign(&session.claims(token))?);
        tracing::info!("the operator signed in to the operator's pages");
        Ok(cookie)
    }

    /// The token, if it is the one presented. Wrong ones are limited by address. Beyond that rate, the right one is
    /// refused too, since it could be a guess. The right one uses up nothing.
    async fn check_token(&self, presented: &str, address: Option<IpAddr>) -> Result<&AdminToken, Refusal> {
        let gate = self.gate_of_address(IpLane::Operator, address).await?;
        let token = self.parts.settings.admin_token.as_ref().filter(|token| token.opens(presented));
        let token = token.ok_or(Refusal::Unauthorized)?;
        if let Some(gate) = gate {
            gate.give_back().await;
        }
        Ok(token)
    }

    /// When the session of the cookie ends; `None` if it has ended, or is not one that the current token began.
    pub fn operator_session(&self, cookie: &str) -> Option<Timestamp> {
        let token = self.parts.settings.admin_token.as_ref()?;
        let (session, seal) = OperatorSession::read(cookie, self.now())?;
        let signed = self.parts.tokens.sign(&session.claims(token)).ok()?;
        is_seal(seal, &signed).then(|| session.ends_at())
    }

    /// Whether a form with the operator's cookie may come from that origin. A browser has to state that it is this
    /// server's.
    ///
    /// # Errors
    /// [`Refusal::CrossSite`].
    pub fn admit_operator_form(&self, from: Provenance<'_>) -> Result<(), Refusal> {
        Ok(check_provenance(true, from, &self.origins)?)
    }
}
