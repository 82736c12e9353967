//! The pages about keys.

use kalends_kernel::Page;
use kalends_time::SignedDuration;

use super::{done, problems, shell};
use crate::{
    Choice, Done, KEY_FIELDS, KeyApproval, KeyFacts, KeyGiven, KeyMade, KeyReplaced, KeyShown, Keys, KeysOf,
    NO_PROBLEMS, NewKeyForm, Paging, Place, ReplaceKey, RevokeKey, ScopeChoice, snippets::mcp_configuration,
};

const AGENT: &str = "agt_01jn8r6v9ke0bt3m5qz2c7xwdh";

fn facts(prefix: &str, used: bool) -> KeyFacts {
    KeyFacts {
        prefix: prefix.to_owned(),
        created_at: "2026-03-02T08:00:00Z".parse().unwrap(),
        last_used_on: used.then(|| "2026-11-28".parse().unwrap()),
    }
}

fn key(text: &str, is_paused: bool) -> KeyShown {
    KeyShown {
        id: "key_01jn8r6v9ke0bt3m5qz2c7xwdk".to_owned(),
        label: text.to_owned(),
        agent: AGENT.to_owned(),
        agent_name: text.to_owned(),
        is_paused,
        scopes: vec!["freebusy:org", "holds:org"],
        approval: Some(KeyApproval { operations: None, lasts: SignedDuration::hours(24) }),
        is_connected: false,
        created_by: text.to_owned(),
        facts: facts("svc_ak_Zk9wQm7cXb2dR", !is_paused),
    }
}

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Keys);
    let unnamed = KeyShown {
        label: String::new(),
        created_by: String::new(),
        scopes: Vec::new(),
        approval: None,
        ..key(text, true)
    };
    let some = Some(KeyApproval { operations: Some(3), lasts: SignedDuration::minutes(90) });
    let connected = KeyShown { is_connected: true, approval: some, ..key(text, false) };
    let keys = [key(text, false), unnamed, connected];
    let page = Page { limit: 50, offset: 50 };
    let paging =
        &Paging { path: "/console/keys".to_owned(), filter: vec![("agent", text.to_owned())], page, total: 132 };
    let none = &Paging { page: Page::default(), total: 0, ..paging.clone() };
    let own = [facts("svc_sk_Zk9wQm7cXb2dR", true)];
    let list = Keys {
        shell,
        done: done(),
        of: None,
        included: true,
        may_create: true,
        may_revoke: true,
        may_replace: true,
        keys: &keys,
        paging,
        own: &own,
    };
    let of = Some(KeysOf { id: AGENT, name: text });
    let agents = [Choice { value: AGENT, title: text }];
    let choice = |name, is_chosen| ScopeChoice { name, about: "When everybody is free or busy", is_chosen };
    let scopes = [choice("freebusy:org", true), choice("holds:org", false)];
    let given = KeyGiven { agent: AGENT, label: text, scopes: &scopes, approval: "writes", hours: text };
    let wrong = &problems(&KEY_FIELDS, text);
    let new = NewKeyForm { shell, once: "once", agents: &agents, more: true, given, problems: wrong };
    let (key, base_url) = ("svc_ak_Zk9wQm7cXb2dRt5yHn1vLs8pGf3jKe6aUi4oWqMxEzT", "https://calendar.example.com");
    let facts = &keys[0].facts;
    let revoke = RevokeKey { shell, id: &keys[0].id, label: text, is_connected: false, agent_name: text, facts };
    vec![
        ("keys", list.html()),
        ("keys of an agent", Keys { done: Done::default(), of, may_replace: false, own: &[], ..list }.html()),
        ("keys, none", Keys { keys: &[], paging: none, own: &[], ..list }.html()),
        ("keys, seen by a viewer", {
            let seen = Keys { included: false, may_create: false, may_revoke: false, may_replace: false, ..list };
            Keys { keys: &[], paging: none, ..seen }.html()
        }),
        ("new key, wrong", new.html()),
        ("new key", NewKeyForm { problems: &NO_PROBLEMS, more: false, ..new }.html()),
        ("new key, no agents", NewKeyForm { problems: &NO_PROBLEMS, agents: &[], more: false, ..new }.html()),
        ("key made", KeyMade { shell, agent: text, key, base_url }.html()),
        ("replace key", ReplaceKey { shell, once: "once", own: &own }.html()),
        ("replace key, none", ReplaceKey { shell, once: "once", own: &[] }.html()),
        ("key replaced", KeyReplaced { shell, key, base_url }.html()),
        ("revoke key", revoke.html()),
        ("revoke key without a label", RevokeKey { label: "", ..revoke }.html()),
        ("revoke connected key", RevokeKey { is_connected: true, ..revoke }.html()),
    ]
}

#[test]
fn a_new_key_is_shown_with_ways_to_use_it() {
    let shell = &shell("Engines", Place::Keys);
    let made = KeyMade { shell, agent: "Ada", key: "svc_ak_x", base_url: "https://calendar.example.com" };
    let page = made.html().replace("&#34;", "\"").replace("&#39;", "'");
    for part in [
        "<pre><code data-copy=\"the key\">svc_ak_x</code></pre>",
        mcp_configuration("https://calendar.example.com", "svc_ak_x").as_str(),
        "curl -H 'Authorization: Bearer svc_ak_x' https://calendar.example.com/v1/calendars",
    ] {
        assert!(page.contains(part), "no {part} in {page}");
    }
}
