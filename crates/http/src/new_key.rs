//! New keys of agents: the operations that their `requires_approval` names.

use kalends_accounts::{ApprovalPolicy, ApprovedWrites};
use kalends_app::operations;
use kalends_kernel::{FieldError, FieldErrors};
use kalends_wire::{CreateScopedKey, WantedKey};

use crate::{
    approving::why_not,
    extract::{nearest, shorten},
};

const PARAM: &str = "requires_approval";

/// The key that the body describes.
///
/// # Errors
/// Lists every invalid field, or names the first operation that does not exist or cannot wait for approval.
pub(crate) fn wanted_key(body: CreateScopedKey) -> Result<WantedKey, FieldErrors> {
    let wanted = body.parse()?;
    check(wanted.approval.as_ref())?;
    Ok(wanted)
}

fn check(policy: Option<&ApprovalPolicy>) -> Result<(), FieldError> {
    let Some(ApprovalPolicy { covers: ApprovedWrites::Operations(names), .. }) = policy else { return Ok(()) };
    names.iter().try_for_each(|name| can_be_named(name))
}

fn can_be_named(name: &str) -> Result<(), FieldError> {
    let Some(operation) = operations::named(name) else {
        let waiting = operations::ALL.iter().filter(|operation| operation.can_wait()).map(|operation| operation.id);
        let shown = shorten(name);
        let message = match nearest(name, &waiting.collect::<Vec<_>>()) {
            Some(near) => format!("there is no operation {shown:?}; did you mean {near}?"),
            None => format!("there is no operation {shown:?}; name operationIds of writes, or send \"writes\" for all"),
        };
        return Err(FieldError::new(PARAM, message));
    };
    if operation.can_wait() {
        return Ok(());
    }
    let why = why_not(operation);
    Err(FieldError::new(PARAM, format!("{name} cannot wait for approval: {why}; leave it out")))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::write("createEvent", None)]
    #[case::misspelled("createEvnt", Some("did you mean createEvent?"))]
    #[case::unknown("x", Some("name operationIds"))]
    #[case::all_in_a_list("writes", Some("there is no operation"))]
    #[case::read("getEvent", Some("changes no data"))]
    #[case::secret("createWebhook", Some("a secret"))]
    #[case::import("importCalendar", Some("single change"))]
    #[case::decision("approve", Some("decides"))]
    fn only_writes_that_can_wait_are_named(#[case] name: &str, #[case] message: Option<&str>) {
        let refused = can_be_named(name).map_err(|error| error.to_string());
        match message {
            None => assert_eq!(refused, Ok(())),
            Some(message) => assert!(refused.as_ref().is_err_and(|refused| refused.contains(message)), "{refused:?}"),
        }
    }
}
