//! The page of the audit log.

use super::{problems, shell};
use crate::{
    ACTIVITY_FIELDS, Activity, ActivityChoices, ActivityEntry, ActivityGiven, ActivityLog, ActivityPart, Choice, Href,
    NO_PROBLEMS, Place,
};

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Activity);
    let choices = [Choice { value: "", title: "All" }, Choice { value: text, title: text }];
    let choices = ActivityChoices { agents: &choices, actors: &choices, actions: &choices };
    let given = ActivityGiven { agent: text, actor: text, action: text, from: text, to: text };
    let everything = ActivityGiven { agent: "", actor: "", action: "", from: "", to: "" };
    let done = ActivityEntry {
        sentence: vec![
            ActivityPart::text(text),
            ActivityPart { text: text.to_owned(), id: text.to_owned(), page: Href::new("/console/agents/agt_1") },
            ActivityPart { text: text.to_owned(), id: text.to_owned(), page: None },
        ],
        refused: None,
        at: "2026-03-02T08:00:00Z".parse().unwrap(),
        action: "agent.create".to_owned(),
        actor: Some(text.to_owned()),
        agent: Some(("agt_01jn8r6v9ke0bt3m5qz2c7xwdh".to_owned(), Some(text.to_owned()))),
        resource: text.to_owned(),
        ip: Some("203.0.113.7".to_owned()),
        request: "POST /v1/agents".to_owned(),
        request_id: "req_01jn8r6v9ke0bt3m5qz2c7xwdh".to_owned(),
    };
    let unnamed = ActivityEntry { agent: Some((text.to_owned(), None)), ..done.clone() };
    let refused = ActivityEntry { refused: Some(text.to_owned()), actor: None, agent: None, ip: None, ..done.clone() };
    let now = "2026-03-03T00:00:00Z".parse().unwrap();
    let today = ActivityEntry { at: now, ..done.clone() };
    let entries = [today, done, unnamed, refused];
    let log = ActivityLog { entries: &entries, next: Some(text), retention_days: Some(3), now };
    let last = ActivityLog { entries: &[], next: None, retention_days: None, now };
    let wrong = &problems(&ACTIVITY_FIELDS, text);
    let shown = Activity { shell, given, choices, problems: &NO_PROBLEMS, log: Some(log), continues: true };
    vec![
        ("activity", shown.html()),
        ("activity, begun", Activity { given: everything, continues: false, ..shown }.html()),
        ("activity, nothing matches", Activity { log: Some(last), ..shown }.html()),
        ("activity, none", Activity { given: everything, log: Some(last), continues: false, ..shown }.html()),
        ("activity, wrong", Activity { problems: wrong, log: None, ..shown }.html()),
    ]
}

#[test]
fn entries_are_grouped_by_day() {
    let shown = pages("x").into_iter().next().map(|(_, html)| html).unwrap();
    let (_, days) = shown.split_once("<h2>Today, 3 Mar 2026</h2>").unwrap();
    let (today, yesterday) = days.split_once("<h2>Yesterday, 2 Mar 2026</h2>").unwrap();
    assert_eq!(today.matches("<li>\n<time datetime=\"2026-03-03T00:00:00Z\">00:00</time>").count(), 1, "{shown}");
    assert_eq!(yesterday.matches("<li>\n<time datetime=\"2026-03-02T08:00:00Z\">08:00</time>").count(), 3, "{shown}");
}

#[test]
fn a_sentence_has_no_blanks_between_its_parts() {
    let shown = pages("x").into_iter().next().map(|(_, html)| html).unwrap();
    let sentence = "<p>x<a href=\"/console/agents/agt_1\" title=\"x\">x</a><span title=\"x\">x</span></p>";
    assert_eq!(shown.matches(sentence).count(), 4, "{shown}");
}
