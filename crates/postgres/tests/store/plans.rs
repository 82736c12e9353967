//! Plans of the hot reads: they use their indexes.

use sqlx::{AssertSqlSafe, PgConnection, Row as _};

use crate::server::Bench;

/// Fills every table with enough rows that a plan without the index would be bad.
const FILL: &str = "
    INSERT INTO organizations (id, name, plan, test, version, created_at)
    SELECT md5('o' || n)::uuid, 'Acme', 'free', FALSE, 1, n FROM generate_series(1, 5000) n;
    INSERT INTO api_keys (org_id, id, kind, hash, prefix, created_at)
    SELECT md5('o' || n)::uuid, md5('k' || n)::uuid, 'org', sha256(('k' || n)::bytea), 'svc_sk_', n
    FROM generate_series(1, 5000) n;
    INSERT INTO agents (org_id, id, name, type, status, metadata, version, created_at, updated_at)
    SELECT md5('o' || n % 200 + 1)::uuid, md5('a' || n)::uuid, 'Scheduler', 'ai', 'active', '{}', 1, n, n
    FROM generate_series(1, 1000) n;
    INSERT INTO calendars (org_id, id, agent_id, name, timezone, metadata, agent_status, feed_token, feed_token_hash,
        revision, version, created_at, updated_at)
    SELECT md5('o' || n % 200 + 1)::uuid, md5('c' || n)::uuid, md5('a' || n)::uuid, 'Work', 'UTC', '{}', 'idle', n,
        sha256(('t' || n)::bytea), 0, 1, n, n
    FROM generate_series(1, 1000) n;
    INSERT INTO events (org_id, id, calendar_id, content, start_at, end_at, all_day, status, source, version,
        created_at, updated_at, busy, revision)
    SELECT md5('o' || c % 200 + 1)::uuid, md5('e' || c || '.' || n)::uuid, md5('c' || c)::uuid, repeat('x', 200),
        n * 3600000000::bigint, n * 3600000000::bigint + 1800000000, FALSE, 'confirmed', 'internal', 1, n, n,
        int8send(n * 3600000000::bigint) || int8send(n * 3600000000::bigint + 1800000000), n
    FROM generate_series(1, 100) c, generate_series(1, 300) n;
    INSERT INTO event_metadata (org_id, event_id, digest, calendar_id)
    SELECT org_id, id, start_at / 36000000000, calendar_id FROM events;
    INSERT INTO busy_days (org_id, calendar_id, day, spans)
    SELECT md5('o' || c % 200 + 1)::uuid, md5('c' || c)::uuid, n, '' FROM generate_series(1, 100) c, generate_series(1, 300) n;
    INSERT INTO availability_rules (org_id, calendar_id, id, rules, version, created_at, updated_at)
    SELECT org_id, id, id, repeat('x', 200), 1, 1, 1 FROM calendars;
    INSERT INTO reservations (org_id, calendar_id, proposal_id, place, start_at, end_at, expires_at, revision)
    SELECT c.org_id, c.id, c.id, n, n, n + 1, n, 1 FROM calendars c, generate_series(1, 3) n;
    INSERT INTO calendar_connections (org_id, id, human_id, provider, tokens, paused, lapsed, due_at, fence, failures,
        version, created_at, updated_at)
    SELECT md5('o' || n % 200 + 1)::uuid, md5('n' || n)::uuid, md5('h' || n)::uuid, 'google', repeat('x', 200), FALSE,
        FALSE, n, 0, 0, 1, n, n
    FROM generate_series(1, 2000) n;
    INSERT INTO external_calendars (org_id, id, connection_id, content, is_primary, revision)
    SELECT org_id, md5(id::text || n)::uuid, id, repeat('x', 200), FALSE, 1
    FROM calendar_connections, generate_series(1, 3) n;
    INSERT INTO availability_grants (org_id, id, human_id, audience, version, created_at)
    SELECT org_id, id, human_id, CASE WHEN due_at % 50 = 0 THEN 'all' ELSE 'selected' END, 1, 1
    FROM calendar_connections;
    INSERT INTO availability_grant_sources (org_id, grant_id, external_calendar_id)
    SELECT org_id, connection_id, id FROM external_calendars;
    INSERT INTO availability_grant_agents (org_id, grant_id, agent_id)
    SELECT g.org_id, g.id, a.id FROM availability_grants g JOIN agents a ON a.org_id = g.org_id
    WHERE g.audience = 'selected';
    ANALYZE";

