//! The first page of the console.

use super::shell;
use crate::{NextStep, Overview, OverviewNumber, Place, Shell, UsedMetric};

const STEPS: [NextStep; 3] = [NextStep::UseKey, NextStep::BookingPage, NextStep::Webhook];
const NUMBERS: [OverviewNumber; 2] = [
    OverviewNumber { title: "Agents", count: 1_234, place: Place::Agents },
    OverviewNumber { title: "Webhooks", count: 2, place: Place::Webhooks },
];

/// An organization with agents, seen by somebody who may do everything.
const fn busy<'a>(shell: &'a Shell, metrics: &'a [UsedMetric<'a>], text: &'a str) -> Overview<'a> {
    Overview {
        shell,
        waits: false,
        name: text,
        role: "admin",
        offers_first_agent: false,
        steps: &STEPS,
        numbers: &NUMBERS,
        metrics,
        asks_for_proof: false,
        resent: false,
        keeps_mail: false,
        problem: None,
    }
}

const fn metric<'a>(title: &'a str, used: u64, limit: Option<u64>) -> UsedMetric<'a> {
    UsedMetric { title, monthly: true, used, limit, at_limit: "" }
}

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Home);
    let metrics = [metric(text, 3, Some(4))];
    let full = busy(shell, &metrics, text);
    let empty = Overview { steps: &[], numbers: &[], metrics: &[], offers_first_agent: true, ..full };
    let asking = Overview { waits: true, asks_for_proof: true, problem: Some(text), ..empty };
    vec![
        ("overview", full.html()),
        ("overview, nothing there", empty.html()),
        ("overview, asking", asking.html()),
        ("overview, resent", Overview { resent: true, ..asking }.html()),
        ("overview, asking without mail", Overview { keeps_mail: true, ..asking }.html()),
        ("overview, resent without mail", Overview { keeps_mail: true, resent: true, ..asking }.html()),
    ]
}

#[test]
fn the_overview_shows_the_monthly_limit_of_which_most_is_used() {
    let shell = &shell("Engines", Place::Home);
    let metrics = [
        metric("Agents", 3, Some(4)),
        metric("Events", 1_000, None),
        metric("Proposals", 9, Some(10)),
        metric("Keys", 0, Some(0)),
    ];
    let page = busy(shell, &metrics, "Ada").html();
    assert!(page.contains("Tightest monthly limit</a></dt><dd>Proposals: 90 % used</dd>"), "{page}");
    let unused = [metric("Agents", 0, Some(4))];
    assert!(!busy(shell, &unused, "Ada").html().contains("Tightest monthly limit"));
}

#[test]
fn the_overview_shows_only_the_numbers_of_places_that_the_user_may_open() {
    let limited = Shell { places: vec![Place::Home, Place::Agents], ..shell("Engines", Place::Home) };
    let metrics = [metric("Agents", 3, Some(4))];
    let page = busy(&limited, &metrics, "Ada").html();
    assert!(page.contains("<a href=\"/console/agents\">Agents</a></dt><dd>1,234</dd>"), "{page}");
    for hidden in ["Webhooks</a></dt>", "Tightest monthly limit"] {
        assert!(!page.contains(hidden), "{hidden} in {page}");
    }
}

#[test]
fn next_steps_disappear_when_they_are_done() {
    let shell = &shell("Engines", Place::Home);
    let full = busy(shell, &[], "Ada");
    let page = full.html();
    for path in ["/console/keys", "/console/booking-pages/new", "/console/webhooks/new"] {
        assert!(page.contains(&format!("<a href=\"{path}\"><span>")), "no {path} in {page}");
    }
    assert!(!Overview { steps: &[], ..full }.html().contains("Next steps"));
}
