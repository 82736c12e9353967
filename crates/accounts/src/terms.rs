//! The terms of service and their acceptance.

use kalends_kernel::OrgId;
use kalends_time::{CivilDate, Timestamp};

/// The header that announces terms that the organization has not accepted.
pub const TERMS_UPGRADE_HEADER: &str = "service-terms-upgrade-required";

/// The terms in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// An opaque version.
    pub version: String,
    /// The day on which it took effect.
    pub effective_at: CivilDate,
    /// The URL at which the terms can be read.
    pub url: String,
    /// Whether a header announces the terms to organizations that accepted another version.
    pub material: bool,
}

/// An organization's acceptance of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acceptance {
    /// The version.
    pub version: String,
    /// When it was accepted.
    pub at: Timestamp,
}

/// A recorded acceptance. Records are never changed or removed. Those of a deleted organization stay, without its
/// identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptanceRecord {
    /// The organization; `None` once its account is deleted.
    pub org: Option<OrgId>,
    /// The accepted version and the time.
    pub acceptance: Acceptance,
}

impl AcceptanceRecord {
    /// The record after the organization's account was deleted.
    #[must_use]
    pub fn without_organization(self) -> Self {
        Self { org: None, ..self }
    }
}

/// The caller accepts a version that is not the current one.
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
    /// [`StaleTerms`] if `version` is not current.
    pub fn accept(&self, version: &str, now: Timestamp) -> Result<Acceptance, StaleTerms> {
        if version == self.version {
            Ok(Acceptance { version: version.to_owned(), at: now })
        } else {
            Err(StaleTerms { current: self.version.clone() })
        }
    }

    /// Whether these terms must be announced to an organization that last accepted `accepted`.
    fn to_announce(&self, accepted: Option<&str>) -> bool {
        self.material && accepted != Some(self.version.as_str())
    }

    /// The value of [`TERMS_UPGRADE_HEADER`] for an organization that last accepted `accepted`: the new version, or
    /// nothing. Only material terms are announced. A version that does not fit in a header is not.
    pub fn upgrade_header(&self, accepted: Option<&str>) -> Option<&str> {
        let fits = !self.version.is_empty() && self.version.bytes().all(|byte| byte.is_ascii_graphic());
        (fits && self.to_announce(accepted)).then_some(self.version.as_str())
    }
}

#[cfg(test)]
mod tests {
    use kalends_kernel::{Entropy, Version};
    use kalends_plans::Plan;
    use rstest::rstest;

    use super::*;
    use crate::{OrgName, Organization, SignUpSource, Waitlist};

    struct Sevens;
    impl Entropy for Sevens {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(7);
        }
    }

    fn terms(version: &str, material: bool) -> Terms {
        Terms {
            version: version.to_owned(),
            effective_at: CivilDate::new(2026, 1, 1).unwrap(),
            url: "https://calendar.example.com/terms".to_owned(),
            material,
        }
    }

    #[rstest]
    #[case::accepted("2026-01-01", true, Some("2026-01-01"), None)]
    #[case::another("2026-02-01", true, Some("2026-01-01"), Some("2026-02-01"))]
    #[case::a_newer_one_is_another_too("2026-01-01", true, Some("2026-02-01"), Some("2026-01-01"))]
    #[case::none_yet("2026-01-01", true, None, Some("2026-01-01"))]
    #[case::immaterial("2026-02-01", false, Some("2026-01-01"), None)]
    #[case::immaterial_and_none_yet("2026-01-01", false, None, None)]
    #[case::no_header_can_carry_it("a\r\nb", true, None, None)]
    #[case::empty("", true, None, None)]
    fn only_material_unaccepted_terms_are_announced(
        #[case] version: &str,
        #[case] material: bool,
        #[case] accepted: Option<&str>,
        #[case] header: Option<&str>,
    ) {
        assert_eq!(terms(version, material).upgrade_header(accepted), header);
    }

    #[rstest]
    #[case("2026-01-01", true)]
    #[case("2026-01-02", false)]
    #[case("", false)]
    #[case("2026-01-01 ", false)]
    fn only_the_current_version_is_accepted(#[case] version: &str, #[case] current: bool) {
        let now = Timestamp::from_micros(5);
        let accepted = terms("2026-01-01", true).accept(version, now);
        let expected = if current {
            Ok(Acceptance { version: version.to_owned(), at: now })
        } else {
            Err(StaleTerms { current: "2026-01-01".to_owned() })
        };
        assert_eq!(accepted, expected);
    }

    #[test]
    fn accepted_terms_are_no_longer_announced() {
        let now = Timestamp::from_micros(5);
        let organization = Organization {
            id: OrgId::new(now, &Sevens),
            name: OrgName::parse("name", "Ada").unwrap(),
            plan: Plan::Free,
            limit_overrides: None,
            test: false,
            email: None,
            verified_at: None,
            waitlist: Waitlist::Active,
            source: SignUpSource::Operator,
            accepted: None,
            reply_to: crate::ReplyTo::default(),
            version: Version::FIRST,
            created_at: now,
        };
        let terms = terms("2026-01-01", true);
        let (accepted, record) = terms.accept_for(&organization, "2026-01-01", now).unwrap();
        assert_eq!(accepted.version, organization.version.next());
        assert_eq!(accepted.accepted.as_ref(), Some(&record.acceptance));
        assert_eq!(record.org, Some(organization.id));
        assert_eq!(record.clone().without_organization(), AcceptanceRecord { org: None, ..record });
        let version = accepted.accepted.as_ref().map(|acceptance| acceptance.version.as_str());
        assert_eq!(terms.upgrade_header(version), None);
        assert!(terms.accept_for(&accepted, "2026-01-01", now).is_ok(), "accepting again is not an error");
        assert!(terms.accept_for(&organization, "2025-01-01", now).is_err());
    }
}
