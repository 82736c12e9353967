//! What a key of an agent reaches beyond its own agent.

use std::fmt;

/// One permission of an agent's key beyond its own agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Scope {
    /// When anyone in the organization is free or busy, without what they do then.
    FreebusyOrg,
    /// The names of the organization's agents and shared calendars.
    DirectoryOrg,
    /// Placing hold sets on calendars of others.
    HoldsOrg,
}

impl Scope {
    /// Every scope, in order.
    pub const ALL: [Self; 3] = [Self::FreebusyOrg, Self::DirectoryOrg, Self::HoldsOrg];

    /// The name in requests, answers and stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FreebusyOrg => "freebusy:org",
            Self::DirectoryOrg => "directory:org",
            Self::HoldsOrg => "holds:org",
        }
    }

    /// The scope with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The scopes of a key: a set in the order of [`Scope::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Scopes(u8);

impl Scopes {
    /// No scope. The key reaches its own agent only.
    pub const NONE: Self = Self(0);

    /// These scopes and one more. It may be among them already.
    #[must_use]
    pub const fn with(self, scope: Scope) -> Self {
        Self(self.0 | scope.bit())
    }

    /// Whether the scope is among them.
    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The scopes, in order.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.contains(*scope))
    }

    /// The names in order, each after a space except the first. Stores keep this text.
    pub fn to_text(self) -> String {
        self.iter().map(Scope::as_str).collect::<Vec<_>>().join(" ")
    }

    /// The scopes that a text names, with white space in between. Other names are ignored: clients of OAuth ask for scopes
    /// that many servers have, such as `openid`.
    pub fn known_in(text: &str) -> Self {
        text.split_whitespace().filter_map(Scope::from_name).collect()
    }

    /// Reads [`Self::to_text`].
    ///
    /// # Errors
    /// [`UnknownScope`].
    pub fn from_text(text: &str) -> Result<Self, UnknownScope> {
        let read = |name: &str| Scope::from_name(name).ok_or_else(|| UnknownScope(name.chars().take(40).collect()));
        text.split_whitespace().map(read).collect()
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<T: IntoIterator<Item = Scope>>(scopes: T) -> Self {
        scopes.into_iter().fold(Self::NONE, Self::with)
    }
}

/// A name that no scope has. It holds the first characters of the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownScope(pub String);

impl fmt::Display for UnknownScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "must be one of {}, got {:?}", Scope::ALL.map(Scope::as_str).join(", "), self.0)
    }
}

impl std::error::Error for UnknownScope {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", Some(Scopes::NONE))]
    #[case("holds:org", Some(Scopes::NONE.with(Scope::HoldsOrg)))]
    #[case("holds:org freebusy:org holds:org", Some(Scopes::NONE.with(Scope::FreebusyOrg).with(Scope::HoldsOrg)))]
    #[case("Holds:org", None)]
    #[case("holds:org,freebusy:org", None)]
    fn scopes_are_read_by_name(#[case] text: &str, #[case] expected: Option<Scopes>) {
        assert_eq!(Scopes::from_text(text).ok(), expected);
    }

    #[rstest]
    #[case("", Scopes::NONE)]
    #[case("openid holds:org  offline_access", Scopes::NONE.with(Scope::HoldsOrg))]
    #[case("Holds:org holds:org,freebusy:org", Scopes::NONE)]
    fn unknown_scopes_can_be_ignored(#[case] text: &str, #[case] expected: Scopes) {
        assert_eq!(Scopes::known_in(text), expected);
    }

    #[test]
    fn an_unknown_scope_is_answered_with_the_known_ones() {
        let message = Scopes::from_text("events:org").unwrap_err().to_string();
        assert_eq!(message, "must be one of freebusy:org, directory:org, holds:org, got \"events:org\"");
    }

    proptest! {
        /// The text of any set of scopes reads as the same set, in order and without duplicates.
        #[test]
        fn scopes_survive_their_text(chosen in proptest::collection::vec(0usize..Scope::ALL.len(), 0..8)) {
            let scopes: Scopes = chosen.iter().map(|index| Scope::ALL[*index]).collect();
            prop_assert_eq!(Scopes::from_text(&scopes.to_text()), Ok(scopes));
            let listed: Vec<Scope> = scopes.iter().collect();
            prop_assert!(listed.is_sorted_by(|one, next| one < next));
            for (index, scope) in Scope::ALL.into_iter().enumerate() {
                prop_assert_eq!(scopes.contains(scope), chosen.contains(&index));
            }
            prop_assert_eq!(scopes.is_empty(), chosen.is_empty());
        }
    }
}