/// Series on five calendars of one organization.
const SERIES: &str = "
    INSERT INTO events (org_id, id, calendar_id, content, start_at, end_at, all_day, status, source, version,
        created_at, updated_at, recurrence, reaches)
    SELECT md5('o8')::uuid, md5('s' || c || '.' || n)::uuid, md5('c' || c)::uuid, repeat('x', 200), n, n + 1800000000,
        FALSE, 'confirmed', 'internal', 1, n, n, '{}', 9223372036854775807
    FROM generate_series(7, 1000, 200) c, generate_series(1, 50) n;
    ANALYZE";

/// Users who own and join organizations, with their sessions and claims, and subscriptions of all calendars.
const PEOPLE: &str = "
    INSERT INTO users (id, email, holds_address, name, version, created_at, updated_at)
    SELECT md5('u' || n)::uuid, 'u' || n || '@example.com', TRUE, 'Ada', 1, n, n FROM generate_series(1, 5000) n;
    INSERT INTO organization_owners (org_id, user_id, owned_since)
    SELECT md5('o' || n)::uuid, md5('u' || n)::uuid, n FROM generate_series(1, 5000) n;
    INSERT INTO organization_members (org_id, user_id, role, since)
    SELECT md5('o' || n % 5000 + 1)::uuid, md5('u' || n)::uuid, 'member', n FROM generate_series(1, 5000) n;
    INSERT INTO sessions (id, user_id, org_id, created_at, expires_at)
    SELECT md5('x' || n)::uuid, md5('u' || n % 5000)::uuid, CASE WHEN n % 2 = 0 THEN md5('o' || n % 5000)::uuid END, n,
        n
    FROM generate_series(1, 20000) n;
    INSERT INTO account_claims (id, org_id, user_id, address, state, attempts, due_at, version, created_at)
    SELECT md5('m' || n)::uuid, md5('o' || n)::uuid, md5('u' || n % 500)::uuid, sha256(('m' || n)::bytea),
        CASE WHEN n % 10 = 0 THEN 'held' WHEN n % 10 < 5 THEN 'initiated' ELSE 'void' END, 0, n, 1, n
    FROM generate_series(1, 5000) n;
    INSERT INTO ical_subscriptions (org_id, id, agent_id, calendar_id, content, host, paused, fence, failures, seen,
        version, created_at, updated_at)
    SELECT c.org_id, md5(c.id::text || n)::uuid, c.agent_id, c.id, repeat('x', 200), sha256('h'), FALSE, 0, 0, '{}', 1,
        n, n
    FROM calendars c, generate_series(1, 5) n;
    ANALYZE";

/// Approvals, of which few are pending.
const APPROVALS: &str = "
    INSERT INTO approvals (org_id, id, key_id, key_prefix, agent_id, operation, status, content, version, created_at,
        expires_at, decided_at)
    SELECT md5('o' || n % 200 + 1)::uuid, md5('p' || n)::uuid, md5('k' || n % 200 + 1)::uuid, 'svc_ak_',
        md5('a' || n % 1000)::uuid, 'createEvent', CASE WHEN n % 70 = 0 THEN 'pending' ELSE 'denied' END,
        repeat('x', 200), 1, n, n + 100000, CASE WHEN n % 70 > 0 THEN n + 1 END
    FROM generate_series(1, 20000) n;
    ANALYZE approvals";

const ORG: &str = "md5('o8')::uuid";

