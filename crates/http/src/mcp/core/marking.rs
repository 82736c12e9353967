//! The arguments that every tool that writes has: the run that its writes belong to, and whether it is a dry run.

use kalends_app::operations::{self, Operation};
use kalends_kernel::FieldError;
use serde_json::{Value, json};

use super::{
    arguments::Arguments,
    marks::{Marks, RUN},
    tool::{About, Effect},
};
use crate::dry_run;

/// Whether the tool names an operation and its arguments, which have these already.
fn names_any(about: &About) -> bool {
    about.operations.len() == operations::ALL.len()
}

/// Whether the tool writes with an operation that fits.
fn writes(about: &About, fits: fn(&Operation) -> bool) -> bool {
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

/// Reads the arguments that [`add`] added.
///
/// # Errors
/// If one is of another type.
pub(super) fn read(about: &About, arguments: &Arguments) -> Result<Marks, FieldError> {
    let run = if writes(about, Operation::is_undoable) { arguments.text(RUN)? } else { None };
    let dry_run = writes(about, Operation::takes_dry_run) && arguments.flag(dry_run::PARAMETER)?.unwrap_or(false);
    Ok(Marks { run, dry_run })
}

#[cfg(test)]
mod tests {
    use super::super::TOOLS;
    use super::*;

    /// Every tool that writes can be tried, and every tool whose writes can be taken back can belong to a run.
    #[test]
    fn tools_that_write_have_the_arguments() {
        for tool in TOOLS {
            let (about, mut properties) = (tool.about(), tool.properties());
            let own = properties.get(RUN).is_some();
            add(&about, &mut properties);
            let has = |name: &str| properties.get(name).is_some();
            let plain = about.effect == Effect::Reads || names_any(&about);
            assert_eq!(has(dry_run::PARAMETER), !plain, "{}", about.name);
            let undoable = about.operations.iter().any(|operation| operation.is_undoable());
            assert_eq!(has(RUN), own || (undoable && !plain), "{}", about.name);
        }
    }

    #[test]
    fn an_operation_that_takes_no_run_is_not_called_with_one() {
        let marks = Marks { run: Some("plan".to_owned()), dry_run: true };
        let added = marks.of_operation(&operations::CREATE_EVENT).unwrap();
        assert_eq!(added, [(RUN, json!("plan")), (dry_run::PARAMETER, json!(true))]);
        assert!(marks.of_operation(&operations::GET_EVENT).unwrap().is_empty());
        assert_eq!(marks.of_operation(&operations::CREATE_AGENT).unwrap_err().param, RUN);
        let dry = Marks { run: None, dry_run: true };
        assert_eq!(dry.of_operation(&operations::VERIFY).unwrap_err().param, dry_run::PARAMETER);
    }
}
