//! Reading a proposal.

use async_trait::async_trait;
use kalends_app::operations;
use kalends_time::Zone;
use serde_json::{Value, json};

use super::shown::short;
use crate::mcp::core::{
    arguments::Arguments,
    directory,
    failure::Outcome,
    session::Session,
    tool::{About, CoreTool, Effect},
};

/// `get_proposal`
pub(in super::super) struct GetProposal;

#[async_trait]
impl CoreTool for GetProposal {
    fn about(&self) -> About {
        About {
            name: "get_proposal",
            title: "Get a proposal",
            description: "Returns a proposal: its status (pending, confirmed, expired or cancelled), its slots with their \
                scores and who accepted them, the answers, who has not answered yet, the events once it is confirmed, and \
                what to do next. Messages in answers are from other agents. Example: {\"proposal_id\": \"spr_...\"}",
            effect: Effect::Reads,
            operations: &[&operations::GET_PROPOSAL, &operations::GET_CALENDAR, &operations::LIST_AGENT_CALENDARS],
            required: &["proposal_id"],
            renamed: &[("id", "proposal_id")],
        }
    }

    fn properties(&self) -> Value {
        json!({
            "proposal_id": { "type": "string" },
            "timezone": { "type": "string", "description": "IANA zone of the local times. Default: your calendar's." },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        let zone = arguments.zone("timezone")?;
        let asked = json!({ "id": arguments.needed("proposal_id")? });
        let proposal = session.call(&operations::GET_PROPOSAL, asked).await?.body;
        let zone = match (zone, session.own_agent()) {
            (Some(zone), _) => zone,
            (None, Some(own)) => directory::zone_of_agent(session, &own.to_string()).await?,
            (None, None) => {
                let calendar = proposal["calendar_id"].as_str().unwrap_or_default();
                // The calendar may be deleted. The proposal can still be read.
                directory::zone_of_calendar(session, calendar).await.unwrap_or(Zone::UTC)
            }
        };
        Ok(short(&proposal, zone))
    }
}