/// The statement in `file` that starts with `begins`, without the column aliases that are hints for the macro.
fn statement(file: &str, begins: &str) -> String {
    let start = file.find(begins).unwrap_or_else(|| panic!("no statement begins with {begins:?}"));
    let ends = if file[..start].ends_with("r#\"") { "\"#" } else { "\"" };
    let end = start + file[start..].find(ends).unwrap();
    let mut statement = file[start..end].to_owned();
    while let Some(named) = statement.find(" AS \"") {
        let name = named + " AS \"".len();
        let end = name + statement[name..].find('"').unwrap();
        statement.replace_range(named..=end, "");
    }
    statement
}

/// A statement in `file`, with its parameters filled in.
fn filled(file: &str, begins: &str, parameters: &[&str]) -> String {
    let mut statement = statement(file, begins);
    for (index, parameter) in parameters.iter().enumerate().rev() {
        statement = statement.replace(&format!("${}", index + 1), parameter);
    }
    statement
}

/// The plan of a statement in `file`, with its parameters filled in.
async fn plan(bench: &Bench, file: &str, begins: &str, parameters: &[&str]) -> String {
    explained(&mut bench.behind.pool.acquire().await.unwrap(), &filled(file, begins, parameters)).await
}

/// The plan of a statement, as text.
async fn explained(connection: &mut PgConnection, statement: &str) -> String {
    let rows = sqlx::query(AssertSqlSafe(format!("EXPLAIN (COSTS OFF) {statement}")));
    let rows = rows.fetch_all(connection).await.unwrap();
    rows.iter().map(|row| row.get::<String, _>(0) + "\n").collect()
}

/// The plan of a statement that Postgres plans once for all values, as text.
async fn generic_plan(connection: &mut PgConnection, statement: &str, values: &str) -> String {
    let prepare = format!("SET plan_cache_mode = force_generic_plan; PREPARE planned AS {statement}");
    sqlx::raw_sql(AssertSqlSafe(prepare)).execute(&mut *connection).await.unwrap();
    let plan = explained(connection, &format!("EXECUTE planned({values})")).await;
    sqlx::raw_sql("DEALLOCATE planned").execute(&mut *connection).await.unwrap();
    plan
}

#[track_caller]
fn uses(plan: &str, indexes: &[&str]) {
    for index in indexes {
        assert!(plan.contains(index), "{index} is not used:\n{plan}");
    }
    assert!(!plan.contains("Seq Scan"), "a table is read as a whole:\n{plan}");
}

/// Destinations of all calendars, with their copies.
const PUBLISHED: &str = "
    INSERT INTO publication_destinations (org_id, calendar_id, human_id, connection_id, target_id, policy, ending,
        failures, fence, attempting, version, created_at, updated_at)
    SELECT c.org_id, c.id, k.human_id, k.id, k.id, 'confirmed', FALSE, 0, 0, FALSE, 1, 1, 1
    FROM calendars c JOIN calendar_connections k ON k.org_id = c.org_id AND k.due_at = c.created_at;
    UPDATE calendars SET publication_policy = 'confirmed', publication_due_at = created_at;
    INSERT INTO publication_copies (org_id, calendar_id, event_id, original_start, id, target_id, content, digest,
        visible, ends_at, state)
    SELECT org_id, calendar_id, md5(calendar_id::text || n)::uuid, n, md5(calendar_id::text || n)::uuid, target_id,
        repeat('x', 200), '', '', n, 'published'
    FROM publication_destinations, generate_series(1, 20) n;
    ANALYZE";

#[tokio::test]
async fn what_is_published_is_found_by_indexes() {
    let bench = Bench::set().await;
    sqlx::raw_sql(FILL).execute(&bench.behind.pool).await.unwrap();
    sqlx::raw_sql(PUBLISHED).execute(&bench.behind.pool).await.unwrap();
    let publications = include_str!("../../src/read/publications.rs");
    // There are few destinations, so that reading all of them is cheap. Now only a table without a fitting index is read
    // as a whole.
    let mut connection = bench.behind.pool.acquire().await.unwrap();
    sqlx::raw_sql("SET enable_seqscan = off").execute(&mut *connection).await.unwrap();
    let claim = filled(publications, "WITH taken AS MATERIALIZED", &["5", "9", "3", "4", "5000"]);
    let due = explained(&mut connection, &claim).await;
    sqlx::raw_sql("RESET enable_seqscan").execute(&mut *connection).await.unwrap();
    uses(&due, &["calendars_publication_due", "publication_destinations_pk", "calendar_connections_pk"]);
    uses(&due, &["publication_destinations_attempted"]);
    let copies = plan(&bench, publications, "SELECT event_id, original_start", &[ORG, "md5('c7')::uuid"]).await;
    uses(&copies, &["publication_copies_pk"]);
}

