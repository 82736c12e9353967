//! Which crate may depend on which.

use super::model::Model;
use super::{IMPURE, Layer, RESERVED, SHARED, Violation, is_pure, place};
use crate::workspace::{Dependency, Kind};

/// The prefix of our packages.
const PREFIX: &str = "kalends-";

pub(super) fn check(model: &Model) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (name, package) in model.crates() {
        let mut broken = |what: String| violations.push(Violation::new(format!("crates/{name}/Cargo.toml"), what));
        if package.name.strip_prefix(PREFIX) != Some(name) {
            broken(format!("the package in this folder must be called {PREFIX}{name}, not {}", package.name));
        }
        if place(name).is_none() {
            broken(format!("`{name}` is missing from the table in xtask/src/layers.rs"));
            continue;
        }
        for dependency in &package.dependencies {
            let problem = match dependency.name.strip_prefix(PREFIX) {
                Some(ours) => inside(name, ours, dependency.kind),
                None => outside(name, dependency),
            };
            if let Some(problem) = problem {
                broken(problem);
            }
        }
    }
    violations
}

/// The problem with a dependency between two of our crates.
fn inside(from: &str, to: &str, kind: Kind) -> Option<String> {
    let (from_layer, from_row) = place(from)?;
    let Some((to_layer, to_row)) = place(to) else {
        return Some(format!("depends on {PREFIX}{to}, which is missing from the table in xtask/src/layers.rs"));
    };
    if kind == Kind::Dev {
        let below_app = is_pure(from);
        return (to_layer == Layer::Tool && below_app)
            .then(|| format!("{to} depends on the application, so `{from}` cannot use it in its tests"));
    }
    match (from_layer, to_layer) {
        (_, Layer::Tool) => Some(format!("{to} may only be a dev-dependency")),
        (Layer::Tool, Layer::Server | Layer::Adapter) => Some(format!("a tool must not depend on `{to}`")),
        (Layer::Tool, _) => None,
        (Layer::Adapter, Layer::Adapter) if SHARED.contains(&to) => None,
        (Layer::Adapter, Layer::Adapter) => Some(format!("an adapter must not depend on the adapter `{to}`")),
        _ => (to_row <= from_row).then(|| format!("the dependency on `{to}` points up")),
    }
}

/// The problem with a dependency on an external crate.
fn outside(from: &str, dependency: &Dependency) -> Option<String> {
    let Dependency { name, kind } = dependency;
    if *kind != Kind::Dev && is_pure(from) && IMPURE.contains(&name.as_str()) {
        return Some(format!("a crate without I/O must not depend on {name}"));
    }
    let reserved = RESERVED.iter().find(|reserved| reserved.dependency == *name)?;
    let applies = *kind != Kind::Dev || reserved.in_tests_too;
    let owners = reserved.owners;
    (applies && !owners.contains(&from)).then(|| format!("only {} may depend on {name}", owners.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::super::model::fixture;
    use super::*;

    /// The violations of one crate with one dependency.
    fn problems(from: &str, to: &str, kind: Kind) -> Vec<String> {
        let violations = check(&fixture::crates(&[(from, &[(to, kind)])]));
        violations.into_iter().map(|violation| violation.what).collect()
    }

    #[track_caller]
    fn broken(from: &str, to: &str, kind: Kind, expected: &str) {
        let problems = problems(from, to, kind);
        assert!(problems.len() == 1 && problems[0].contains(expected), "{from} -> {to}: {problems:?}");
    }

    #[track_caller]
    fn kept(from: &str, to: &str, kind: Kind) {
        assert_eq!(problems(from, to, kind), Vec::<String>::new(), "{from} -> {to}");
    }

    #[test]
    fn arrows_point_down() {
        kept("server", "kalends-kernel", Kind::Normal);
        kept("app", "kalends-wire", Kind::Normal);
        kept("calendars", "kalends-recurrence", Kind::Normal);
        broken("kernel", "kalends-calendars", Kind::Normal, "points up");
        broken("wire", "kalends-app", Kind::Build, "points up");
        broken("recurrence", "kalends-calendars", Kind::Normal, "points up");
        broken("calendars", "kalends-bookings", Kind::Normal, "points up");
        broken("app", "kalends-http", Kind::Normal, "points up");
    }

    #[test]
    fn adapters_depend_only_on_shared_adapters() {
        kept("ical-fetch", "kalends-egress", Kind::Normal);
        kept("sqlite", "kalends-rows", Kind::Normal);
        broken("worker", "kalends-http", Kind::Normal, "adapter `http`");
        broken("egress", "kalends-mail", Kind::Normal, "adapter `mail`");
    }

    #[test]
    fn testkit_is_for_tests_above_the_domain() {
        kept("postgres", "kalends-testkit", Kind::Dev);
        kept("testkit", "kalends-app", Kind::Normal);
        broken("app", "kalends-testkit", Kind::Normal, "only be a dev-dependency");
        broken("calendars", "kalends-testkit", Kind::Dev, "cannot use it in its tests");
        broken("wire", "kalends-testkit", Kind::Dev, "cannot use it in its tests");
        broken("testkit", "kalends-sqlite", Kind::Normal, "must not depend on `sqlite`");
    }

    #[test]
    fn pure_crates_have_no_runtime() {
        for name in IMPURE {
            assert!(!problems("quotas", name, Kind::Normal).is_empty(), "{name}");
        }
        broken("wire", "getrandom", Kind::Normal, "without I/O");
        broken("rows", "sqlx", Kind::Build, "without I/O");
        kept("calendars", "tokio", Kind::Dev);
        kept("app", "tokio", Kind::Normal);
    }

    #[test]
    fn some_dependencies_have_owners() {
        kept("sqlite", "sqlx", Kind::Normal);
        broken("http", "sqlx", Kind::Dev, "only postgres, sqlite");
        broken("app", "axum", Kind::Normal, "only http, server");
        broken("mail", "reqwest", Kind::Normal, "only egress, client");
        broken("mail", "clap", Kind::Normal, "only server");
        kept("http", "reqwest", Kind::Dev);
    }

    #[test]
    fn every_crate_is_in_the_table_under_its_own_name() {
        broken("sundries", "serde", Kind::Normal, "`sundries` is missing from the table");
        broken("http", "kalends-sundries", Kind::Normal, "missing from the table");
        let mut model = fixture::crates(&[("mail", &[])]);
        model.packages[0].name = "mail".into();
        assert_eq!(check(&model)[0].what, "the package in this folder must be called kalends-mail, not mail");
    }

    #[test]
    fn packages_outside_crates_are_not_checked() {
        let mut model = fixture::crates(&[("anything", &[("sqlx", Kind::Normal)])]);
        model.packages[0].folder = "xtask".into();
        assert!(check(&model).is_empty());
    }
}
