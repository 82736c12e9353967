//! The pages about agents.

use kalends_kernel::Page;

use super::{done, problems, shell};
use crate::{
    AGENT_FIELDS, AgentGiven, AgentPage, AgentShown, Agents, CalendarShown, Decommission, Done, NO_PROBLEMS,
    NewAgentForm, Paging, Place,
};

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Agents);
    let at = "2026-03-02T08:00:00Z".parse().unwrap();
    let agent = |kind, status| AgentShown {
        id: "agt_01jn8r6v9ke0bt3m5qz2c7xwdh".to_owned(),
        name: text.to_owned(),
        kind,
        description: text.to_owned(),
        status,
        version: 3,
        created_at: at,
        updated_at: at,
    };
    let agents = [agent("ai", "active"), agent("human", "paused"), agent("resource", "decommissioned")];
    let [active, paused, gone] = &agents;
    let page = Page { limit: 50, offset: 50 };
    let paging =
        &Paging { path: "/console/agents".to_owned(), filter: vec![("status", text.to_owned())], page, total: 132 };
    let none = &Paging { page: Page::default(), total: 0, ..paging.clone() };
    let list = Agents { shell, done: done(), may_create: true, agents: &agents, paging };
    let given = AgentGiven { name: text, kind: "human", description: text };
    let wrong = &problems(&AGENT_FIELDS, text);
    let new = NewAgentForm { shell, once: "once", given, problems: wrong };
    let calendars = [CalendarShown {
        id: "cal_01jn8r6v9ke0bt3m5qz2c7xwdj".to_owned(),
        name: text.to_owned(),
        zone: "Europe/Berlin".to_owned(),
    }];
    let shown = AgentPage {
        shell,
        done: done(),
        may_change: true,
        agent: active,
        once: "once",
        version: text,
        given,
        was: given,
        problems: &NO_PROBLEMS,
        calendars: &calendars,
        calendars_total: 3,
        keys: Some(2),
        may_create_key: true,
    };
    vec![
        ("agents", list.html()),
        ("agents, none", Agents { done: Done::default(), may_create: false, agents: &[], paging: none, ..list }.html()),
        ("new agent, wrong", new.html()),
        ("new agent", NewAgentForm { problems: &NO_PROBLEMS, ..new }.html()),
        ("agent", shown.html()),
        ("agent, wrong", AgentPage { agent: paused, problems: wrong, calendars: &[], ..shown }.html()),
        ("agent, gone", AgentPage { agent: gone, calendars: &[], calendars_total: 0, keys: Some(0), ..shown }.html()),
        ("agent, seen by a viewer", AgentPage { may_change: false, keys: None, may_create_key: false, ..shown }.html()),
        ("decommission", Decommission { shell, agent: active, calendars: 3, problem: Some(text) }.html()),
    ]
}
