//! Who is the operator: the token on the administration routes, and the sessions on the operator's pages. Nothing is
//! stored: a session is its cookie.

use std::net::IpAddr;

use kalends_accounts::{OperatorSession, Provenance, check_provenance, is_seal};
use kalends_plans::IpLane;
use kalends_time::Timestamp;

use crate::{App, Refusal};

impl App {
    /// Whether there are pages for the operator.
    pub const fn has_operator_pages(&self) -> bool {
        self.parts.settings.admin_token.is_some()
    }

    /// Admits an attempt to sign in as the operator, up to the rate of sign-ins for one address.
    ///
    /// # Errors
    /// [`Refusal::TooFast`].
    pub async fn pace_operator(&self, address: Option<IpAddr>) -> Result<(), Refusal> {
        self.pace_address(IpLane::SignIn, address).await
    }

    /// Admits a request to an administration route that presents the token. A wrong token counts as an attempt to sign
    /// in from the address. Beyond that rate, the right one is refused too, since it could be a guess. A request with the
    /// right token, or with none, uses up nothing.
    ///
    /// # Errors
    /// [`Refusal::Unauthorized`] if it is not the token, or if there is none. [`Refusal::TooFast`].
    pub async fn admit_operator(&self, presented: Option<&str>, address: Option<IpAddr>) -> Result<(), Refusal> {
        let presented = presented.ok_or(Refusal::Unauthorized)?;
        let gate = self.gate_of_address(IpLane::SignIn, address).await?;
        if !self.parts.settings.admin_token.as_ref().is_some_and(|token| token.opens(presented)) {
            tracing::warn!("somebody called an administration route with a wrong token");
            return Err(Refusal::Unauthorized);
        }
        if let Some(gate) = gate {
            gate.give_back().await;
        }
        Ok(())
    }

    /// Begins a session of the operator, who presents the token. Returns the value of its cookie.
    ///
    /// # Errors
    /// [`Refusal::Unauthorized`] if it is not the token, or if there is none.
    pub fn sign_in_operator(&self, presented: &str) -> Result<String, Refusal> {
        let token = self.parts.settings.admin_token.as_ref().filter(|token| token.opens(presented));
        let Some(token) = token else {
            tracing::warn!("somebody tried to sign in to the operator's pages with a wrong token");
            return Err(Refusal::Unauthorized);
        };
        let session = OperatorSession::begin(self.now());
        let cookie = session.cookie(&self.parts.tokens.sign(&session.claims(token))?);
        tracing::info!("the operator signed in to the operator's pages");
        Ok(cookie)
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
