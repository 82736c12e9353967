//! Parses the request into values of the domain.

use kalends_accounts::oauth::{ReturnTo, parse_terms_version};
use kalends_kernel::FieldErrors;

use super::SignInWith;

impl SignInWith {
    /// Returns the version of the terms and the page to return to.
    ///
    /// # Errors
    /// If the version is out of bounds or the page is unknown.
    pub fn parse(&self) -> Result<(Option<String>, Option<ReturnTo>), FieldErrors> {
        let terms = self.tos_version.as_deref().map(parse_terms_version).transpose()?;
        let page = self.return_to.as_deref().map(|name| ReturnTo::parse("return_to", name)).transpose()?;
        Ok((terms, page))
    }
}
