//! The pages about copied events.

use kalends_time::Timestamp;

use super::{done, problems, shell};
use crate::{
    Choice, Copies, DESTINATION_FIELDS, DestinationGiven, DestinationPage, DestinationShown, Done,
    NEW_DESTINATION_FIELDS, NO_PROBLEMS, NewDestination, Place, StopCopying,
};

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Connections);
    let at: Timestamp = "2026-03-02T08:00:00Z".parse().unwrap();
    let destination = &DestinationShown {
        calendar: "cal_01jn8r6v9ke0bt3m5qz2c7xwdj".to_owned(),
        calendar_name: Some(text.to_owned()),
        target_name: Some(text.to_owned()),
        policy: "confirmed",
        published_at: Some(at),
        last_error: Some(text.to_owned()),
    };
    let bare = &DestinationShown {
        calendar_name: None,
        target_name: None,
        published_at: None,
        last_error: None,
        ..destination.clone()
    };
    let destinations = [destination.clone(), bare.clone()];
    let copies = Copies {
        shell,
        done: done(),
        connection: "con_x",
        account: text,
        is_supported: true,
        is_allowed: true,
        destinations: &destinations,
        form: None,
    };
    let (targets, calendars) = ([Choice { value: "xcl_x", title: text }], [Choice { value: "cal_x", title: text }]);
    let given = DestinationGiven { target: "xcl_x", policy: "confirmed" };
    let form = NewDestination {
        calendars: &calendars,
        oldest: Some(200),
        targets: &targets,
        calendar: "cal_x",
        given,
        problems: &NO_PROBLEMS,
    };
    let wrong_form = NewDestination { oldest: None, problems: &problems(&NEW_DESTINATION_FIELDS, text), ..form };
    let no_form = NewDestination { calendars: &[], ..form };
    let page = DestinationPage {
        shell,
        done: done(),
        once: "once",
        connection: "con_x",
        account: text,
        destination,
        status: "error",
        published: 12_345,
        diverged: 1,
        targets: &targets,
        version: text,
        given,
        was: given,
        problems: &NO_PROBLEMS,
    };
    let wrong = &problems(&DESTINATION_FIELDS, text);
    let wrong_page = DestinationPage { done: Done::default(), diverged: 2, problems: wrong, ..page };
    let lapsed = DestinationPage { status: "reauthorization_required", destination: bare, diverged: 0, ..page };
    let stop = StopCopying { shell, destination, version: text, keeps: false, problems: &NO_PROBLEMS };
    vec![
        ("copies", copies.html()),
        ("copies, with a form", Copies { form: Some(form), ..copies }.html()),
        ("copies, wrong", Copies { form: Some(wrong_form), ..copies }.html()),
        ("copies, of every calendar", Copies { form: Some(no_form), ..copies }.html()),
        ("copies, not allowed", Copies { is_allowed: false, destinations: &[], ..copies }.html()),
        ("copies, not supported", Copies { is_supported: false, destinations: &[], ..copies }.html()),
        ("destination", page.html()),
        ("destination, wrong", wrong_page.html()),
        ("destination, without consent", lapsed.html()),
        ("stop copying", stop.html()),
        ("stop copying, wrong", StopCopying { keeps: true, problems: &problems(&["copies"], text), ..stop }.html()),
    ]
}
