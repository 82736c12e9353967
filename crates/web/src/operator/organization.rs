//! One organization, with the form of its plan and its limits.

use askama::Template;

use super::{frame::OperatorShell, organizations::OperatorOrganization};
use crate::{
    english::in_english,
    field::{Area, Choice, Select},
    numbers::grouped,
    problems::Problems,
    shell::Done,
};

/// The fields of the form of a plan.
pub const PLAN_FIELDS: [&str; 2] = ["plan", "limits"];
/// The maximum length of the limits, in characters.
const LIMITS: usize = 4_000;
/// How limits are written.
const HOW_TO_LIMIT: &str = "An object with the names from the table, such as {\"agents\": 10, \"events\": null}. null \
                            is no limit. A name that is left out has the limit of the plan. An empty field removes all \
                            limits of its own.";

/// What an organization has used of one thing, and how much it may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorLimit<'a> {
    /// The name for people.
    pub title: &'a str,
    /// The name in the limits of an organization.
    pub name: &'a str,
    /// What is used; `None` for what is not counted.
    pub used: Option<u64>,
    /// The limit of the plan; `None` is unlimited.
    pub of_plan: Option<u64>,
    /// The limit in force; `None` is unlimited.
    pub limit: Option<u64>,
}

impl OperatorLimit<'_> {
    fn used_text(&self) -> String {
        self.used.map(grouped).unwrap_or_default()
    }

    fn plan_text(&self) -> String {
        limit_text(self.of_plan)
    }

    fn limit_text(&self) -> String {
        limit_text(self.limit)
    }
}

fn limit_text(limit: Option<u64>) -> String {
    limit.map_or_else(|| "No limit".to_owned(), grouped)
}

/// What was typed into the form of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorPlanGiven<'a> {
    /// The plan, as the operator's commands name it.
    pub plan: &'a str,
    /// The limits of its own, as JSON.
    pub limits: &'a str,
}

/// One organization.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "operator_organization.html")]
pub struct OperatorOrganizationPage<'a> {
    /// The frame.
    pub shell: &'a OperatorShell,
    /// What a form did.
    pub done: Done,
    /// The organization.
    pub organization: &'a OperatorOrganization,
    /// What it was created through.
    pub source: &'a str,
    /// The version that the form is for.
    pub version: &'a str,
    /// Everything that a plan limits.
    pub limits: &'a [OperatorLimit<'a>],
    /// The plans to choose from.
    pub plans: &'a [Choice<'a>],
    /// What the form contains.
    pub given: OperatorPlanGiven<'a>,
    /// What is wrong with it.
    pub problems: &'a Problems,
}

impl OperatorOrganizationPage<'_> {
    fn plan_field(&self) -> Select<'_> {
        let (name, label) = ("plan", "Plan");
        let (options, chosen, problem) = (self.plans, self.given.plan, self.problems.of(name));
        Select { name, label, options, chosen, problem }
    }

    fn limits_field(&self) -> Area<'_> {
        let (name, label) = ("limits", "Limits of its own, as JSON");
        let (problem, hint) = (self.problems.of(name), Some(HOW_TO_LIMIT));
        Area { name, label, value: self.given.limits, max: LIMITS, problem, hint }
    }
}

in_english!(OperatorOrganizationPage<'_>);