#[tokio::test]
async fn hot_reads_use_their_indexes() {
    let bench = Bench::set().await;
    sqlx::raw_sql(FILL).execute(&bench.behind.pool).await.unwrap();
    let events = include_str!("../../src/read/events.rs");
    let busy = include_str!("../../src/read/busy.rs");
    let principals = include_str!("../../src/read/principals.rs");

    let found = plan(&bench, events, "SELECT e.id, e.calendar_id", &[ORG, "md5('e7.5')::uuid"]).await;
    // For the calendar, either index with its identifier will do in an organization that has few.
    uses(&found, &["events_pk", "on calendars c", "agents_pk"]);

    let calendar = "md5('c7')::uuid";
    let window = ["360000000000", "720000000000"];
    let list = [ORG, calendar, window[0], window[1], "NULL", "NULL", "50", "0", "NULL"];
    let listed = plan(&bench, events, "WITH page AS MATERIALIZED (\n                 SELECT id", &list).await;
    uses(&listed, &["events_by_start"]);

    let agents = [ORG, "md5('a7')::uuid", window[0], window[1], "NULL", "NULL", "50", "0", "NULL"];
    let listed = plan(&bench, events, "WITH page AS MATERIALIZED (\n                 SELECT e.id", &agents).await;
    uses(&listed, &["events_by_start", "agents_pk"]);

    let by_day = [ORG, calendar, window[0], "4", "9", window[1]];
    let blocking = plan(&bench, busy, "SELECT c.revision, d.spans", &by_day).await;
    uses(&blocking, &["busy_days_pk", "events_busy_long", "agents_pk", "events_holds"]);

    // The read of a day that has too many spans for one value.
    let bounds = [ORG, calendar, window[0], window[0], window[1]];
    let blocking = plan(&bench, busy, "SELECT c.revision,\n                 (SELECT string_agg", &bounds).await;
    uses(&blocking, &["Index Only Scan using events_busy", "events_busy_long", "agents_pk", "availability_rules_pk"]);

    let changes = include_str!("../../src/read/changes.rs");
    let all_ones = "'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid";
    let begins = |deleted: &str, rest: &str| {
        format!(
            "SELECT id, calendar_id, content, start_at, end_at, all_day, status, source, reminders, version,
                     created_at, updated_at,{deleted} recurrence, series_id, original_start,
                     hold_expires_at, hold_priority, hold_scope, hold_set_id, transparent{rest}"
        )
    };
    let feed = [ORG, calendar, "250", all_ones, "300", "0", "51"];
    let fed = plan(&bench, changes, &begins(" deleted_at,", ", revision\n"), &feed).await;
    uses(&fed, &["events_by_revision"]);
    assert!(!fed.contains("Sort"), "{fed}");
    let since = [ORG, calendar, "250", window[0], window[1], "1000"];
    let since = plan(&bench, changes, &begins("", "\n"), &since).await;
    uses(&since, &["events_by_"]);

    let principal = plan(&bench, principals, "SELECT k.org_id, k.id", &["sha256('k7'::bytea)"]).await;
    uses(&principal, &["api_keys_hash_unique", "organizations_pk"]);

    let feeds = include_str!("../../src/read/feeds.rs");
    let of_feed = plan(&bench, feeds, "SELECT c.org_id, c.id, c.agent_id", &["sha256('t7'::bytea)", "'t7'"]).await;
    uses(&of_feed, &["calendars_feed_token_hash_unique", "calendars_feed_token_unique", "agents_pk"]);

    let around = [ORG, calendar, "540000000000", "5", "3"];
    let from = events.find("EventRow,\n").unwrap();
    let context = plan(&bench, &events[from..], "SELECT e.id, e.calendar_id", &around).await;
    uses(&context, &["events_by_end", "events_by_start"]);
}

