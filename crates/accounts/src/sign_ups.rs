//! Who may create an account on this server.

/// Who may sign up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SignUps {
    /// Everybody.
    #[default]
    Open,
    /// People who hold an invitation to an organization.
    Invited,
    /// Nobody.
    Closed,
}

impl SignUps {
    /// Every policy.
    pub const ALL: [Self; 3] = [Self::Open, Self::Invited, Self::Closed];

    /// The name in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Invited => "invited",
            Self::Closed => "closed",
        }
    }

    /// The policy with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.as_str() == name)
    }

    /// Whether a person may sign up. `is_invited` says whether they proved that they received an invitation.
    pub const fn admits(self, is_invited: bool) -> bool {
        match self {
            Self::Open => true,
            Self::Invited => is_invited,
            Self::Closed => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_invited_people_sign_up_if_sign_up_is_not_open() {
        let admitted = SignUps::ALL.map(|policy| (policy.admits(false), policy.admits(true)));
        assert_eq!(admitted, [(true, true), (false, true), (false, false)]);
        for policy in SignUps::ALL {
            assert_eq!(SignUps::from_name(policy.as_str()), Some(policy));
        }
        assert_eq!(SignUps::from_name("OPEN"), None);
    }
}
