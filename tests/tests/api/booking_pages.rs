//! Booking pages, as their owners see them.

use crate::on_both;
use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    console::owner,
    fixtures::{agent, agent_with_calendar, calendar_of, has_exactly, is_id, is_time, shared_calendar},
    stored::tables,
};

const PAGES: &str = "/v1/booking-pages";

const FIELDS: [&str; 32] = [
    "id",
    "org_id",
    "calendar_id",
    "calendars",
    "assignment",
    "agent_id",
    "slug",
    "title",
    "description",
    "host_name",
    "location",
    "conference_url",
    "accent_color",
    "embed_origins",
    "notify_emails",
    "notify_consents",
    "questions",
    "guest_reminders",
    "duration_minutes",
    "buffer_minutes",
    "window_days",
    "min_notice_minutes",
    "max_per_day",
    "seats",
    "timezone",
    "availability_constraints",
    "active",
    "bookings_count",
    "booking_url",
    "notices",
    "created_at",
    "updated_at",
];

#[apply(on_both)]
#[tokio::test]
async fn a_page_is_created_with_its_defaults(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org_with("pro", &["--email", "ada@example.com"]).await;
    let api = server.api(&org);
    let session = owner(&server, "ada@example.com").await;
    let (own, calendar) = agent_with_calendar(&api).await;
    let mut made =
        api.post(PAGES).json(json!({ "calendar_id": calendar, "title": "Intro secret-title" })).await.expect(201);
    has_exactly(&made.json, &FIELDS);
    is_id(&made["id"], "bkp_");
    is_time(&made["created_at"]);
    assert_eq!(made["updated_at"], made["created_at"]);
    let expected = json!({
        "org_id": org.id, "calendar_id": calendar, "calendars": null, "assignment": null, "agent_id": own, "title": "Intro secret-title", "description": null,
        "duration_minutes": 30, "buffer_minutes": 0, "window_days": 14, "min_notice_minutes": 0, "timezone": "UTC",
        "availability_constraints": null, "active": true, "bookings_count": 0, "host_name": null, "location": null,
        "max_per_day": null, "seats": 1, "conference_url": null, "accent_color": null, "embed_origins": [], "questions": [],
        "notify_emails": [], "notify_consents": [], "guest_reminders": []
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&made[field.as_str()], value, "{field}");
    }
    let slug = made["slug"].as_str().unwrap().to_owned();
    assert!(slug.len() >= 22, "128 random bits: {slug}");
    assert_eq!(made["booking_url"], format!("{}/book/{slug}", server.base_url()));
    let path = format!("{PAGES}/{}", made.id());
    let read = api.get(&path).await.expect(200);
    assert_eq!(made["notices"][0]["code"], "offers_nights");
    made.json.as_object_mut().unwrap().remove("notices");
    assert_eq!((&read.json, read.header("etag")), (&made.json, made.header("etag")));

    // The texts and the slug are stored sealed.
    let clear = tables(&server)
        .await
        .into_values()
        .flatten()
        .any(|row| row.contains("secrettitle") || row.contains(&slug.replace(['-', '_'], "").to_lowercase()));
    assert!(!clear);
    let export = session.get("/v1/auth/export").await.expect(200);
    assert_eq!(export["booking_pages"], json!([made.json]));
}