#[tokio::test]
async fn live_holds_are_read_by_the_index_of_their_organization() {
    let bench = Bench::set().await;
    sqlx::raw_sql(FILL).execute(&bench.behind.pool).await.unwrap();
    // Few events are holds, so the index of all holds by their expiry is small.
    let held =
        "UPDATE events SET status = 'hold', hold_expires_at = start_at, hold_priority = 0, hold_scope = 'calendar',
            busy = NULL
        WHERE start_at % 108000000000 = 0;
        ANALYZE events";
    sqlx::raw_sql(held).execute(&bench.behind.pool).await.unwrap();
    let holds = include_str!("../../src/read/holds.rs");
    let live = plan(&bench, holds, "SELECT e.id, e.calendar_id", &[ORG, "5", "51"]).await;
    uses(&live, &["events_holds_of_org", "agents_pk"]);
    assert!(!live.contains("events_holds_by_expiry"), "{live}");
}

#[tokio::test]
async fn lists_by_metadata_use_its_index() {
    let bench = Bench::set().await;
    sqlx::raw_sql(FILL).execute(&bench.behind.pool).await.unwrap();
    let file = include_str!("../../src/read/event_metadata.rs");
    let (wanted, digests) = ("ARRAY[0, 0]::bigint[]", "ARRAY[5, 6]::bigint[]");
    for (calendar, agent) in [("md5('c7')::uuid", "NULL"), ("NULL", "md5('a7')::uuid")] {
        let list = [ORG, calendar, agent, wanted, digests, "1", "0", "720000000000", "NULL", "NULL", "NULL", "50", "0"];
        for begins in ["WITH matching AS", "SELECT count(*) AS \"count!\"\n"] {
            let found = plan(&bench, file, begins, &list).await;
            uses(&found, &["event_metadata_by_digest", "AND (digest = wanted.digest)", "events_pk"]);
        }
    }
    for (calendars, agent) in SCOPES {
        let list = [ORG, calendars, agent, wanted, digests, "1"];
        let found = plan(&bench, file, "SELECT m.event_id\n         FROM (", &list).await;
        uses(&found, &["event_metadata_by_digest", "AND (digest = wanted.digest)"]);
    }
    // Nothing is left to index, whatever share of the events the planner expects.
    for versions in ["1", "start_at % 50"] {
        let fill = format!("UPDATE events SET version = {versions}, indexed_version = {versions}; ANALYZE events");
        sqlx::raw_sql(AssertSqlSafe(fill)).execute(&bench.behind.pool).await.unwrap();
        let is_left = plan(&bench, file, "SELECT EXISTS", &[ORG]).await;
        uses(&is_left, &["events_not_indexed"]);
        let left = plan(&bench, file, "SELECT org_id, id, content, version FROM events", &["100"]).await;
        assert_eq!(left.matches("events_not_indexed").count(), 2, "{left}");
    }
    // A new database has no statistics yet.
    for begin in [ONE_CALENDAR, "DELETE FROM pg_statistic"] {
        sqlx::raw_sql(begin).execute(&bench.behind.pool).await.unwrap();
        let (from, before) = ("'-9223372036854775808'", "'9223372036854775807'");
        let calendar = "md5('c7')::uuid";
        let list = [ORG, calendar, "NULL", wanted, digests, "1", from, before, "NULL", "NULL", "NULL", "50", "0"];
        for begins in ["WITH matching AS", "SELECT count(*) AS \"count!\"\n"] {
            let found = plan(&bench, file, begins, &list).await;
            uses(&found, &["event_metadata_by_digest", "events_pk"]);
            assert!(!found.contains("events_by"), "events that do not match are read:\n{found}");
        }
    }
}

