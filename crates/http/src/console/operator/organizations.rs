//! The organizations of the server, and the waiting list.

use axum::{
    extract::{Query, rejection::QueryRejection},
    response::Response,
};
use http::StatusCode;
use kalends_accounts::{Organization, Waitlist};
use kalends_app::operators;
use kalends_kernel::Page;
use kalends_time::Timestamp;
use kalends_web::{Done, OperatorOrganization, OperatorOrganizations, OperatorPlace, OperatorWaiting, Paging};
use serde::Deserialize;
use serde_json::json;

use super::{
    super::{
        places::{OPERATOR_ORGANIZATIONS, OPERATOR_WAITING},
        shown::page,
    },
    session::Operator,
};
use crate::{Service, error::ApiError};

/// The maximum length of a search, in characters.
const SEARCH_MAX: usize = 255;

/// What the address of a list says. A query that cannot be read says nothing.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    /// What is searched for.
    #[serde(default)]
    q: String,
    /// The form that had its effect.
    #[serde(default)]
    done: String,
    /// The number of entries on earlier pages.
    #[serde(default)]
    offset: u32,
}

/// The query of a page.
type AskedOf = Result<Query<Asked>, QueryRejection>;

fn asked(query: AskedOf) -> Asked {
    query.map(|query| query.0).unwrap_or_default()
}

/// `GET /console/operator/organizations`
pub(super) async fn list(app: Service, operator: Operator, query: AskedOf) -> Result<Response, ApiError> {
    let asked = asked(query);
    let search: String = asked.q.trim().chars().take(SEARCH_MAX).collect();
    let mut found = operators::list_organizations(&app).await?;
    found.reverse();
    let wanted = search.to_lowercase();
    found.retain(|organization| matches(organization, &wanted));
    let filter = if search.is_empty() { Vec::new() } else { vec![("q", search.clone())] };
    let (paging, organizations) = paged(OPERATOR_ORGANIZATIONS, filter, asked.offset, &found);
    let shown = OperatorOrganizations {
        shell: &operator.shell(OperatorPlace::Organizations),
        search: &search,
        organizations: &organizations,
        paging: &paging,
    };
    Ok(page(StatusCode::OK, shown.html()))
}

/// `GET /console/operator/waiting`
pub(super) async fn waiting(app: Service, operator: Operator, query: AskedOf) -> Result<Response, ApiError> {
    let asked = asked(query);
    let mut found = operators::list_organizations(&app).await?;
    found.retain(|organization| waiting_since(organization).is_some());
    found.sort_by_key(waiting_since);
    let (paging, organizations) = paged(OPERATOR_WAITING, Vec::new(), asked.offset, &found);
    let shown = OperatorWaiting {
        shell: &operator.shell(OperatorPlace::Waiting),
        done: Done::named(&asked.done),
        organizations: &organizations,
        paging: &paging,
    };
    Ok(page(StatusCode::OK, shown.html()))
}

/// Whether the identifier, the name or the address contains the text, which is in lower case.
fn matches(organization: &Organization, text: &str) -> bool {
    let email = organization.email.as_ref().map(|email| email.as_str().to_lowercase());
    organization.id.to_string().contains(text)
        || organization.name.as_str().to_lowercase().contains(text)
        || email.is_some_and(|email| email.contains(text))
}

const fn waiting_since(organization: &Organization) -> Option<Timestamp> {
    match organization.waitlist {
        Waitlist::Active => None,
        Waitlist::Since(since) => Some(since),
    }
}

/// One page of a list.
fn paged(
    path: &str,
    filter: Vec<(&'static str, String)>,
    offset: u32,
    found: &[Organization],
) -> (Paging, Vec<OperatorOrganization>) {
    let page = Page { offset, ..Page::default() };
    let total = u64::try_from(found.len()).unwrap_or(u64::MAX);
    let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
    let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
    let organizations = found.iter().skip(skipped).take(limit).map(shown).collect();
    (Paging { path: path.to_owned(), filter, page, total }, organizations)
}

/// An organization, as the pages show it.
pub(super) fn shown(organization: &Organization) -> OperatorOrganization {
    OperatorOrganization {
        id: organization.id.to_string(),
        name: organization.name.as_str().to_owned(),
        email: organization.email.as_ref().map(|email| email.as_str().to_owned()),
        plan: organization.plan.as_str(),
        has_own_limits: organization.limit_overrides.as_ref().is_some_and(|limits| *limits != json!({})),
        test: organization.test,
        waiting_since: waiting_since(organization),
        created_at: organization.created_at,
    }
}
