//! The busy times of calendars at a CalDAV server.

use std::time::Duration;

use kalends_app::ports::{AskedCalendar, CalendarProviders as _, ProviderError, TheirBusy};
use kalends_bridge::{Access, CalendarProvider::Caldav};
use kalends_time::Span;
use rstest::rstest;

use super::{
    caldav_server::{Asked, access, accounts, answered, arrived, event, resource, server},
    span,
    stand_in::{StandIn, StubAnswer, nothing, reply, stand_still},
};

const MORNING: &[&str] = &["DTSTART:20260302T090000Z", "DTEND:20260302T100000Z"];
const SYNC_TOKEN: &str = "<d:sync-token>urn:1</d:sync-token>";

fn window() -> Span {
    span("2026-03-01T00:00:00Z", "2026-03-09T00:00:00Z")
}

fn asked(server: &StandIn, paths: &[&str]) -> Vec<AskedCalendar> {
    paths.iter().map(|path| AskedCalendar { reference: server.url(path), known: None }).collect()
}

async fn busy(server: &StandIn, paths: &[&str]) -> Result<Vec<TheirBusy>, ProviderError> {
    accounts(&[server]).busy(Caldav, &access(server), &asked(server, paths), window()).await
}

/// The busy times of the only calendar, and the number of events that cannot be read.
async fn times(server: &StandIn) -> (Vec<Span>, usize) {
    let mut busy = busy(server, &["/office/"]).await.unwrap();
    let Some(TheirBusy::Known { mut spans, copies, unread, .. }) = busy.pop() else { panic!("{busy:?}") };
    assert!(copies.is_empty() && busy.is_empty());
    spans.sort_unstable();
    (spans, unread)
}

/// A server with one calendar, with these properties and events.
async fn holding(props: &'static str, events: Vec<String>) -> StandIn {
    server(move |asked| match asked.method.as_str() {
        "PROPFIND" => answered(&[resource("/office/", props)]),
        _ => answered(&events),
    })
    .await
}

fn unknown(reason: &str) -> TheirBusy {
    TheirBusy::Unknown(reason.to_owned())
}

