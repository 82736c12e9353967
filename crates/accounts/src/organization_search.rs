//! What the operator searches the organizations of the server for.

use kalends_kernel::OrgId;
use kalends_plans::Plan;

use crate::{Organization, Waitlist};

/// A search of the organizations of the server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OrganizationSearch {
    text: String,
    org: Option<OrgId>,
    /// Only organizations on this plan.
    pub plan: Option<Plan>,
    /// Only organizations that wait to be admitted, or only those that do not.
    pub waiting: Option<bool>,
}

impl OrganizationSearch {
    /// A search for a part of the name or of the address, or for a whole identifier. An empty text matches all
    /// organizations. Letters from A to Z match in upper and lower case. Control characters are left out.
    pub fn new(text: &str, plan: Option<Plan>, waiting: Option<bool>) -> Self {
        let text: String = text.chars().filter(|letter| !letter.is_control()).collect();
        let text = text.trim();
        Self { text: text.to_ascii_lowercase(), org: text.parse().ok(), plan, waiting }
    }

    /// The part of the name or of the address, with lower-case letters from a to z; empty if all match.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The identifier, if the text is one.
    pub const fn org(&self) -> Option<OrgId> {
        self.org
    }

    /// Whether the organization matches.
    pub fn matches(&self, organization: &Organization) -> bool {
        let contains = |text: &str| text.to_ascii_lowercase().contains(&self.text);
        let found = self.org == Some(organization.id)
            || contains(organization.name.as_str())
            || organization.email.as_ref().is_some_and(|email| contains(email.as_str()));
        found
            && self.plan.is_none_or(|plan| plan == organization.plan)
            && self.waiting.is_none_or(|waiting| waiting == (organization.waitlist != Waitlist::Active))
    }
}

/// How many organizations there are on the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OrganizationCounts {
    /// All of them.
    pub total: u64,
    /// Those on the waiting list.
    pub waiting: u64,
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", "")]
    #[case("  Acme ", "acme")]
    #[case("A\0c\nme", "acme")]
    #[case("ÉCOLE", "École")]
    fn a_text_is_trimmed_and_in_lower_case(#[case] given: &str, #[case] kept: &str) {
        let search = OrganizationSearch::new(given, None, None);
        assert_eq!((search.text(), search.org()), (kept, None));
    }

    #[test]
    fn an_identifier_is_recognized() {
        let org = OrgId::from_bytes([7; 16]);
        assert_eq!(OrganizationSearch::new(&format!(" {org}"), None, None).org(), Some(org));
    }
}
