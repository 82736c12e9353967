//! The pages about the organization as a whole.

use super::{done, problems, shell};
use crate::{
    DELETION_FIELDS, DeleteOrganization, Done, ExportPage, Href, NO_PROBLEMS, ORGANIZATION_FIELDS, OrganizationPage,
    OrganizationShown, Parted, Place,
};

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Organization);
    let at = "2026-03-02T08:00:00Z".parse().unwrap();
    let organization = &OrganizationShown {
        plan: "Free",
        in_sandbox: true,
        created_at: at,
        accepted: Some((text, at)),
        terms_version: "2026-02-01",
        terms: Href::new("/terms"),
    };
    let first = &OrganizationShown { in_sandbox: false, accepted: None, terms: None, ..organization.clone() };
    let accepted = &OrganizationShown { accepted: Some(("2026-02-01", at)), ..first.clone() };
    let shown = OrganizationPage {
        shell,
        done: done(),
        organization,
        name: text,
        problems: &NO_PROBLEMS,
        may_change: true,
        may_see_members: true,
        may_delete: true,
    };
    let seen = OrganizationPage { done: Done::default(), may_change: false, may_delete: false, ..shown };
    let losses = [("Agents", 3), ("Members", 2)];
    let wrong = &problems(&DELETION_FIELDS, text);
    let delete = DeleteOrganization { shell, losses: &losses, stays: true, typed: "", problems: &NO_PROBLEMS };
    let parted = |deleted, stays| Parted { organization: text, deleted, stays }.html();
    vec![
        ("organization", shown.html()),
        ("organization, wrong", OrganizationPage { problems: &problems(&ORGANIZATION_FIELDS, text), ..shown }.html()),
        ("organization, accepted", OrganizationPage { organization: accepted, ..shown }.html()),
        ("organization, seen by a viewer", seen.html()),
        ("organization, waiting", OrganizationPage { organization: first, may_see_members: false, ..seen }.html()),
        ("export", ExportPage { shell }.html()),
        ("deletion", delete.html()),
        ("deletion, wrong", DeleteOrganization { stays: false, typed: text, problems: wrong, ..delete }.html()),
        ("deleted", parted(true, true)),
        ("deleted with the account", parted(true, false)),
        ("left", parted(false, true)),
    ]
}
