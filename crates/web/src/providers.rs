//! The ways in which users connect accounts at the providers.

/// The providers that are connected by a form of their own, and not by consent.
const OTHERS: [&str; 2] = ["caldav", "example"];

/// Those of the providers that ask users for consent.
pub(crate) fn consenting(providers: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    providers.iter().copied().filter(|(name, _)| !OTHERS.contains(name)).collect()
}

/// Whether the provider with that name is among them.
pub(crate) fn takes(providers: &[(&'static str, &'static str)], name: &str) -> bool {
    providers.iter().any(|(known, _)| *known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_provider_is_connected_in_one_way() {
        let providers = [("google", "Google"), ("caldav", "CalDAV"), ("example", "Example calendar")];
        assert_eq!(consenting(&providers), [("google", "Google")]);
        assert!(takes(&providers, "caldav") && takes(&providers, "example") && !takes(&providers, "microsoft"));
        assert!(!takes(&providers[..1], "caldav"));
    }
}
