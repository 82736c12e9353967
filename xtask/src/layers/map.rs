//! The map in the documentation lists every crate.

use super::Violation;
use super::model::Model;

const MAP: &str = "docs/contribute/architecture.md";

pub(super) fn check(model: &Model) -> Vec<Violation> {
    let Some(map) = model.file(MAP) else {
        return vec![Violation::new(MAP, "the map of the crates is missing")];
    };
    let is_named = |name: &str| [format!("`{name}`"), format!("`kalends-{name}`")].iter().any(|n| map.text.contains(n));
    let missing = model.crates().filter(|(name, _)| !is_named(name));
    missing.map(|(name, _)| Violation::new(MAP, format!("`{name}` is not on the map"))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::model::{Model, fixture};
    use super::*;

    fn with_map(text: &str) -> Model {
        let crates = fixture::crates(&[("mail", &[]), ("http", &[])]);
        Model { files: fixture::files(&[(MAP, text)]).files, ..crates }
    }

    #[test]
    fn each_crate_is_listed_in_backticks() {
        assert!(check(&with_map("| `mail`, `kalends-http` |")).is_empty());
        assert_eq!(check(&with_map("| `http` sends mail |"))[0].what, "`mail` is not on the map");
    }

    #[test]
    fn a_missing_map_is_a_violation() {
        assert_eq!(check(&fixture::crates(&[]))[0].what, "the map of the crates is missing");
    }
}
