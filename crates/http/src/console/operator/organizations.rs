//! The organizations of the server, and the waiting list.

use axum::{
    extract::{Query, rejection::QueryRejection},
    response::Response,
};
use http::StatusCode;
use kalends_accounts::{Organization, OrganizationSearch};
use kalends_app::OrganizationInUse;
use kalends_kernel::Page;
use kalends_plans::Plan;
use kalends_web::{
    Choice, Done, OperatorOrganization, OperatorOrganizations, OperatorPlace, OperatorState, OperatorWaiting, Paging,
};
use serde::Deserialize;
use serde_json::json;

use super::{
    super::{
        places::{OPERATOR_ORGANIZATIONS, OPERATOR_WAITING},
        shown::page as answer,
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
    /// The plan; empty for every plan.
    #[serde(default)]
    plan: String,
    /// The state; empty for every state.
    #[serde(default)]
    state: String,
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
    let text: String = asked.q.trim().chars().filter(|letter| !letter.is_control()).take(SEARCH_MAX).collect();
    let (plan, state) = (Plan::from_name(&asked.plan), OperatorState::named(&asked.state));
    let waiting = state.map(|state| state == OperatorState::Waiting);
    let search = OrganizationSearch::new(&text, plan, waiting);
    let page = Page { offset: asked.offset, ..Page::default() };
    let found = app.find_organizations(&search, page).await?;
    let organizations: Vec<_> = found.data.iter().map(used).collect();
    let filter = [
        ("q", text.as_str()),
        ("plan", plan.map_or("", Plan::as_str)),
        ("state", state.map_or("", OperatorState::as_str)),
    ];
    let filter = filter.into_iter().filter(|(_, value)| !value.is_empty());
    let filter = filter.map(|(name, value)| (name, value.to_owned())).collect();
    let paging = Paging { path: OPERATOR_ORGANIZATIONS.to_owned(), filter, page, total: found.total };
    let any = Choice { value: "", title: "Any" };
    let plans = Plan::ALL.map(|plan| Choice { value: plan.as_str(), title: plan.as_str() });
    let plans: Vec<_> = [any].into_iter().chain(plans).collect();
    let shown = OperatorOrganizations {
        shell: &operator.shell(OperatorPlace::Organizations),
        search: &text,
        plan: plan.map_or("", Plan::as_str),
        plans: &plans,
        state,
        organizations: &organizations,
        paging: &paging,
    };
    Ok(answer(StatusCode::OK, shown.html()))
}

/// `GET /console/operator/waiting`
pub(super) async fn waiting(app: Service, operator: Operator, query: AskedOf) -> Result<Response, ApiError> {
    let asked = asked(query);
    let mut page = Page { offset: asked.offset, ..Page::default() };
    let mut found = app.waiting_organizations(page).await?;
    if found.data.is_empty() && page.offset > 0 {
        // The last organization of this page was admitted.
        page.offset = last_offset(found.total, page.limit);
        found = app.waiting_organizations(page).await?;
    }
    let organizations: Vec<_> = found.data.iter().map(shown).collect();
    let paging = Paging { path: OPERATOR_WAITING.to_owned(), filter: Vec::new(), page, total: found.total };
    let shown = OperatorWaiting {
        shell: &operator.shell(OperatorPlace::Waiting),
        done: Done::named(&asked.done),
        organizations: &organizations,
        paging: &paging,
    };
    Ok(answer(StatusCode::OK, shown.html()))
}

/// Where the last page of a list with that many entries begins.
fn last_offset(total: u64, limit: u32) -> u32 {
    let limit = u64::from(limit.max(1));
    u32::try_from(total.saturating_sub(1) / limit * limit).unwrap_or(u32::MAX)
}

/// An organization with its use, as the list shows it.
fn used(found: &OrganizationInUse) -> OperatorOrganization {
    OperatorOrganization { used: Some((found.api_calls, found.events)), ..shown(&found.organization) }
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
        waiting_since: organization.waitlist.since(),
        used: None,
        created_at: organization.created_at,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(0, 0)]
    #[case(1, 0)]
    #[case(50, 0)]
    #[case(51, 50)]
    #[case(100, 50)]
    #[case(101, 100)]
    fn the_last_page_has_the_last_entry(#[case] total: u64, #[case] offset: u32) {
        assert_eq!(last_offset(total, 50), offset);
    }
}
