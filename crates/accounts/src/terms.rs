//! Terms of service and their acceptance.

use kalends_kernel::{CivilDate, Instant};

/// The terms now in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// An opaque version.
    pub version: String,
    /// The day on which it took effect.
    pub effective_at: CivilDate,
    /// Where it can be read.
    pub url: String,
    /// Whether organizations that accepted another version are told so by a header.
    pub material: bool,
}

/// An organization's acceptance of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acceptance {
    /// The version.
    pub version: String,
    /// When it was accepted.
    pub at: Instant,
}

/// The version that a caller accepts is not the current one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tos_version must be the current version {current:?}; read it at GET /v1/auth/terms/current")]
pub struct StaleTerms {
    /// The current version.
    pub current: String,
}

impl Terms {
    /// The acceptance of `version` at `now`.
    ///
    /// # Errors
    /// [`StaleTerms`] where `version` is not current.
    pub fn accept(&self, version: &str, now: Instant) -> Result<Acceptance, StaleTerms> {
        if version == self.version {
            Ok(Acceptance { version: version.to_owned(), at: now })
        } else {
            Err(StaleTerms { current: self.version.clone() })
        }
    }

    /// Whether an organization that last accepted `accepted` must be told of these terms.
    pub fn to_announce(&self, accepted: Option<&str>) -> bool {
        self.material && accepted != Some(self.version.as_str())
    }
}
