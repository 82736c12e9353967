//! What a session passes on to each operation that writes, so no tool has to know it: the run that the write belongs to,
//! and whether it is a dry run.

use kalends_app::operations::Operation;
use kalends_kernel::FieldError;
use serde_json::Value;

use crate::{dry_run, mcp::tools};

/// The argument that names the run.
pub(super) const RUN: &str = tools::RUN;

/// The run and the kind of a call.
#[derive(Debug, Default)]
pub(in super::super) struct Marks {
    pub(super) run: Option<String>,
    pub(super) dry_run: bool,
}

impl Marks {
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
