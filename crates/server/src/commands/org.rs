//! `kalends org`.

use kalends_accounts::{Organization, Waitlist};
use kalends_app::operators::{self, NewOrganization};
use kalends_kernel::random_bytes;
use kalends_time::Timestamp;
use serde::Serialize;

use crate::{
    ambient::SystemEntropy,
    cli::{CreateOrg, OrgCommand},
    config::Config,
    failure::Failure,
    output,
    service::Service,
};

/// The output for a new organization.
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
    // This process issues no sessions, so any key will do.
    let session_key = random_bytes::<32>(&SystemEntropy);
    let service = Service::open(config, config.base_url(None), &session_key).await?;
    let done = run(&service, command).await;
    let Service { app, database, .. } = service;
    drop(app);
    database.close().await;
    done
}

async fn run(service: &Service, command: OrgCommand) -> Result<(), Failure> {
    let app = &service.app;
    match command {
        OrgCommand::Create(CreateOrg { name, email, plan, limits, test }) => {
            let new = NewOrganization { name, email, plan: plan.map(Into::into), limits, test };
            let created = operators::create_organization(app, new).await?;
            json_line(&Created { org_id: created.org.to_string(), api_key: created.api_key })
        }
        OrgCommand::SetPlan { org, plan, limits } => show(&operators::set_plan(app, org, plan.into(), limits).await?),
        OrgCommand::List => operators::list_organizations(app).await?.iter().try_for_each(show),
        OrgCommand::Waitlist { org } => show(&operators::waitlist(app, org).await?),
        OrgCommand::Activate { org } => show(&operators::activate(app, org).await?),
    }
}

fn show(organization: &Organization) -> Result<(), Failure> {
    json_line(&Line {
        org_id: organization.id.to_string(),
        name: organization.name.as_str(),
        plan: organization.plan.as_str(),
        shown_plan: organization.plan.public_name(),
        email: organization.email.as_ref().map(|email| email.as_str()),
        test: organization.test,
        waitlisted_at: match organization.waitlist {
            Waitlist::Active => None,
            Waitlist::Since(since) => Some(since),
        },
        created_at: organization.created_at,
    })
}

fn json_line(value: &impl Serialize) -> Result<(), Failure> {
    output::line(&serde_json::to_string(value)?)?;
    Ok(())
}
