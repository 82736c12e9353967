//! The table as the documentation shows it.

use std::fmt::Write;

use super::{
    kinds::{Allowed, CallerKind},
    table::{TABLE, allowed},
};

/// The columns of keys and other credentials, as the documentation shows them.
pub fn credentials_markdown() -> String {
    markdown(|kind| kind.role().is_none())
}

/// The columns of sessions, one for each role, as the documentation shows them.
pub fn roles_markdown() -> String {
    markdown(|kind| kind.role().is_some())
}

fn markdown(shown: impl Fn(CallerKind) -> bool) -> String {
    let kinds: Vec<_> = CallerKind::ALL.into_iter().filter(|kind| shown(*kind)).collect();
    let names: Vec<_> = kinds.iter().map(|kind| kind.as_str()).collect();
    let mut text = format!("| what | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(kinds.len()));
    for (touch, _) in TABLE {
        let cells: Vec<_> = kinds.iter().map(|kind| allowed(*kind, touch)).collect();
        // What none of them opens is left out.
        if cells.iter().all(|cell| *cell == Allowed::Unauthorized) {
            continue;
        }
        let cells: Vec<_> = cells.into_iter().map(Allowed::as_str).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} | {} |", touch.as_str(), cells.join(" | "));
    }
    text
}