/// A calendar with many events, alone in the table.
const ONE_CALENDAR: &str = "
    DELETE FROM events WHERE org_id <> md5('o8')::uuid;
    INSERT INTO events (org_id, id, calendar_id, content, start_at, end_at, all_day, status, source, version,
        created_at, updated_at, busy, revision)
    SELECT org_id, md5(id::text || n)::uuid, calendar_id, content, start_at + n, end_at + n, FALSE, 'confirmed', 'internal',
        1, n, n, busy, n
    FROM events, generate_series(1, 9) n;
    ANALYZE events";

/// Postgres plans a prepared statement for its values on the first five executions. After that it takes one plan for all
/// values, unless it expects that plans for the values are cheaper. Here, planning takes longer than the execution.
#[tokio::test]
async fn what_blocks_a_time_is_not_planned_on_each_execution() {
    let bench = Bench::set().await;
    sqlx::raw_sql(FILL).execute(&bench.behind.pool).await.unwrap();
    let mut connection = bench.behind.pool.acquire().await.unwrap();
    let blocks = statement(include_str!("../../src/read/rules.rs"), "SELECT c.agent_id, c.revision, r.rules");
    // A new database has no statistics yet.
    for begin in [ONE_CALENDAR, "DELETE FROM pg_statistic"] {
        let prepare = format!("{begin}; PREPARE blocks AS {blocks}");
        sqlx::raw_sql(AssertSqlSafe(prepare)).execute(&mut *connection).await.unwrap();
        // After all events.
        let execute =
            format!("EXECUTE blocks({ORG}, md5('c7')::uuid, 3600000000000, 3686400000000, 3688200000000, 20000)");
        for _ in 0..8 {
            sqlx::raw_sql(AssertSqlSafe(execute.as_str())).execute(&mut *connection).await.unwrap();
        }
        let counts = "SELECT custom_plans, generic_plans FROM pg_prepared_statements WHERE name = 'blocks'";
        let counts = sqlx::query(counts).fetch_one(&mut *connection).await.unwrap();
        assert_eq!((counts.get::<i64, _>(0), counts.get::<i64, _>(1)), (5, 3), "{begin}");
        let plan = explained(&mut connection, &execute).await;
        uses(&plan, &["events_busy on", "events_busy_long", "events_series", "events_holds on"]);
        sqlx::raw_sql("DEALLOCATE blocks").execute(&mut *connection).await.unwrap();
    }
}

#[tokio::test]
async fn only_the_series_of_the_calendar_are_read() {
    let bench = Bench::set().await;
    sqlx::raw_sql(FILL).execute(&bench.behind.pool).await.unwrap();
    sqlx::raw_sql(SERIES).execute(&bench.behind.pool).await.unwrap();
    let window = ["360000000000", "720000000000"];
    let instances = include_str!("../../src/read/instances.rs");
    let of_calendar = "Index Cond: ((org_id = c.org_id) AND (calendar_id = c.id) AND (reaches >";
    let calendars = [ORG, "ARRAY[md5('c7')::uuid]", window[0], window[1]];
    let blocking = plan(&bench, instances, "SELECT c.id AS calendar_id, c.revision", &calendars).await;
    uses(&blocking, &["events_series", of_calendar]);
    for (calendars, agent) in SCOPES {
        let list = [ORG, calendars, agent, window[0], window[1], "NULL", "NULL"];
        let series = plan(&bench, instances, "SELECT e.id, c.id AS calendar_id", &list).await;
        uses(&series, &["events_series", of_calendar, "agents_pk"]);
    }
}

