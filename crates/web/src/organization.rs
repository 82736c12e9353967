//! The pages about the organization as a whole. They are in English, like the console, and work without scripts.

use askama::Template;
use kalends_time::Timestamp;

use crate::{
    english::in_english,
    field::{Field, ORG_NAME},
    link::Href,
    problems::Problems,
    shell::{Done, Shell},
    time::in_utc,
};

/// The fields of the form that renames the organization.
pub const ORGANIZATION_FIELDS: [&str; 1] = ["name"];
/// The fields of the form that deletes the organization.
pub const DELETION_FIELDS: [&str; 1] = ["name"];

/// An organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrganizationShown<'a> {
    /// The name of the plan.
    pub plan: &'a str,
    /// Whether it is in the sandbox, because its address is not proved.
    pub in_sandbox: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// The version of the terms that it accepted last, and when.
    pub accepted: Option<(&'a str, Timestamp)>,
    /// The current version of the terms.
    pub terms_version: &'a str,
    /// The page with the current terms.
    pub terms: Option<Href>,
}

impl OrganizationShown<'_> {
    fn created(&self) -> String {
        in_utc(self.created_at)
    }

    fn accepted_text(&self) -> String {
        match self.accepted {
            Some((version, at)) => format!("{version}, accepted {}", in_utc(at)),
            None => "not accepted yet".to_owned(),
        }
    }

    /// The version of the terms that is still to be accepted.
    fn to_accept(&self) -> Option<&str> {
        let accepted = self.accepted.map(|(version, _)| version);
        (accepted != Some(self.terms_version)).then_some(self.terms_version)
    }
}

/// The organization, with the way to its members, its export and its deletion.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "organization.html")]
pub struct OrganizationPage<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// The organization.
    pub organization: &'a OrganizationShown<'a>,
    /// What the field with the name contains: the name, or what was typed.
    pub name: &'a str,
    /// What is wrong with it.
    pub problems: &'a Problems,
    /// Whether the user may rename the organization, accept terms for it and export it.
    pub may_change: bool,
    /// Whether the user may see the members.
    pub may_see_members: bool,
    /// Whether the user may delete the organization.
    pub may_delete: bool,
}

impl OrganizationPage<'_> {
    fn name_field(&self) -> Field<'_> {
        Field::text("name", "New name", self.name, ORG_NAME).checked(self.problems)
    }
}

/// The page that explains the export.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "export.html")]
pub struct ExportPage<'a> {
    /// The frame.
    pub shell: &'a Shell,
}

/// The question whether to delete the organization.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "delete_organization.html")]
pub struct DeleteOrganization<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What is lost: the name of each kind of thing, and the number of them.
    pub losses: &'a [(&'static str, u64)],
    /// Whether the user belongs to another organization too, and so keeps the account.
    pub stays: bool,
    /// What was typed as the name.
    pub typed: &'a str,
    /// What is wrong with it.
    pub problems: &'a Problems,
}

impl DeleteOrganization<'_> {
    fn name_field(&self) -> Field<'_> {
        Field::text("name", "Type the name of the organization", self.typed, ORG_NAME).checked(self.problems)
    }
}

/// The page that a user sees after deleting or leaving an organization, which ends the session.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "parted.html")]
pub struct Parted<'a> {
    /// The organization's name.
    pub organization: &'a str,
    /// Whether the organization is deleted. Otherwise, the user has left it.
    pub deleted: bool,
    /// Whether the user belongs to another organization, and so keeps the account.
    pub stays: bool,
}

impl Parted<'_> {
    fn title(&self) -> String {
        if self.deleted {
            format!("{} is deleted", self.organization)
        } else {
            format!("You have left {}", self.organization)
        }
    }
}

in_english!(OrganizationPage<'_>, ExportPage<'_>, DeleteOrganization<'_>, Parted<'_>);
