//! How SQLite plans the crate's statements.

use sqlx::{AssertSqlSafe, Row as _, SqliteConnection};

use crate::scratch::Scratch;

/// Every statement of the crate, from the data that it was compiled with.
pub(crate) fn statements() -> Vec<String> {
    let kept = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.sqlx")).unwrap();
    kept.map(|entry| {
        let data: serde_json::Value = serde_json::from_slice(&std::fs::read(entry.unwrap().path()).unwrap()).unwrap();
        data["query"].as_str().unwrap().to_owned()
    })
    .collect()
}

async fn plan(connection: &mut SqliteConnection, statement: &str) -> Vec<String> {
    sqlx::query(AssertSqlSafe(format!("explain query plan {statement}")))
        .fetch_all(connection)
        .await
        .unwrap()
        .into_iter()
        .map(|row| row.get("detail"))
        .collect()
}

/// The plan of the one statement that contains all of `parts`.
async fn plan_of(parts: &[&str]) -> String {
    let scratch = Scratch::new().await;
    let mut found = statements();
    found.retain(|statement| parts.iter().all(|part| statement.contains(part)));
    let [statement] = found.as_slice() else { panic!("{} statements hold {parts:?}", found.len()) };
    plan(&mut scratch.plain().await, statement).await.join("\n")
}

#[tokio::test]
async fn no_statement_reads_a_whole_table() {
    // Full scans on purpose: the operator's lists and counts, the key table, and sealing again, which reads
    // everything. Also the purge of the audit log, which asks every organization for its plan, the few accounts that
    // are being removed, and the indexes that hold only what is deleted or is to be looked at again.
    let whole = [
        "from organizations order by created_at",
        "instr(lower(name), ?1) > 0",
        "(select count(*) from organizations)",
        "from data_keys",
        "data_keys set state",
        "order by rowid",
        "from organizations o cross join audit_log a",
        "from account_deletions order by",
        "from calendars c indexed by calendars_deleted",
        "from timers indexed by timers_again",
    ];
    // Indexes that hold only pending work, or what failed.
    let work = [
        "waiting_messages",
        "publication_destinations_claimed",
        "calendar_connections_claimed",
        "INDEX webhook_deliveries_pending",
        "INDEX events_not_indexed",
        "INDEX letter_records_by_failure",
    ];
    let scratch = Scratch::new().await;
    let mut connection = scratch.plain().await;
    let statements = statements();
    assert!(statements.len() > 40);
    for statement in statements {
        if whole.iter().any(|part| statement.contains(part)) {
            continue;
        }
        let steps = plan(&mut connection, &statement).await;
        // A subquery or a view, whose own steps are listed too.
        let made = |step: &String| {
            ["CO-ROUTINE ", "MATERIALIZE "].iter().find_map(|kind| step.strip_prefix(kind).map(str::to_owned))
        };
        let made: Vec<_> = steps.iter().filter_map(made).collect();
        for step in &steps {
            let scans = step.strip_prefix("SCAN ").is_some_and(|what| {
                !["CONSTANT ROW", "page", "page LEFT-JOIN", "matching"].contains(&what)
                    && !made.iter().any(|made| made == what)
                    // The plan lists what a subquery reads as a step of its own.
                    && !what.starts_with("(subquery-")
                    && !what.contains("VIRTUAL TABLE")
                    && !work.iter().any(|index| what.contains(index))
            });
            assert!(!scans, "{step}\n{statement}");
        }
    }
}

/// How statements find the calendars of a list of instances.
const OF_CALENDARS: &str = "INDEX sqlite_autoindex_calendars_1 (org_id=? AND id=?)";
const OF_AGENT: &str = "calendars USING COVERING INDEX calendars_by_agent (org_id=? AND agent_id=?)";

