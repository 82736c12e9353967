//! The page about the user's own account.

use super::{done, problems, shell};
use crate::{ACCOUNT_FIELDS, Done, NO_PROBLEMS, OwnAccount, Place};

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Home);
    let at = "2026-03-02T08:00:00Z".parse().unwrap();
    let shown = OwnAccount {
        shell,
        done: done(),
        proved_at: Some(at),
        has_password: true,
        second_factor: true,
        once: "once",
        name: text,
        problems: &NO_PROBLEMS,
    };
    let bare = OwnAccount { proved_at: None, has_password: false, second_factor: false, ..shown };
    vec![
        ("account", shown.html()),
        ("account, wrong", OwnAccount { problems: &problems(&ACCOUNT_FIELDS, text), ..shown }.html()),
        ("account, without a password", OwnAccount { done: Done::default(), ..bare }.html()),
    ]
}
