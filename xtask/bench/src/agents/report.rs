//! What a run of the tasks needed.

use std::fmt;

use super::count::Count;
use super::task::Task;

/// The key with which the tasks are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// The own key of the agent that is asked, with scopes.
    Agent,
    Organization,
}

impl Key {
    /// What the table calls it.
    pub(crate) const fn short(self) -> &'static str {
        match self {
            Self::Agent => "own key",
            Self::Organization => "organization",
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agent => "the agent's own key",
            Self::Organization => "the organization's key",
        })
    }
}

/// One task that was tried.
#[derive(Debug, Clone)]
pub(crate) struct Tried {
    pub(crate) task: Task,
    pub(crate) count: Count,
    /// Why it is not done.
    pub(crate) failure: Option<String>,
}

/// All tasks with one key.
#[derive(Debug, Clone)]
pub(crate) struct Report {
    pub(crate) key: Key,
    /// The list of the tools.
    pub(crate) list: Count,
    pub(crate) tasks: Vec<Tried>,
}

impl Report {
    /// All calls of all tasks.
    pub(crate) fn total(&self) -> Count {
        self.tasks.iter().map(|tried| tried.count).sum()
    }
}
