//! `kalends org`.

use std::sync::Arc;

use kalends_accounts::Organization;
use kalends_app::{
    App,
    operators::{self, CreatedOrganization, NewOrganization},
};
use kalends_time::Timestamp;
use serde::Serialize;

use super::{json_line, with_app};
use crate::{
    cli::{CreateOrg, OrgCommand},
    config::Config,
    failure::Failure,
};

/// The output for a new key.
#[derive(Serialize)]
struct Created {
    org_id: String,
    api_key: String,
}

/// The output for an existing organization.
#[derive(Serialize)]
struct Line<'a> {
    org_id: String,
    name: &'a str,
    plan: &'static str,
    /// The plan under the name that callers of the API see.
    shown_plan: &'static str,
    email: Option<&'a str>,
    test: bool,
    waitlisted_at: Option<Timestamp>,
    created_at: Timestamp,
}

/// Runs one `kalends org` command.
pub(crate) async fn org(config: &Config, command: OrgCommand) -> Result<(), Failure> {
    with_app(config, |app| async move { run(&app, command).await }).await
}

async fn run(app: &Arc<App>, command: OrgCommand) -> Result<(), Failure> {
    match command {
        OrgCommand::Create(CreateOrg { name, email, plan, limits, test }) => {
            let new = NewOrganization { name, email, plan: plan.map(Into::into), limits, test };
            show_key(operators::create_organization(app, new).await?)
        }
        OrgCommand::SetPlan { org, plan, limits } => show(&operators::set_plan(app, org, plan.into(), limits).await?),
        OrgCommand::List => operators::list_organizations(app).await?.iter().try_for_each(show),
        OrgCommand::Waitlist { org } => show(&operators::waitlist(app, org).await?),
        OrgCommand::Activate { org } => show(&operators::activate(app, org).await?),
        OrgCommand::NewKey { org } => show_key(operators::new_key(app, org).await?),
    }
}

fn show_key(CreatedOrganization { org, api_key }: CreatedOrganization) -> Result<(), Failure> {
    json_line(&Created { org_id: org.to_string(), api_key })
}

fn show(organization: &Organization) -> Result<(), Failure> {
    json_line(&Line {
        org_id: organization.id.to_string(),
        name: organization.name.as_str(),
        plan: organization.plan.as_str(),
        shown_plan: organization.plan.public_name(),
        email: organization.email.as_ref().map(|email| email.as_str()),
        test: organization.test,
        waitlisted_at: organization.waitlist.since(),
        created_at: organization.created_at,
    })
}