#[tokio::test]
async fn instances_of_calendars_are_read_by_their_indexes() {
    let of_series = "e USING INDEX events_series (org_id=? AND calendar_id=? AND reaches>?)";
    let by_start = "e USING INDEX events_by_start (org_id=? AND calendar_id=? AND start_at>? AND start_at<?)";
    let long = "e USING INDEX events_long (org_id=? AND calendar_id=? AND end_at>?)";
    for (parts, steps) in [
        (
            vec!["union all select id from calendars", "e.recurrence is not null"],
            vec![OF_CALENDARS, OF_AGENT, of_series],
        ),
        (vec!["with listed as materialized"], vec![OF_CALENDARS, OF_AGENT, by_start, long]),
        (
            vec!["json_each(?3) asked", "e.calendar_id in"],
            vec![OF_CALENDARS, "e USING INDEX sqlite_autoindex_events_1 (org_id=? AND id=?)"],
        ),
    ] {
        let plan = plan_of(&parts).await;
        for step in steps {
            assert!(plan.contains(step), "{step} is not in\n{plan}");
        }
        assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    }
}

#[tokio::test]
async fn lists_by_metadata_use_its_index() {
    let scope = "c USING INTEGER PRIMARY KEY (rowid=?)";
    let of_digest = "m USING COVERING INDEX event_metadata_by_digest (org_id=? AND calendar_id=? AND digest=?)";
    let of_event = "e USING INDEX sqlite_autoindex_events_1 (org_id=? AND id=?)";
    for (parts, steps) in [
        (vec!["event_metadata m", "limit ?11"], vec![scope, of_digest, of_event]),
        (vec!["select count(*)", "event_metadata m"], vec![scope, of_digest, of_event]),
        (vec!["select m.event_id as"], vec![OF_CALENDARS, OF_AGENT, of_digest]),
        (
            vec!["delete from event_metadata", "select unhex(value"],
            vec!["event_metadata USING PRIMARY KEY (org_id=? AND event_id=?)"],
        ),
        (
            vec!["delete from event_metadata", "e.indexed_version is not e.version"],
            vec!["event_metadata USING PRIMARY KEY (org_id=? AND event_id=?)", of_event],
        ),
        (
            vec!["select exists (select 1 from events", "indexed_version is not version"],
            vec!["events USING INDEX events_not_indexed (org_id=?)"],
        ),
    ] {
        let plan = plan_of(&parts).await;
        for step in steps {
            assert!(plan.contains(step), "{step} is not in\n{plan}");
        }
    }
}