#[tokio::test]
async fn events_are_read_only_if_the_tag_is_new() {
    let server = holding(SYNC_TOKEN, vec![event("/office/1.ics", MORNING)]).await;
    let accounts = accounts(&[&server]);
    let mut asked = asked(&server, &["/office/"]);
    let first = accounts.busy(Caldav, &access(&server), &asked, window()).await.unwrap();
    let [TheirBusy::Known { spans, tag: Some(tag), unread: 0, .. }] = first.as_slice() else { panic!("{first:?}") };
    assert_eq!(*spans, [span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z")]);
    // The tag is older than the events, so that a change in between is not lost.
    assert_eq!(arrived(&server), ["PROPFIND 0 /office/", "REPORT 1 /office/"]);
    asked[0].known = Some(*tag);
    let second = accounts.busy(Caldav, &access(&server), &asked, window()).await.unwrap();
    assert_eq!(second, [TheirBusy::Unchanged]);
    assert_eq!(arrived(&server).len(), 3);
    asked[0].known = Some([0; 32]);
    assert_eq!(accounts.busy(Caldav, &access(&server), &asked, window()).await.unwrap(), first);
}

#[tokio::test]
async fn events_are_asked_for_as_a_whole_if_the_server_does_not_divide_them() {
    let server = server(|asked| {
        let none = "<d:response><d:href>/office/1.ics</d:href><d:propstat><d:prop><c:calendar-data/></d:prop>\
                    <d:status>HTTP/1.1 404 Not Found</d:status></d:propstat></d:response>";
        match asked.method.as_str() {
            "PROPFIND" => answered(&[resource("/office/", SYNC_TOKEN)]),
            _ if asked.whole => answered(&[event("/office/1.ics", MORNING)]),
            _ => answered(&[none.to_owned()]),
        }
    })
    .await;
    assert_eq!(times(&server).await, (vec![span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z")], 0));
    assert_eq!(arrived(&server).len(), 3, "a report more");
}

#[rstest]
#[case::a_ctag("<s:getctag>1</s:getctag>", true)]
#[case::none("", false)]
#[case::empty("<d:sync-token/><s:getctag/>", false)]
#[tokio::test]
async fn other_tags_are_used_too(#[case] props: &'static str, #[case] has: bool) {
    let server = holding(props, vec![]).await;
    let busy = busy(&server, &["/office/"]).await.unwrap();
    assert!(matches!(busy.as_slice(), [TheirBusy::Known { tag, .. }] if tag.is_some() == has), "{busy:?}");
}

#[tokio::test]
async fn the_window_is_asked_for_with_a_day_on_each_side() {
    let server = holding("", vec![]).await;
    times(&server).await;
    let windows: Vec<_> =
        server.requests().iter().filter_map(|request| super::caldav_server::checked(request).window).collect();
    assert_eq!(windows, [("20260228T000000Z".to_owned(), "20260310T000000Z".to_owned())]);
}

#[tokio::test]
async fn events_block_their_times() {
    let series = "/office/series.ics";
    let changed = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:s\r\nSUMMARY:Dentist\r\nDTSTART:20260302T120000Z\r\n\
        DURATION:PT30M\r\nRRULE:FREQ=DAILY;COUNT=4\r\nEXDATE:20260303T120000Z\r\nEND:VEVENT\r\n\
        BEGIN:VEVENT\r\nUID:s\r\nRECURRENCE-ID:20260304T120000Z\r\nDTSTART:20260304T150000Z\r\nDURATION:PT30M\r\n\
        END:VEVENT\r\nBEGIN:VEVENT\r\nUID:s\r\nRECURRENCE-ID:20260305T120000Z\r\nDTSTART:20260305T120000Z\r\n\
        DURATION:PT30M\r\nATTENDEE;PARTSTAT=DECLINED:mailto:ada@example.com\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
    let with = |href: &str, line: &str| event(href, &[MORNING, &[line]].concat());
    let server = holding(
        "<c:calendar-timezone-id>Pacific/Kiritimati</c:calendar-timezone-id>",
        vec![
            event("/office/1.ics", MORNING),
            resource(series, &format!("<c:calendar-data>{changed}</c:calendar-data>")),
            event("/office/day.ics", &["DTSTART;VALUE=DATE:20260307", "DTEND;VALUE=DATE:20260308"]),
            event("/office/floating.ics", &["DTSTART:20260308T100000", "DTEND:20260308T110000"]),
            event("/office/edge.ics", &["DTSTART:20260228T230000Z", "DTEND:20260301T010000Z"]),
            event("/office/before.ics", &["DTSTART:20260228T230000Z", "DTEND:20260228T233000Z"]),
            event("/office/long.ics", &["DTSTART:20260308T230000Z", "DTEND:20260401T010000Z"]),
            with("/office/free.ics", "TRANSP:TRANSPARENT").replace("T09", "T17").replace("T10", "T18"),
            with("/office/off.ics", "STATUS:CANCELLED").replace("T09", "T17").replace("T10", "T18"),
            with("/office/no.ics", "ATTENDEE;CN=\"Ada\";PARTSTAT=DECLINED:mailto:ada@example.com")
                .replace("T09", "T17")
                .replace("T10", "T18"),
        ],
    )
    .await;
    let expected = [
        span("2026-03-01T00:00:00Z", "2026-03-01T01:00:00Z"),
        span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z"),
        span("2026-03-02T12:00:00Z", "2026-03-02T12:30:00Z"),
        span("2026-03-04T15:00:00Z", "2026-03-04T15:30:00Z"),
        // 14 hours ahead of UTC.
        span("2026-03-06T10:00:00Z", "2026-03-07T10:00:00Z"),
        span("2026-03-07T20:00:00Z", "2026-03-07T21:00:00Z"),
        span("2026-03-08T23:00:00Z", "2026-03-09T00:00:00Z"),
    ];
    assert_eq!(times(&server).await, (expected.to_vec(), 0));
}

#[tokio::test]
async fn broken_events_are_counted() {
    let server = holding(
        "",
        vec![
            event("/office/1.ics", &["DTSTART:yesterday"]),
            resource("/office/2.ics", "<c:calendar-data>Dentist</c:calendar-data>"),
            resource("/office/3.ics", ""),
            "<d:response><d:href>/office/4.ics</d:href><d:status>HTTP/1.1 404 x</d:status></d:response>".to_owned(),
            event("/office/5.ics", MORNING),
        ],
    )
    .await;
    assert_eq!(times(&server).await, (vec![span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z")], 3));
}

/// The number of days that a report asks for, without the margins.
fn days(asked: &Asked) -> i64 {
    let time = |stamp: &str| {
        let (date, time) = stamp.split_at(8);
        let text = format!("{}-{}-{}T00:00:00Z", &date[..4], &date[4..6], &date[6..]);
        assert_eq!(time, "T000000Z");
        text.parse::<kalends_time::Timestamp>().unwrap()
    };
    let (start, end) = asked.window.as_ref().unwrap();
    (time(end) - time(start)).as_seconds() / 86_400 - 2
}

/// A server that gives this answer for windows of more than `most` days, and a broken event and another one otherwise.
async fn halving(most: i64, too_long: fn() -> StubAnswer) -> StandIn {
    server(move |asked| match asked.method.as_str() {
        "PROPFIND" => answered(&[resource("/office/", SYNC_TOKEN)]),
        _ if days(asked) > most => too_long(),
        _ => answered(&[event("/office/1.ics", &["DTSTART:yesterday"]), event("/office/2.ics", MORNING)]),
    })
    .await
}

fn huge() -> StubAnswer {
    reply(207, " ".repeat((8 << 20) + 1))
}

fn cut_short() -> StubAnswer {
    answered(&[
        event("/office/2.ics", MORNING),
        "<d:response><d:href>/office/</d:href><d:status>HTTP/1.1 507 x</d:status></d:response>".to_owned(),
    ])
}

fn full() -> StubAnswer {
    reply(507, "")
}

#[rstest]
#[case::huge(huge)]
#[case::cut_short(cut_short)]
#[case::full(full)]
#[tokio::test]
async fn long_answers_are_asked_for_in_parts(#[case] too_long: fn() -> StubAnswer) {
    let server = halving(2, too_long).await;
    // The broken event is in each part, and counts once. So does the other one, which is in one part.
    assert_eq!(times(&server).await, (vec![span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z")], 1));
    let parts: Vec<i64> = server
        .requests()
        .iter()
        .map(super::caldav_server::checked)
        .filter(|asked| asked.window.is_some())
        .map(|asked| days(&asked))
        .collect();
    assert_eq!(parts, [8, 4, 2, 2, 4, 2, 2]);
}

#[tokio::test]
async fn a_day_that_is_too_long_is_unknown() {
    let server = halving(0, cut_short).await;
    assert_eq!(busy(&server, &["/office/"]).await.unwrap(), [unknown("more_than_is_read")]);
    // The tag, and windows of 8, 4, 2 and 1 days.
    assert_eq!(server.requests().len(), 5);
}

#[rstest]
#[case(403, "forbidden")]
#[case(404, "not_found")]
#[case(410, "not_found")]
#[tokio::test]
async fn a_calendar_that_is_gone_does_not_hide_the_others(#[case] status: u16, #[case] reason: &str) {
    let server = server(move |asked| match (asked.path.as_str(), asked.method.as_str()) {
        ("/gone/", _) | ("/lost/", "REPORT") => reply(status, "Dentist"),
        ("/away/", _) => answered(&[format!(
            "<d:response><d:href>/away/</d:href><d:status>HTTP/1.1 {status} x</d:status></d:response>"
        )]),
        (path, "PROPFIND") => answered(&[resource(path, SYNC_TOKEN)]),
        _ => answered(&[event("/office/1.ics", MORNING)]),
    })
    .await;
    let found = busy(&server, &["/gone/", "/lost/", "/away/", "/office/"]).await.unwrap();
    assert_eq!(found[..3], [unknown(reason), unknown(reason), unknown(reason)]);
    assert!(matches!(&found[3], TheirBusy::Known { spans, .. } if spans.len() == 1), "{found:?}");
}

#[tokio::test]
async fn a_slow_server_does_not_hide_what_was_read() {
    let _held = stand_still();
    let server = server(|asked| match asked.method.as_str() {
        "PROPFIND" => answered(&[resource(&asked.path, SYNC_TOKEN)]).after(Duration::from_secs(9)),
        _ => answered(&[event("/1.ics", MORNING)]),
    })
    .await;
    let found = busy(&server, &["/1/", "/2/", "/3/", "/4/", "/5/", "/6/", "/7/"]).await.unwrap();
    // 50 s are over while the sixth one is asked.
    assert_eq!(found.iter().filter(|busy| matches!(busy, TheirBusy::Known { .. })).count(), 5, "{found:?}");
    assert_eq!(found[5..], [unknown("not_in_time"), unknown("not_in_time")]);
    assert!(arrived(&server).iter().all(|asked| !asked.ends_with(" /7/")), "{:?}", arrived(&server));
}

#[tokio::test]
async fn a_server_that_does_not_answer_fails() {
    let _held = stand_still();
    let server = server(|_| nothing().after(Duration::from_secs(16))).await;
    let Err(ProviderError::Unavailable(error)) = busy(&server, &["/1/", "/2/"]).await else { panic!("it was read") };
    assert_eq!(error.to_string(), "no complete answer within 15 s");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_calendar_at_another_server_is_not_read() {
    let other = StandIn::with_answers(vec![]).await;
    let server = StandIn::with_answers(vec![]).await;
    let reading = [AskedCalendar { reference: other.url("/office/"), known: None }];
    let found = accounts(&[&server, &other]).busy(Caldav, &access(&server), &reading, window()).await.unwrap();
    assert_eq!(found, [unknown("at_another_domain")]);
    assert_eq!((server.requests().len(), other.requests().len()), (0, 0));
}

#[rstest]
#[case::a_new_password(401)]
#[case::busy(503)]
#[case::too_often(429)]
#[tokio::test]
async fn faults_of_the_account_end_the_call(#[case] status: u16) {
    let server = server(move |_| reply(status, "Dentist")).await;
    let found = busy(&server, &["/office/", "/private/"]).await;
    match &found {
        Err(ProviderError::Lapsed(code)) => {
            assert_eq!((status, code.as_str()), (401, "the server refuses the password"));
        }
        Err(ProviderError::Unavailable(error)) => {
            assert_eq!(error.to_string(), format!("it answers with status {status}"));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(server.requests().len(), 1);
}

#[rstest]
#[case::a_bomb("<!DOCTYPE x [<!ENTITY a \"Dentist\">]><d:multistatus xmlns:d=\"DAV:\">&a;</d:multistatus>")]
#[case::html("<html>Dentist</html>")]
#[case::nothing("")]
#[tokio::test]
async fn other_documents_are_malformed(#[case] body: &'static str) {
    let server = server(move |_| reply(207, body)).await;
    let found = busy(&server, &["/office/"]).await;
    assert!(matches!(found, Err(ProviderError::Malformed(_))), "{found:?}");
}

#[tokio::test]
async fn a_deep_document_is_malformed() {
    let server = server(|_| answered(&["<d:response>".repeat(100_000)])).await;
    let Err(ProviderError::Malformed(error)) = busy(&server, &["/office/"]).await else { panic!("it was read") };
    assert_eq!(error.to_string(), "the answer has elements more than 32 levels deep");
}

#[tokio::test]
async fn nothing_of_an_event_but_its_times_leaves_the_crate() {
    let event = event("/office/Dentist.ics", &[MORNING, &["LOCATION:Dentist", "ATTENDEE;CN=Dentist:Dentist"]].concat());
    let broken = resource("/office/2.ics", "<c:calendar-data>Dentist</c:calendar-data>");
    let faults: [fn() -> StubAnswer; 5] = [
        || reply(500, "Dentist"),
        || reply(207, "Dentist"),
        || reply(207, "<Dentist>&Dentist;</Dentist>"),
        || reply(401, "Dentist").header("www-authenticate", "Dentist"),
        || reply(302, "Dentist").header("location", "http://dentist.example/Dentist"),
    ];
    let server_of_events = holding(SYNC_TOKEN, vec![event, broken]).await;
    let mut printed = vec![format!("{:?}", busy(&server_of_events, &["/office/"]).await)];
    for fault in faults {
        let server = server(move |asked| match asked.method.as_str() {
            "PROPFIND" => answered(&[resource("/office/", SYNC_TOKEN)]),
            _ => fault(),
        })
        .await;
        printed.push(format!("{:?}", busy(&server, &["/office/"]).await));
        let Access::Password(account) = access(&server) else { panic!() };
        printed.push(format!("{account:?}"));
    }
    for text in printed {
        assert!(!text.to_ascii_lowercase().contains("dentist") && !text.contains("s&=cret"), "{text}");
    }
}