#[apply(on_both)]
#[tokio::test]
async fn every_field_is_kept_and_changed(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "Europe/Berlin").await;
    let week = json!({ "mon": { "start": "00:00", "end": "24:00" }, "sun": { "start": "09:00", "end": "09:05" } });
    let fields = json!({
        "title": "x".repeat(255), "description": "Grüße", "duration_minutes": 480, "buffer_minutes": 120,
        "window_days": 365, "min_notice_minutes": 525_600, "max_per_day": 500, "timezone": "Australia/Lord_Howe",
        "availability_constraints": week, "active": false
    });
    let mut body = fields.clone();
    body["calendar_id"] = json!(calendar);
    let made = api.post(PAGES).json(body).await.expect(201);
    for (field, value) in fields.as_object().unwrap() {
        assert_eq!(&made[field.as_str()], value, "{field}");
    }
    assert_eq!(made["agent_id"], Value::Null);

    let path = format!("{PAGES}/{}", made.id());
    let others = json!({
        "title": "Other", "description": null, "duration_minutes": 5, "buffer_minutes": 0, "window_days": 1,
        "min_notice_minutes": 0, "max_per_day": null, "timezone": "UTC", "availability_constraints": null,
        "active": true
    });
    let mut expected = made.json.clone();
    for (field, value) in others.as_object().unwrap() {
        let mut changed = api.patch(&path).json(json!({ field.as_str(): value })).await.expect(200);
        // Only an answer to a write has notices: that nothing limits the hours.
        let notices = changed.json.as_object_mut().unwrap().remove("notices");
        assert_eq!(notices.is_some(), changed["availability_constraints"].is_null(), "{notices:?}");
        expected[field.as_str()] = value.clone();
        expected["updated_at"] = changed["updated_at"].clone();
        assert_eq!(changed.json, expected, "{field}");
    }
    assert_eq!(api.get(&path).await.expect(200).json, expected);
    // All fields at once, with the version that was read.
    let read = api.get(&path).await.expect(200);
    let etag = read.header("etag").to_owned();
    api.patch(&path).header("if-match", &etag).json(fields).await.expect(200);
    api.patch(&path)
        .header("if-match", &etag)
        .json(json!({ "title": "y" }))
        .await
        .refused(412, "conflict")
        .code("stale");
    api.delete(&path).header("if-match", &etag).await.refused(412, "conflict").code("stale");
    api.delete(&path).await.expect(204);
    for answer in [api.get(&path).await, api.delete(&path).await, api.patch(&path).json(json!({ "title": "y" })).await]
    {
        answer.refused(404, "not_found").code("booking_page_not_found");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn bad_fields_are_refused_by_name(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let page = api.post(PAGES).json(json!({ "calendar_id": calendar, "title": "Intro" })).await.expect(201).id();
    let path = format!("{PAGES}/{page}");
    let week = |start: &str, end: &str| json!({ "wed": { "start": start, "end": end } });
    let wrong = [
        ("title", json!(""), "title"),
        ("title", json!("x".repeat(256)), "title"),
        ("description", json!("x".repeat(5_001)), "description"),
        ("duration_minutes", json!(4), "duration_minutes"),
        ("duration_minutes", json!(481), "duration_minutes"),
        ("buffer_minutes", json!(-1), "buffer_minutes"),
        ("buffer_minutes", json!(121), "buffer_minutes"),
        ("window_days", json!(0), "window_days"),
        ("window_days", json!(366), "window_days"),
        ("min_notice_minutes", json!(-1), "min_notice_minutes"),
        ("min_notice_minutes", json!(525_601), "min_notice_minutes"),
        ("max_per_day", json!(0), "max_per_day"),
        ("max_per_day", json!(501), "max_per_day"),
        ("timezone", json!("Mars/Olympus"), "timezone"),
        ("availability_constraints", week("9:00", "17:00"), "availability_constraints.wed.start"),
        ("availability_constraints", week("09:00", "24:01"), "availability_constraints.wed.end"),
        ("availability_constraints", week("17:00", "09:00"), "availability_constraints.wed.end"),
        ("availability_constraints", json!({ "wednesday": null }), "availability_constraints.wednesday"),
        ("active", json!("yes"), "active"),
        ("slug", json!("Mine"), "slug"),
    ];
    for (field, value, param) in wrong {
        let mut body = json!({ "calendar_id": calendar, "title": "Intro" });
        body[field] = value.clone();
        api.post(PAGES).json(body).await.refused(400, "validation_error").param(param);
        api.patch(&path).json(json!({ field: value })).await.refused(400, "validation_error").param(param);
    }
    for field in ["title", "duration_minutes", "buffer_minutes", "window_days", "timezone", "active"] {
        api.patch(&path).json(json!({ field: null })).await.refused(400, "validation_error").param(field);
    }
    api.patch(&path).json(json!({})).await.refused(400, "validation_error");
    let moved = api.patch(&path).json(json!({ "calendar_id": calendar })).await;
    moved.refused(400, "validation_error").param("calendar_id").code("unknown_field");
    let all = api.post(PAGES).json(json!({ "calendar_id": calendar, "title": "", "window_days": 0 })).await;
    all.refused(400, "validation_error").mentions("title").mentions("window_days");
    for missing in ["title", "calendar_id"] {
        let mut body = json!({ "calendar_id": calendar, "title": "Intro" });
        body.as_object_mut().unwrap().remove(missing);
        api.post(PAGES).json(body).await.refused(400, "validation_error").param(missing);
    }
    let nowhere = json!({ "calendar_id": "cal_nobody", "title": "Intro" });
    api.post(PAGES).json(nowhere).await.refused(404, "not_found").code("calendar_not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn an_agent_s_key_sees_its_own_pages(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (own, sibling) = (agent(&api).await, agent(&api).await);
    let calendars =
        [calendar_of(&api, &own).await, calendar_of(&api, &sibling).await, shared_calendar(&api, "UTC").await];
    let mut pages = Vec::new();
    for calendar in &calendars {
        let body = json!({ "calendar_id": calendar, "title": "Intro" });
        pages.push(api.post(PAGES).json(body).await.expect(201).id());
    }
    let key = api.post("/v1/keys").json(json!({ "agent_id": own })).await.expect(201);
    let scoped = server.client(key["key"].as_str().unwrap());
    assert_eq!(api.get(PAGES).await.expect(200).column("id"), pages);
    let listed = scoped.get(PAGES).await.expect(200);
    assert_eq!((listed.column("id"), &listed["total"]), (pages[..1].to_vec(), &json!(1)));
    let third = api.get(format!("{PAGES}?limit=1&offset=2")).await.expect(200);
    assert_eq!((third.column("id"), &third["total"]), (pages[2..].to_vec(), &json!(3)));
    // When its calendar is deleted, a page disappears for its owner and for guests.
    let slug = scoped.get(format!("{PAGES}/{}", pages[0])).await.expect(200)["slug"].as_str().unwrap().to_owned();
    server.anonymous().get(format!("/book/{slug}/slots")).await.expect(200);
    api.delete(format!("/v1/calendars/{}", calendars[0])).await.expect(204);
    api.get(format!("{PAGES}/{}", pages[0])).await.refused(404, "not_found");
    server.anonymous().get(format!("/book/{slug}/slots")).await.refused(404, "not_found");
    assert_eq!(api.get(PAGES).await.expect(200).column("id"), pages[1..]);
}

#[apply(on_both)]
#[tokio::test]
async fn a_plan_limits_the_pages(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "free").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let body = json!({ "calendar_id": calendar, "title": "Intro" });
    let first = api.post(PAGES).json(body.clone()).await.expect(201).id();
    let full = api.post(PAGES).json(body.clone()).await.refused(429, "quota_exceeded").mentions("booking_pages");
    assert!(full.header("retry-after").parse::<u64>().unwrap() > 0);
    let used = async || api.get("/v1/usage").await.expect(200)["booking_pages"].clone();
    assert_eq!(used().await, json!({ "used": 1, "limit": 1 }));
    api.delete(format!("{PAGES}/{first}")).await.expect(204);
    assert_eq!(used().await, json!({ "used": 0, "limit": 1 }));
    api.post(PAGES).json(body).await.expect(201);
}
