//! The arguments that every tool that writes has: the run that its writes belong to, and whether it is a dry run. The
//! session passes them on to the operations, so no tool has to know them.

use kalends_app::operations::{self, Operation};
use kalends_kernel::FieldError;
use serde_json::{Value, json};

use super::{
    arguments::Arguments,
    tool::{About, Effect},
};
use crate::dry_run;

/// The argument that names the run.
const RUN: &str = "run";

/// The run and the kind of a call.
#[derive(Debug, Default)]
pub(in super::super) struct Marks {
    pub(super) run: Option<String>,
    pub(super) dry_run: bool,
}

/// Whether the tool has arguments of its own for these, as it names any operation and its arguments.
fn names_any(about: &About) -> bool {
    about.operations.len() == operations::ALL.len()
}

/// Whether the tool writes with an operation that fits.
fn writes(about: &About, fits: impl Fn(&Operation) -> bool) -> bool {
    about.effect != Effect::Reads && !names_any(about) && about.operations.iter().any(|operation| fits(operation))
}

/// Adds the arguments to those of a tool.
pub(super) fn add(about: &About, properties: &mut Value) {
    if writes(about, Operation::is_undoable) {
        properties[RUN] = json!({ "type": "string", "description": "A name for your task, for undo_run." });
    }
    if writes(about, Operation::takes_dry_run) {
        properties[dry_run::PARAMETER] = json!({ "type": "boolean", "description": "Only check." });
    }
}

impl Marks {
    /// Reads the arguments that [`add`] added.
    ///
    /// # Errors
    /// If one is of another type.
    pub(super) fn of(about: &About, arguments: &Arguments) -> Result<Self, FieldError> {
        let run = if writes(about, Operation::is_undoable) { arguments.text(RUN)? } else { None };
        let dry_run = writes(about, Operation::takes_dry_run) && arguments.flag(dry_run::PARAMETER)?.unwrap_or(false);
        Ok(Self { run, dry_run })
    }

    /// The arguments to add to those of an operation.
    ///
    /// # Errors
    /// If the operation writes, but takes no such argument.
    pub(super) fn of_operation(&self, operation: &Operation) -> Result<Vec<(&'static str, Value)>, FieldError> {
        let mut added = Vec::new();
        if !operation.writes() {
            return Ok(added);
        }
        if let Some(run) = &self.run {
            if !operation.is_undoable() {
                let message = format!("is not for {}, which cannot be taken back; leave it out", operation.id);
                return Err(FieldError::new(RUN, message));
            }
            added.push((RUN, run.as_str().into()));
        }
        if self.dry_run {
            if !operation.takes_dry_run() {
                let message = format!("is not for {}; leave it out", operation.id);
                return Err(FieldError::new(dry_run::PARAMETER, message));
            }
            added.push((dry_run::PARAMETER, true.into()));
        }
        Ok(added)
    }
}
