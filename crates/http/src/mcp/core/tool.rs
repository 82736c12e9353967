//! What a tool of the set is.

use async_trait::async_trait;
use kalends_app::operations::Operation;
use serde_json::Value;

use super::{arguments::Arguments, failure::Outcome, session::Session};

/// What a tool is.
pub(in super::super) struct About {
    pub name: &'static str,
    pub title: &'static str,
    /// When to use it, what it returns, and one example. The reader is a model: no word about headers or files.
    pub description: &'static str,
    pub effect: Effect,
    /// The operations that it may call. A caller that may call none of them does not see the tool. If the tool calls no
    /// operation, every caller sees it.
    pub operations: &'static [&'static Operation],
    /// The arguments that must be given.
    pub required: &'static [&'static str],
    /// The names of the operations' parameters that have another name in the tool, each with that name. Errors use it.
    pub renamed: &'static [(&'static str, &'static str)],
}

/// What a call changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Effect {
    /// Nothing.
    Reads,
    /// It adds something.
    Adds,
    /// It may change or remove something that exists.
    Changes,
}

/// A tool of the set.
#[async_trait]
pub(in super::super) trait CoreTool: Send + Sync {
    fn about(&self) -> About;

    /// The JSON Schemas of the arguments, by name.
    fn properties(&self) -> Value;

    /// Calls the operations. The result is JSON without what a model does not need.
    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome;
}
