//! Taking the writes of a task back.

use async_trait::async_trait;
use kalends_app::operations;
use serde_json::{Value, json};

use super::{
    arguments::Arguments,
    failure::Outcome,
    session::Session,
    tool::{About, CoreTool, Effect},
};

/// `undo_run`
pub(super) struct UndoRun;

#[async_trait]
impl CoreTool for UndoRun {
    fn about(&self) -> About {
        About {
            name: "undo_run",
            title: "Undo a run",
            description: "Takes back all that was written with this run: what was created is deleted or cancelled; \
                what was changed or deleted is restored. All or nothing: if something else has changed a part since, \
                the error lists it in in_the_way. Example: {\"run\": \"plan-week-10\"}",
            effect: Effect::Changes,
            operations: &[&operations::UNDO_RUN],
            required: &["run"],
            renamed: &[("name", "run")],
        }
    }

    fn properties(&self) -> Value {
        json!({
            "run": { "type": "string", "description": "The name that the writes had." },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        let asked = json!({ "name": arguments.needed("run")? });
        Ok(session.call(&operations::UNDO_RUN, asked).await?.body)
    }
}