#[tokio::test]
async fn the_hot_reads_use_their_indexes() {
    for (parts, steps) in [
        (
            vec!["join calendars c on c.org_id = e.org_id", "e.id = ?2"],
            vec![
                "e USING INDEX sqlite_autoindex_events_1 (org_id=? AND id=?)",
                "c USING INDEX sqlite_autoindex_calendars_1",
            ],
        ),
        (vec!["k.hash = ?1", "k.revoked_at is null"], vec!["k USING INDEX sqlite_autoindex_api_keys_2 (hash=?)"]),
        (vec!["k.hash = ?1", "k.revoked_at is not null"], vec!["k USING INDEX sqlite_autoindex_api_keys_2 (hash=?)"]),
        (
            vec!["coalesce(d.spans", "c.id = ?2"],
            vec![
                "d USING PRIMARY KEY (org_id=? AND calendar_id=? AND day>? AND day<?)",
                "e USING INDEX events_busy_long (org_id=? AND calendar_id=? AND end_at>?)",
            ],
        ),
        (
            vec!["group_concat(e.busy", "as \"short: Vec<u8>\""],
            vec![
                "COVERING INDEX events_busy (org_id=? AND calendar_id=? AND start_at>? AND start_at<?)",
                "e USING INDEX events_busy_long (org_id=? AND calendar_id=? AND end_at>?)",
            ],
        ),
        (
            vec!["e.status in ('confirmed', 'tentative')"],
            vec!["e USING INDEX events_series (org_id=? AND calendar_id=? AND reaches>?)"],
        ),
        (
            vec!["e.original_start = ?3"],
            vec!["e USING INDEX events_overrides (org_id=? AND series_id=? AND original_start=?)"],
        ),
        (vec!["as \"days: Vec<u8>\"", "c.id = ?2"], vec!["e USING INDEX events_holds (org_id=? AND calendar_id=?)"]),
        (vec!["update timers", "where hold and due_at"], vec!["timers USING INDEX timers_of_holds (due_at<?)"]),
        (vec!["update timers", "not hold and due_at"], vec!["timers USING INDEX timers_due (due_at<?)"]),
        (
            vec!["from jsonb_each(?1) wanted", "c.default_reminders"],
            vec![
                "e USING INDEX sqlite_autoindex_events_1 (org_id=? AND id=?)",
                "c USING INDEX sqlite_autoindex_calendars_1",
            ],
        ),
        (
            vec!["c.feed_token_hash = ?1"],
            vec![
                "c USING INDEX calendars_feed_token_hash_unique (feed_token_hash=?)",
                "c USING INDEX sqlite_autoindex_calendars_2 (feed_token=?)",
            ],
        ),
        (
            vec!["delete from letters", "recipient = ?2 and about = ?3"],
            vec!["letters USING COVERING INDEX letters_of_recipient (org_id=? AND recipient=? AND about=?)"],
        ),
        (
            vec!["order by access_expires_at limit"],
            vec!["api_keys USING INDEX api_keys_of_clients_by_expiry (access_expires_at<?)"],
        ),
        (vec!["insert into connector_clients"], vec!["INDEX connector_clients_never_used (created_at>?)"]),
        (
            vec!["delete from connector_clients", "c.used_at = c.created_at"],
            vec!["INDEX connector_clients_never_used (created_at<?)"],
        ),
        (
            vec!["delete from connector_clients", "c.used_at <= ?1"],
            vec![
                "c USING INDEX connector_clients_by_use (used_at<?)",
                "k USING INDEX api_keys_of_client (client_id=?)",
                "a USING INDEX sqlite_autoindex_agents_1 (org_id=? AND id=?)",
            ],
        ),
        (vec!["(e.org_id, e.id) > (?1, ?2)"], vec!["e USING INDEX sqlite_autoindex_events_1 ((org_id,id)>(?,?))"]),
        (
            vec!["update or fail timers set again = 0"],
            vec!["timers USING INDEX sqlite_autoindex_timers_1 (org_id=? AND calendar_id=? AND event_id=?)"],
        ),
        (
            vec!["update or fail timers set calendar_id"],
            vec!["timers USING INDEX sqlite_autoindex_timers_1 (org_id=? AND calendar_id=? AND event_id=?)"],
        ),
        (
            vec!["update or fail events set content"],
            vec!["events USING INDEX sqlite_autoindex_events_1 (org_id=? AND id=?)"],
        ),
        (
            vec!["update or fail events set calendar_id"],
            vec!["events USING INDEX sqlite_autoindex_events_1 (org_id=? AND id=?)"],
        ),
        (
            vec!["(revision, event_id) > (?3, ?4)"],
            vec!["moved_events USING INDEX moved_events_by_revision (org_id=? AND calendar_id=?"],
        ),
        (
            vec!["(revision, id) > (?3, ?4)"],
            vec!["events USING INDEX events_by_revision (org_id=? AND calendar_id=? AND (revision,id)>(?,?)"],
        ),
        (vec!["e.revision > ?3"], vec!["e USING INDEX events_by_revision (org_id=? AND calendar_id=? AND revision>?)"]),
        (
            vec!["and revision > ?3"],
            vec!["events USING INDEX events_by_revision (org_id=? AND calendar_id=? AND revision>?)"],
        ),
        (
            vec!["n.paused", "c.id as calendar_id"],
            vec![
                "c USING INDEX sqlite_autoindex_calendars_1 (org_id=? AND id=?)",
                "g USING COVERING INDEX availability_grants_for_all (org_id=?)",
                "t USING COVERING INDEX availability_grant_agents_of_agent (org_id=? AND agent_id=?)",
                "s USING PRIMARY KEY (org_id=? AND grant_id=?)",
                "e USING INDEX sqlite_autoindex_external_calendars_1 (org_id=? AND id=?)",
                "n USING INDEX sqlite_autoindex_calendar_connections_1 (org_id=? AND id=?)",
            ],
        ),
        (
            vec!["n.paused", "a.id as agent_id"],
            vec![
                "a USING INDEX sqlite_autoindex_agents_1 (org_id=? AND id=?)",
                "g USING COVERING INDEX availability_grants_for_all (org_id=?)",
                "t USING COVERING INDEX availability_grant_agents_of_agent (org_id=? AND agent_id=?)",
                "s USING PRIMARY KEY (org_id=? AND grant_id=?)",
                "e USING INDEX sqlite_autoindex_external_calendars_1 (org_id=? AND id=?)",
                "n USING INDEX sqlite_autoindex_calendar_connections_1 (org_id=? AND id=?)",
            ],
        ),
        (vec!["n.paused", "e.spans"], vec!["e USING INDEX sqlite_autoindex_external_calendars_1 (org_id=? AND id=?)"]),
        (
            vec!["remains = 'kept'", "max(place)"],
            vec!["ical_subscriptions USING INDEX ical_subscriptions_places (org_id=? AND calendar_id=?)"],
        ),
        (
            vec!["cross join availability_rules r"],
            vec![
                "c USING INDEX sqlite_autoindex_calendars_1 (org_id=? AND id=?)",
                "r USING INDEX sqlite_autoindex_availability_rules_1 (org_id=? AND calendar_id=?)",
            ],
        ),
        (
            vec!["from events\n", "start_at >= ?3", "limit ?7"],
            vec!["events USING INDEX events_by_start (org_id=? AND calendar_id=? AND start_at>? AND start_at<?)"],
        ),
    ] {
        let plan = plan_of(&parts).await;
        for step in steps {
            assert!(plan.contains(step), "{step} is not in\n{plan}");
        }
        assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    }
    // What blocks a time is sorted, because it is little: no event that ended long before is read.
    let plan = plan_of(&["page on true", "union all"]).await;
    for step in [
        "events USING INDEX events_busy (org_id=? AND calendar_id=? AND start_at>? AND start_at<?)",
        "events USING INDEX events_busy_long (org_id=? AND calendar_id=? AND end_at>?)",
    ] {
        assert!(plan.contains(step), "{step} is not in\n{plan}");
    }
    // The purge stops at its limit: it never collects everything that could be purged.
    let plan = plan_of(&["'external_ical'", "indexed by calendars_deleted"]).await;
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    for part in ["+start_at <= ?3", "end_at <= ?3"] {
        let plan = plan_of(&[part, "order by"]).await;
        assert!(plan.contains("USING INDEX events_by_end"), "{plan}");
    }
}

