//! Every page with the console's frame in every state, with texts chosen by the test.

mod account;
mod activity;
mod agents;
mod approvals;
mod availability;
mod booking_pages;
mod calendar;
mod destinations;
mod drawing;
mod feeds;
mod first_run;
mod keys;
mod members;
mod operator;
mod organization;
mod orgs;
mod overview;
mod proposals;
mod usage;
mod waiting;
mod webhooks;

use crate::{Done, Place, Problems, Shell};

/// The frame of a page at that place, with every place to go to.
pub(super) fn shell(text: &str, place: Place) -> Shell {
    Shell {
        place,
        places: Place::ALL.to_vec(),
        org: "org_01jn8r6v9ke0bt3m5qz2c7xwdg".to_owned(),
        organization: text.to_owned(),
        email: text.to_owned(),
    }
}

/// A problem of each of these fields, and one of the form.
fn problems(fields: &[&str], text: &str) -> Problems {
    let mut problems = Problems::general(text.to_owned());
    for field in fields {
        problems.add(fields, field, text);
    }
    problems
}

/// What every page can say after a form.
fn done() -> Done {
    Done::named("saved")
}

/// Pages with their names.
type Named = Vec<(&'static str, String)>;

/// Every page with its name.
pub(super) fn pages(text: &str) -> Named {
    let areas: &[fn(&str) -> Named] = &[
        overview::pages,
        waiting::pages,
        approvals::pages,
        proposals::pages,
        calendar::pages,
        availability::pages,
        booking_pages::pages,
        agents::pages,
        first_run::pages,
        destinations::pages,
        drawing::pages,
        keys::pages,
        feeds::pages,
        webhooks::pages,
        activity::pages,
        usage::pages,
        organization::pages,
        members::pages,
        operator::pages,
        account::pages,
        orgs::pages,
    ];
    areas.iter().flat_map(|pages| pages(text)).collect()
}