/// A statement that Postgres plans once for all values does not know how many calendars it lists.
#[tokio::test]
async fn only_the_calendars_of_a_list_are_read() {
    let bench = Bench::set().await;
    sqlx::raw_sql(FILL).execute(&bench.behind.pool).await.unwrap();
    let instances = include_str!("../../src/read/instances.rs");
    let window = "360000000000, 720000000000, NULL, NULL";
    let single_events = format!("{window}, 273600000000, 100001, NULL");
    let wanted = "ARRAY[0, 0]::bigint[], ARRAY[5, 6]::bigint[], 1";
    let metadata = include_str!("../../src/read/event_metadata.rs");
    let mut connection = bench.behind.pool.acquire().await.unwrap();
    // A new database has no statistics yet.
    for begin in ["ANALYZE", "DELETE FROM pg_statistic"] {
        sqlx::raw_sql(begin).execute(&mut *connection).await.unwrap();
        for (file, begins, values, indexes) in [
            (instances, "SELECT e.id, c.id AS calendar_id", window, &["agents_pk", "events_series"][..]),
            (instances, "SELECT standing.id", single_events.as_str(), &["agents_pk", "events_long"]),
            (metadata, "SELECT m.event_id\n         FROM (", wanted, &["event_metadata_by_digest"]),
        ] {
            let listed = statement(file, begins);
            for (calendars, agent) in SCOPES {
                let values = format!("{ORG}, {calendars}, {agent}, {values}");
                let plan = generic_plan(&mut connection, &listed, &values).await;
                uses(&plan, indexes);
                assert!(!plan.contains("Index Cond: (org_id = $1)\n"), "all calendars are read:\n{plan}");
            }
        }
    }
}

/// A statement that Postgres plans once for all values does not know how many calendars have their rules read.
#[tokio::test]
async fn only_the_rules_of_the_calendars_are_read() {
    let bench = Bench::set().await;
    sqlx::raw_sql(FILL).execute(&bench.behind.pool).await.unwrap();
    let rules = statement(include_str!("../../src/read/rules.rs"), "SELECT r.calendar_id AS");
    let mut connection = bench.behind.pool.acquire().await.unwrap();
    // A new database has no statistics yet.
    for begin in ["ANALYZE", "DELETE FROM pg_statistic"] {
        sqlx::raw_sql(begin).execute(&mut *connection).await.unwrap();
        for (calendars, _) in SCOPES {
            let plan = generic_plan(&mut connection, &rules, &format!("{ORG}, {calendars}")).await;
            uses(&plan, &["on calendars c", "agents_pk", "availability_rules_pk"]);
            assert!(!plan.contains("Index Cond: (org_id = $1)\n"), "all calendars are read:\n{plan}");
        }
    }
}

#[tokio::test]
async fn what_pages_of_the_console_read_is_found_by_user_or_organization() {
    let bench = Bench::set().await;
    sqlx::raw_sql(FILL).execute(&bench.behind.pool).await.unwrap();
    sqlx::raw_sql(PEOPLE).execute(&bench.behind.pool).await.unwrap();
    let signed_in = statement(include_str!("../../src/read/sessions.rs"), "SELECT s.id AS");
    let claims = include_str!("../../src/read/claims.rs");
    let unfinished = claims.find("async fn unfinished_claims").unwrap();
    let unfinished = statement(&claims[unfinished..], "SELECT id, org_id, user_id");
    let counts = statement(include_str!("../../src/read/subscriptions.rs"), "SELECT s.paused AS");
    let mut connection = bench.behind.pool.acquire().await.unwrap();
    // A new database has no statistics yet.
    for begin in ["ANALYZE", "DELETE FROM pg_statistic"] {
        sqlx::raw_sql(begin).execute(&mut *connection).await.unwrap();

        let plan = generic_plan(&mut connection, &signed_in, "md5('x7')::uuid, md5('u7')::uuid").await;
        uses(&plan, &["sessions_pk", "users_pk", "organizations_pk"]);
        uses(&plan, &["organization_owners_by_user", "organization_members_by_user"]);

        let plan = generic_plan(&mut connection, &unfinished, "md5('u7')::uuid, 200, 5").await;
        uses(&plan, &["account_claims_by_user", "Index Cond: (user_id = $1)"]);

        for agent in ["NULL", "md5('a7')::uuid"] {
            let plan = generic_plan(&mut connection, &counts, &format!("{ORG}, {agent}")).await;
            uses(&plan, &["on ical_subscriptions", "Index Cond: ((org_id = $1)", "agents_pk"]);
        }
    }
}