#[tokio::test]
async fn approvals_are_read_by_their_indexes() {
    for (parts, step) in [
        (vec!["from approvals", "order by created_at desc"], "USING INDEX approvals_by_creation (org_id=?)"),
        (vec!["count(*) from approvals", "?3 is null"], "USING COVERING INDEX approvals_by_creation (org_id=?)"),
        (
            vec!["count(*) from approvals", "key_id = ?2"],
            "INDEX approvals_pending_of_key (org_id=? AND key_id=? AND expires_at>?)",
        ),
        (
            vec!["from approvals", "status = 'pending' and expires_at > ?2 order by expires_at"],
            "USING INDEX approvals_pending_of_org (org_id=? AND expires_at>?)",
        ),
        (
            vec!["decided_at", "from approvals", "key_id = ?2"],
            "INDEX approvals_pending_of_key (org_id=? AND key_id=? AND expires_at>?)",
        ),
        (vec!["from approvals indexed by"], "USING INDEX approvals_pending (expires_at<?)"),
        (vec!["delete from approvals", "coalesce"], "INDEX approvals_ended ("),
    ] {
        let plan = plan_of(&parts).await;
        assert!(plan.contains(step), "{step} is not in\n{plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    }
}

#[tokio::test]
async fn what_waits_is_read_by_the_indexes_of_its_organization() {
    let holds = "e USING INDEX events_holds_of_org (org_id=? AND hold_expires_at>?)";
    let proposals = "INDEX proposals_pending_of_org (org_id=?)";
    for (parts, steps) in [
        (["e.hold_expires_at > ?2", "limit ?3"], vec![holds]),
        (["p.status = 'pending'", "order by p.created_at, p.id limit ?5"], vec![proposals]),
        (["from proposals p indexed by proposals_pending_of_org", "select count(*)"], vec![proposals]),
        (["pending_proposals!", "holds!"], vec![holds, proposals]),
        (["has_holds!", "has_proposals!"], vec![holds, proposals]),
    ] {
        let plan = plan_of(&parts).await;
        for step in steps {
            assert!(plan.contains(step), "{step} is not in\n{plan}");
        }
        assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    }
}

#[tokio::test]
async fn the_log_of_an_agent_is_read_by_its_index() {
    let plan = plan_of(&["from audit_log", "agent_id = ?2"]).await;
    assert!(plan.contains("audit_log_by_agent") && !plan.contains("TEMP B-TREE"), "{plan}");
}

#[tokio::test]
async fn what_the_log_names_is_read_by_its_indexes() {
    let plan = plan_of(&["from audit_log", "(created_at, id) < (?4, ?5)"]).await;
    assert!(plan.contains("audit_log_by_time") && !plan.contains("TEMP B-TREE"), "{plan}");
    let plan = plan_of(&["null as agent_name"]).await;
    for step in [
        "agents USING INDEX agents_by_creation (org_id=?)",
        OF_CALENDARS,
        "e USING INDEX sqlite_autoindex_events_1 (org_id=? AND id=?)",
    ] {
        assert!(plan.contains(step), "{step} is not in\n{plan}");
    }
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
}

#[tokio::test]
async fn the_newest_deliveries_are_read_from_their_end() {
    let plan = plan_of(&["from webhook_deliveries", "order by id desc limit ?4 offset ?5"]).await;
    assert!(plan.contains("SEARCH") && !plan.contains("TEMP B-TREE"), "{plan}");
}

#[tokio::test]
async fn bookings_of_pages_are_read_by_the_index_of_the_list() {
    let by_start = "b USING INDEX bookings_by_start (org_id=? AND start_at>? AND start_at<?)";
    let of_page = "b USING INDEX bookings_of_page (org_id=? AND page_id=?)";
    for (parts, step, sorts) in [
        (["from hosted_bookings v", "order by v.start_at, v.id"], by_start, false),
        (["from hosted_bookings v", "order by v.start_at desc, v.id desc"], by_start, false),
        (["select 1 from hosted_bookings v", "and v.start_at >= ?4"], by_start, false),
        (["from hosted_bookings v", "v.page_id = ?7"], of_page, true),
        (["select 1 from hosted_bookings v", "v.page_id = ?8"], of_page, false),
    ] {
        let plan = plan_of(&parts).await;
        assert!(plan.contains(step), "{step} is not in\n{plan}");
        assert_eq!(plan.contains("TEMP B-TREE"), sorts, "{plan}");
    }
}

#[tokio::test]
async fn the_operator_s_lists_are_read_by_their_indexes() {
    for (parts, index) in [
        (&["instr(lower(name), ?1) > 0", "order by created_at desc"][..], "organizations_by_creation"),
        (&["waitlisted_at is not null", "order by waitlisted_at"], "organizations_by_wait"),
        (&["select r.created_at from letter_records r"], "letter_records_by_failure (created_at>?)"),
    ] {
        let plan = plan_of(parts).await;
        assert!(plan.contains(index), "{index} is not in\n{plan}");
        let sorts = plan.contains("TEMP B-TREE FOR ORDER BY") || plan.contains("LAST TERM");
        assert!(!sorts, "{plan}");
    }
    // What is sorted by organization is limited first.
    let plan = plan_of(&["row_number() over (partition by f.org_id"]).await;
    assert!(plan.contains("SCAN l USING INDEX letter_records_by_failure"), "{plan}");
    assert!(plan.contains("SEARCH r USING INTEGER PRIMARY KEY (rowid=?)"), "{plan}");
}