#[tokio::test]
async fn approvals_are_read_by_their_indexes() {
    let bench = Bench::set().await;
    sqlx::raw_sql(APPROVALS).execute(&bench.behind.pool).await.unwrap();
    let file = include_str!("../../src/read/approvals.rs");
    let after = |name: &str| &file[file.find(name).unwrap()..];

    let listed = plan(&bench, file, "WITH page AS MATERIALIZED", &[ORG, "NULL", "NULL", "NULL", "20", "0"]).await;
    uses(&listed, &["approvals_by_creation"]);
    let of_key = [ORG, "md5('k8')::uuid", "110000"];
    let pending = plan(&bench, after("async fn count_pending"), "SELECT count(*)", &of_key).await;
    // With few rows in the organization, its own index serves as well as that of the key.
    uses(&pending, &["approvals_pending_of_"]);
    let waiting = plan(&bench, after("async fn pending_approvals("), "SELECT org_id, id", &[ORG, "110000", "20"]).await;
    uses(&waiting, &["approvals_pending_of_org"]);
    assert!(!waiting.contains("Sort"), "{waiting}");
    let first_of_key = [ORG, "md5('k8')::uuid", "110000", "20"];
    let of = after("async fn pending_approvals_of_key");
    let waiting = plan(&bench, of, "SELECT org_id, id", &first_of_key).await;
    uses(&waiting, &["approvals_pending_of_"]);
    assert!(!waiting.contains("Sort"), "{waiting}");
    let overdue = plan(&bench, after("async fn overdue"), "SELECT org_id, id", &["100500", "20"]).await;
    uses(&overdue, &["approvals_pending on"]);
    assert!(!overdue.contains("Sort"), "{overdue}");
    let over = plan(&bench, after("async fn purge"), "SELECT org_id, id", &["500", "20"]).await;
    uses(&over, &["approvals_ended"]);
}

/// The calendars of a list of instances: one, several, or those of an agent.
const SCOPES: [(&str, &str); 3] = [
    ("ARRAY[md5('c7')::uuid]", "NULL"),
    ("ARRAY[md5('c7')::uuid, md5('c207')::uuid, md5('c407')::uuid]", "NULL"),
    ("'{}'::uuid[]", "md5('a7')::uuid"),
];

#[tokio::test]
async fn human_busy_times_are_found_by_indexes() {
    let bench = Bench::set().await;
    sqlx::raw_sql(FILL).execute(&bench.behind.pool).await.unwrap();
    let human = include_str!("../../src/read/human.rs");
    let several = human.find("several =>").unwrap();
    for (file, calendars) in [(&human[..several], "md5('c7')::uuid"), (&human[several..], "ARRAY[md5('c7')::uuid]")] {
        let found = plan(&bench, file, "SELECT DISTINCT c.id AS calendar_id", &[ORG, calendars]).await;
        let indexes = ["availability_grant_agents_of_agent", "availability_grants_for_all", "external_calendars_pk"];
        uses(&found, &indexes);
        uses(&found, &["availability_grant_sources_pk", "calendar_connections_pk", "agents_pk"]);
    }
    let own = plan(&bench, human, "SELECT DISTINCT a.id AS agent_id", &[ORG, "ARRAY[md5('a7')::uuid]"]).await;
    uses(&own, &["availability_grant_agents_of_agent", "availability_grants_for_all", "external_calendars_pk"]);
    uses(&own, &["availability_grant_sources_pk", "calendar_connections_pk", "agents_pk"]);
    let busy = plan(&bench, human, "SELECT x.id, x.revision", &[ORG, "ARRAY[md5(md5('n7')::uuid || '1')::uuid]"]).await;
    uses(&busy, &["external_calendars_pk", "calendar_connections_pk"]);

    let bridge = include_str!("../../src/read/bridge.rs");
    let due = plan(&bench, bridge, "WITH taken AS MATERIALIZED", &["5", "9", "3", "8", "5000"]).await;
    uses(&due, &["calendar_connections_claimed", "calendar_connections_due", "calendar_connections_pk"]);
    let grants = plan(
        &bench,
        bridge,
        "SELECT g.id, g.human_id, g.audience, g.version, g.created_at, g",
        &[ORG, "null", "9", "0"],
    );
    uses(&grants.await, &["availability_grant_sources_pk", "availability_grant_agents_pk"]);
}
