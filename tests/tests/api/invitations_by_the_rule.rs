//! Invitations and the answers to them: `send_invitations`, the mails with their calendar parts, the limits of mail,
//! the page at `/rsvp/{token}`, and `event.attendee_responded`. Written without knowledge of the code.

use crate::on_both;
use std::collections::BTreeSet;

use futures::future::join_all;
use kalends_e2e::{Answer, Call, Client, Database, Mail, Server, plain_http};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims,
    fixtures::{agent_with_calendar, calendar_of, event_body, has_exactly, is_time, shared_calendar, wait_until},
    holds::{hold_body, in_seconds},
    stored::hurry,
    webhooks::{hook, with_receiver},
};

// In the order in which `Host::mails` returns their mails.
pub(crate) const ADA: &str = "ada@example.com";
pub(crate) const BOB: &str = "bob@example.com";
pub(crate) const EVE: &str = "eve@example.com";
pub(crate) const START: &str = "2031-05-06T10:30:00Z";
pub(crate) const END: &str = "2031-05-06T11:15:00Z";
/// A browser's `Accept` header.
const HTML: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
/// More than an hour.
const LATER: i64 = 4_000;

/// An organization that invites people, and its calendar in UTC.
pub(crate) struct Host {
    pub(crate) server: Server,
    pub(crate) api: Client,
    pub(crate) agent: String,
    pub(crate) calendar: String,
    /// The number of mails that were looked at.
    seen: usize,
}

/// An event with invitations, as they were mailed.
pub(crate) struct Invited {
    pub(crate) id: String,
    /// The paths of the links, in the order of the addresses.
    pub(crate) links: Vec<String>,
    pub(crate) mails: Vec<Mail>,
    pub(crate) sequence: i64,
}

/// A page as a browser receives it.
pub(crate) struct Page {
    pub(crate) status: u16,
    policy: String,
    pub(crate) text: String,
}

impl Host {
    /// A host whose mail is not limited.
    pub(crate) async fn new(database: Database) -> Self {
        Self::limited(database, "off").await
    }

    async fn limited(database: Database, limits: &str) -> Self {
        let server = Server::start_with(database, &[("KALENDS_MAIL_LIMITS", limits)]).await;
        let api = server.api(&server.org("pro").await);
        Self::of(server, api).await
    }

    pub(crate) async fn of(server: Server, api: Client) -> Self {
        let (agent, calendar) = agent_with_calendar(&api).await;
        Self { server, api, agent, calendar, seen: 0 }
    }

    /// Starts the service again, with its clock moved by `seconds`.
    pub(crate) async fn later(&mut self, seconds: i64) {
        self.server.restart_at_offset(seconds).await;
        self.api = self.api.moved_to(self.server.base_url());
    }

    /// The path of the calendar's events.
    pub(crate) fn events(&self) -> String {
        format!("/v1/calendars/{}/events", self.calendar)
    }

    /// The calendar's events.
    pub(crate) async fn listed(&self) -> Value {
        self.api.get(format!("{}?limit=200", self.events())).await.expect(200).json
    }

    /// Creates a meeting with these fields.
    pub(crate) async fn event(&self, fields: Value) -> Answer {
        self.api.post(self.events()).json(meeting(fields)).await.expect(201)
    }

    pub(crate) async fn get(&self, id: &str) -> Answer {
        self.api.get(format!("/v1/events/{id}")).await.expect(200)
    }

    /// Changes an event. `id` may end with a query.
    pub(crate) async fn patch(&self, id: &str, change: Value) -> Answer {
        self.api.patch(format!("/v1/events/{id}")).json(change).await.expect(200)
    }

    /// Changes an event and has the change mailed.
    pub(crate) async fn patch_and_send(&self, id: &str, mut change: Value) -> Answer {
        change["send_invitations"] = json!(true);
        self.patch(id, change).await
    }

    /// Deletes an event and has that mailed. `query` begins with `?`.
    pub(crate) async fn delete_and_send(&self, id: &str, query: &str) {
        let mark = if query.is_empty() { '?' } else { '&' };
        self.api.delete(format!("/v1/events/{id}{query}{mark}send_invitations=true")).await.expect(204);
    }

    /// Requires that the event is still as it was when it was read.
    pub(crate) async fn unchanged(&self, before: &Answer) {
        let after = self.get(&before.id()).await;
        assert_eq!((&after.json, after.header("etag")), (&before.json, before.header("etag")));
    }

    /// The next mails, by recipient. There must be no more of them.
    pub(crate) async fn mails(&mut self, count: usize) -> Vec<Mail> {
        let mut mails = self.server.wait_for_mails(self.seen + count).await.split_off(self.seen);
        assert_eq!(mails.len(), count, "{mails:#?}");
        self.seen += count;
        mails.sort_by_key(|mail| mail.to.clone());
        mails
    }

    /// Invites these people, who are in the order of their addresses, to a meeting with these fields.
    pub(crate) async fn invited(&mut self, attendees: Value, mut fields: Value) -> Invited {
        let to: Vec<String> = attendees.as_array().unwrap().iter().map(|one| claims::text(&one["email"])).collect();
        fields["attendees"] = attendees;
        fields["send_invitations"] = json!(true);
        let id = self.event(fields).await.id();
        let mails = self.mails(to.len()).await;
        let to: Vec<&str> = to.iter().map(String::as_str).collect();
        let sequence = sent(&mails, "REQUEST", &to, &id, -1);
        let links = mails.iter().map(|mail| self.link(mail)).collect();
        Invited { id, links, mails, sequence }
    }

    /// Requires that nothing else was mailed. It invites somebody to another event, and that must be the next mail.
    pub(crate) async fn nothing_more(&mut self) {
        self.invited(people(&["last@example.com"]), json!({})).await;
    }

    /// The path of the link in a mail.
    #[track_caller]
    pub(crate) fn link(&self, mail: &Mail) -> String {
        let mark = format!("{}/rsvp/", self.server.base_url());
        let (_, rest) = mail.text.split_once(&mark).unwrap_or_else(|| panic!("no link {mark}: {mail:#?}"));
        let token = rest.split(|letter: char| letter.is_whitespace() || "<>\"()".contains(letter)).next().unwrap();
        assert!(token.len() > 20, "a token can be guessed: {mail:#?}");
        format!("/rsvp/{token}")
    }

    /// Opens a page as a browser does, without a key.
    pub(crate) async fn open(&self, path: &str) -> Page {
        Page::of(browser().get(format!("{}{path}", self.server.base_url()))).await
    }

    /// Submits a form as a browser does.
    pub(crate) async fn submit(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        let url = format!("{}{path}", self.server.base_url());
        Page::of(browser().post(url).header("origin", "null").form(fields)).await
    }

    /// Sends an answer, which must be recorded. Returns the page that says so.
    pub(crate) async fn reply(&self, link: &str, status: &str) -> String {
        let page = self.submit(link, &[("status", status), ("note", "")]).await;
        assert_eq!(page.status, 200, "{}", page.text);
        page.text
    }

    /// Each kind of write that sends mail: a new event, a batch, a change and a deletion of this event.
    fn writes(&self, id: &str) -> [Call; 4] {
        let invitation = meeting(json!({ "attendees": people(&[ADA]), "send_invitations": true }));
        let batch = json!({ "events": [meeting(json!({})), invitation] });
        [
            self.api.post(self.events()).json(invitation),
            self.api.post(format!("{}/batch", self.events())).json(batch),
            self.api.patch(format!("/v1/events/{id}")).json(json!({ "title": "Retro", "send_invitations": true })),
            self.api.delete(format!("/v1/events/{id}?send_invitations=true")),
        ]
    }
}

impl Page {
    async fn of(request: reqwest::RequestBuilder) -> Self {
        let answer = request.header("accept", HTML).header("accept-language", "en-GB,en;q=0.9").send().await.unwrap();
        let header = |name: &str| answer.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
        let (status, policy, kind) =
            (answer.status().as_u16(), header("content-security-policy"), header("content-type"));
        let text = answer.text().await.unwrap();
        assert!(status != 200 || kind.starts_with("text/html"), "{kind}: {text}");
        Self { status, policy, text }
    }

    /// The page in lower case and without quotes.
    fn bare(&self) -> String {
        self.text.to_lowercase().replace('"', "")
    }

    /// Whether there is a form that posts.
    fn asks(&self) -> bool {
        self.bare().contains("method=post")
    }
}

fn browser() -> reqwest::Client {
    plain_http().redirect(reqwest::redirect::Policy::none()).build().unwrap()
}

/// The body of an event with these fields. By default it is a review from [`START`] to [`END`].
pub(crate) fn meeting(fields: Value) -> Value {
    let mut body = event_body("Review", START, END);
    let Value::Object(fields) = fields else { panic!("not an object: {fields}") };
    body.as_object_mut().unwrap().extend(fields);
    body
}

/// Attendees with these addresses.
pub(crate) fn people<T: AsRef<str>>(addresses: &[T]) -> Value {
    addresses.iter().map(|address| json!({ "email": address.as_ref() })).collect()
}

/// The address and the status of each attendee of an event.
pub(crate) fn statuses(event: &Value) -> Vec<String> {
    let shown = event["attendees"].as_array().into_iter().flatten();
    shown.map(|one| format!("{} {}", claims::text(&one["email"]), claims::text(&one["status"]))).collect()
}

/// The identifier of the occurrence of `series` that the rule starts at this time.
pub(crate) fn instance(series: &str, start: &str) -> String {
    format!("{series}_{}", stamp(start))
}

/// A time as iCalendar writes it.
fn stamp(time: &str) -> String {
    time.replace(['-', ':'], "")
}

fn uid(id: &str) -> String {
    format!("{id}@kalends")
}

/// The calendar part of a mail, with its lines unfolded. It has one event.
struct Invite {
    method: String,
    event: Vec<String>,
    text: String,
}

impl Invite {
    #[track_caller]
    fn of(mail: &Mail) -> Self {
        let lines: Vec<String> = mail.invitation.lines().map(str::to_owned).collect();
        let place = |mark: &str| {
            let mut found = lines.iter().enumerate().filter(|(_, line)| *line == mark).map(|(place, _)| place);
            match (found.next(), found.next()) {
                (Some(place), None) => place,
                _ => panic!("not one {mark}: {mail:#?}"),
            }
        };
        let event = lines[place("BEGIN:VEVENT") + 1..place("END:VEVENT")].to_vec();
        let method = lines.iter().find_map(|line| line.strip_prefix("METHOD:")).unwrap_or_default().to_owned();
        Self { method, event, text: mail.invitation.clone() }
    }

    /// The parameters and the value of each property with this name.
    fn all(&self, name: &str) -> Vec<(String, String)> {
        let found = self.event.iter().filter_map(|line| {
            let rest = line.strip_prefix(name).filter(|rest| rest.starts_with([':', ';']))?;
            let mut quoted = false;
            let colon = rest.find(|letter: char| {
                quoted ^= letter == '"';
                letter == ':' && !quoted
            })?;
            Some((rest[..colon].to_owned(), rest[colon + 1..].to_owned()))
        });
        found.collect()
    }

    /// The value of the only property with this name.
    #[track_caller]
    fn value(&self, name: &str) -> String {
        let mut found = self.all(name);
        assert_eq!(found.len(), 1, "{name}: {}", self.text);
        found.remove(0).1
    }
}

/// Requires one mail to each of these people, with this method, about this event or series, and newer than `above`.
/// Returns the highest `SEQUENCE`.
#[track_caller]
pub(crate) fn sent(mails: &[Mail], method: &str, to: &[&str], id: &str, above: i64) -> i64 {
    let recipients: Vec<&str> = mails.iter().map(|mail| mail.to.as_str()).collect();
    assert_eq!(recipients, to);
    let mut highest = above;
    for mail in mails {
        let invite = Invite::of(mail);
        assert_eq!((invite.method.as_str(), invite.value("UID")), (method, uid(id)), "{mail:#?}");
        assert_eq!(invite.value("ATTENDEE"), format!("mailto:{}", mail.to));
        assert!(invite.value("ORGANIZER").starts_with("mailto:"), "{mail:#?}");
        // The cancellation for somebody who is no longer invited has no status (RFC 5546 section 3.2.5).
        let called_off = invite.all("STATUS").iter().any(|(_, status)| status == "CANCELLED");
        assert!(!called_off || method == "CANCEL", "{mail:#?}");
        let sequence: i64 = invite.value("SEQUENCE").parse().unwrap();
        assert!(sequence > above, "{sequence} is not above {above}: {mail:#?}");
        highest = highest.max(sequence);
    }
    highest
}

/// The `RECURRENCE-ID` of each mail.
pub(crate) fn occurrences(mails: &[Mail]) -> Vec<String> {
    let found = mails.iter().flat_map(|mail| Invite::of(mail).all("RECURRENCE-ID"));
    found.map(|(_, value)| value).collect()
}

#[apply(on_both)]
#[tokio::test]
async fn every_attendee_of_a_new_event_gets_an_invitation_alone(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let made = host
        .event(json!({
            "title": "Plan, then; do", "description": "One\r\nATTENDEE:mailto:mallory@example.com",
            "attendees": [
                { "email": "ADA@Example.com", "name": "Ada \"Countess\"; Lovelace: x" },
                { "email": BOB, "name": "Bob, Jr.", "role": "optional" },
                { "email": EVE },
            ],
            "send_invitations": true,
        }))
        .await;
    let mails = host.mails(3).await;
    sent(&mails, "REQUEST", &[ADA, BOB, EVE], &made.id(), -1);
    let mut links = BTreeSet::new();
    for mail in &mails {
        let invite = Invite::of(mail);
        for (name, expected) in
            [("SUMMARY", "Plan\\, then\\; do"), ("DTSTART", "20310506T103000Z"), ("DTEND", "20310506T111500Z")]
        {
            assert_eq!(invite.value(name), expected, "{mail:#?}");
        }
        assert!(invite.all("RRULE").is_empty() && invite.all("RECURRENCE-ID").is_empty(), "{mail:#?}");
        links.insert(host.link(mail));
        // Mails may have zero-width spaces in what looks like an address.
        let whole = [mail.subject.as_str(), &mail.text, &mail.invitation].join("\n").to_lowercase();
        let whole = whole.replace(['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}'], "");
        let others: Vec<&str> = [ADA, BOB, EVE].into_iter().filter(|other| *other != mail.to).collect();
        assert!(!others.iter().any(|other| whole.contains(other)), "{others:?}: {mail:#?}");
    }
    assert_eq!(links.len(), 3, "each has a link of their own");
    // The headers of the messages name no one else either.
    for file in std::fs::read_dir(host.server.data_dir().join("mail")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "eml") {
            let message = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).to_lowercase();
            let named = [ADA, BOB, EVE].into_iter().filter(|address| message.contains(address)).count();
            assert_eq!(named, 1, "{message}");
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn nothing_is_mailed_unless_it_is_asked_for(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let both = people(&[ADA, BOB]);
    let plain = host.event(json!({ "attendees": both })).await.id();
    let declined = host.event(json!({ "attendees": both, "send_invitations": false })).await.id();
    let series = host.event(json!({ "attendees": both, "recurrence_rule": "FREQ=DAILY;COUNT=6" })).await.id();
    let alone = host.event(json!({ "send_invitations": true })).await.id();
    let batch = json!({ "events": [meeting(json!({ "attendees": both }))] });
    host.api.post(format!("{}/batch", host.events())).json(batch).await.expect(201);
    assert_eq!(statuses(&host.get(&plain).await.json), [format!("{ADA} needs_action"), format!("{BOB} needs_action")]);

    host.patch(&plain, json!({ "title": "Retro", "start_time": "2031-05-07T10:30:00Z" })).await;
    host.patch(&plain, json!({ "attendees": people(&[EVE]), "send_invitations": false })).await;
    host.patch(&plain, json!({ "status": "cancelled" })).await;
    let second = instance(&series, "2031-05-07T10:30:00Z");
    let fourth = instance(&series, "2031-05-09T10:30:00Z");
    host.patch(&second, json!({ "title": "Retro" })).await;
    host.patch(&format!("{fourth}?scope=following"), json!({ "title": "Sync" })).await;
    host.patch_and_send(&alone, json!({ "title": "Retro" })).await;
    for path in [&plain, &format!("{declined}?send_invitations=false"), &second, &series] {
        host.api.delete(format!("/v1/events/{path}")).await.expect(204);
    }
    host.delete_and_send(&alone, "").await;
    host.nothing_more().await;

    // What is neither yes nor no is refused.
    let event = host.event(json!({ "attendees": both })).await;
    let wrong = meeting(json!({ "send_invitations": "yes" }));
    let path = format!("/v1/events/{}", event.id());
    for (call, param) in [
        (host.api.post(host.events()).json(wrong.clone()), "send_invitations"),
        (
            host.api.post(format!("{}/batch", host.events())).json(json!({ "events": [wrong] })),
            "events[0].send_invitations",
        ),
        (host.api.patch(&path).json(json!({ "title": "x", "send_invitations": 1 })), "send_invitations"),
        (host.api.delete(format!("{path}?send_invitations=perhaps")), "send_invitations"),
    ] {
        call.await.refused(400, "validation_error").param(param);
    }
    host.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_change_is_mailed_with_a_higher_sequence(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let event = host.invited(people(&[ADA, BOB]), json!({})).await;
    let mut sequence = event.sequence;
    let changes = [
        (json!({ "title": "Retro" }), "20310506T103000Z"),
        (json!({ "start_time": "2031-05-06T12:30:00Z" }), "20310506T123000Z"),
        (json!({ "location": "Room 2" }), "20310506T123000Z"),
        (json!({ "all_day": true, "start_time": "2031-05-07", "end_time": "2031-05-09" }), "20310507"),
    ];
    for (number, (change, start)) in changes.into_iter().enumerate() {
        // A change that nobody hears of comes between.
        host.patch(&event.id, json!({ "description": format!("Draft {number}") })).await;
        host.patch_and_send(&event.id, change).await;
        let mails = host.mails(2).await;
        sequence = sent(&mails, "REQUEST", &[ADA, BOB], &event.id, sequence);
        for mail in &mails {
            assert_eq!(
                (Invite::of(mail).value("SUMMARY"), Invite::of(mail).value("DTSTART")),
                ("Retro".into(), start.into())
            );
            host.link(mail);
        }
    }
    let days = Invite::of(&host.server.mails()[host.seen - 1]).all("DTEND");
    assert_eq!(days, [(";VALUE=DATE".to_owned(), "20310509".to_owned())]);
}

#[apply(on_both)]
#[tokio::test]
async fn who_joins_is_invited_and_who_leaves_gets_a_cancellation(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let event = host.invited(people(&[ADA, BOB]), json!({})).await;
    host.patch_and_send(&event.id, json!({ "attendees": people(&[BOB, EVE]) })).await;
    let mails = host.mails(3).await;
    let cancelled = sent(&mails[..1], "CANCEL", &[ADA], &event.id, event.sequence);
    assert_eq!(Invite::of(&mails[0]).all("STATUS"), [], "it takes place without her");
    let sequence = sent(&mails[1..], "REQUEST", &[BOB, EVE], &event.id, event.sequence);
    // Who was added without a mail gets one with the next change.
    host.patch(&event.id, json!({ "attendees": people(&[ADA, BOB, EVE]) })).await;
    host.patch_and_send(&event.id, json!({ "title": "Retro" })).await;
    let mails = host.mails(3).await;
    let sequence = sent(&mails, "REQUEST", &[ADA, BOB, EVE], &event.id, sequence.max(cancelled));

    // An empty list cancels for everyone. Then nobody is left.
    host.patch_and_send(&event.id, json!({ "attendees": null })).await;
    let mails = host.mails(3).await;
    let sequence = sent(&mails, "CANCEL", &[ADA, BOB, EVE], &event.id, sequence);
    host.patch_and_send(&event.id, json!({ "title": "Review" })).await;
    host.nothing_more().await;
    host.patch_and_send(&event.id, json!({ "attendees": people(&[ADA]) })).await;
    let mails = host.mails(1).await;
    sent(&mails, "REQUEST", &[ADA], &event.id, sequence);
    assert_eq!(host.open(&host.link(&mails[0])).await.status, 200);
}

#[apply(on_both)]
#[tokio::test]
async fn a_cancelled_and_a_deleted_event_are_called_off(#[case] database: Database) {
    let mut host = Host::new(database).await;
    for fields in [json!({}), json!({ "recurrence_rule": "FREQ=DAILY;COUNT=3" })] {
        let cancelled = host.invited(people(&[ADA, BOB]), fields.clone()).await;
        host.patch_and_send(&cancelled.id, json!({ "status": "cancelled" })).await;
        let mails = host.mails(2).await;
        sent(&mails, "CANCEL", &[ADA, BOB], &cancelled.id, cancelled.sequence);
        assert_eq!(occurrences(&mails), Vec::<String>::new());

        let deleted = host.invited(people(&[ADA, BOB]), fields.clone()).await;
        host.patch(&deleted.id, json!({ "location": "Room 2" })).await;
        host.delete_and_send(&deleted.id, "").await;
        let mails = host.mails(2).await;
        sent(&mails, "CANCEL", &[ADA, BOB], &deleted.id, deleted.sequence);
        assert!(mails.iter().all(|mail| Invite::of(mail).value("STATUS") == "CANCELLED"), "{mails:#?}");
        assert_eq!(occurrences(&mails), Vec::<String>::new());

        // The route of the calendar does the same.
        let deleted = host.invited(people(&[ADA]), fields).await;
        let path = format!("{}/{}?send_invitations=true", host.events(), deleted.id);
        host.api.delete(path).await.expect(204);
        sent(&host.mails(1).await, "CANCEL", &[ADA], &deleted.id, deleted.sequence);
    }
    host.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_batch_invites_to_the_events_that_ask_for_it(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let events = [
        meeting(json!({ "title": "One", "attendees": people(&[ADA, BOB]), "send_invitations": true })),
        meeting(json!({ "title": "Two", "attendees": people(&[EVE]) })),
        meeting(json!({ "title": "Three", "attendees": people(&[ADA]), "send_invitations": true })),
    ];
    let batch = || {
        let call = host.api.post(format!("{}/batch", host.events())).json(json!({ "events": events }));
        call.header("idempotency-key", "one-batch")
    };
    let made = batch().await.expect(201);
    let again = batch().await.expect(201);
    assert_eq!((again.header("idempotency-replayed"), &again.json), ("true", &made.json));
    let ids = made.column("id");
    let found: BTreeSet<_> =
        host.mails(3).await.iter().map(|mail| (mail.to.clone(), Invite::of(mail).value("UID"))).collect();
    let expected = [(ADA, &ids[0]), (BOB, &ids[0]), (ADA, &ids[2])];
    assert_eq!(found, BTreeSet::from(expected.map(|(to, id)| (to.to_owned(), uid(id)))));
    // A repeated change and a repeated deletion are mailed once too.
    for _ in 0..2 {
        let change = json!({ "title": "Four", "send_invitations": true });
        let call = host.api.patch(format!("/v1/events/{}", ids[2])).header("idempotency-key", "change");
        call.json(change).await.expect(200);
    }
    sent(&host.mails(1).await, "REQUEST", &[ADA], &ids[2], -1);
    for _ in 0..2 {
        let call = host.api.delete(format!("/v1/events/{}?send_invitations=true", ids[2]));
        call.header("idempotency-key", "deletion").await.expect(204);
    }
    sent(&host.mails(1).await, "CANCEL", &[ADA], &ids[2], -1);
    host.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_series_is_one_invitation_in_its_zone(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let daily = host.invited(people(&[ADA]), json!({ "recurrence_rule": "FREQ=DAILY;COUNT=3" })).await;
    let invite = Invite::of(&daily.mails[0]);
    assert!(invite.value("RRULE").starts_with("FREQ=DAILY"), "{}", invite.text);
    assert_eq!(invite.value("DTSTART"), "20310506T103000Z");

    host.calendar = shared_calendar(&host.api, "Europe/Berlin").await;
    let weekly = json!({
        "start_time": "2031-03-26T08:00:00Z", "end_time": "2031-03-26T08:30:00Z",
        "recurrence_rule": "FREQ=WEEKLY;COUNT=4", "recurrence_timezone": "Europe/Berlin",
    });
    let series = host.invited(people(&[ADA, BOB]), weekly).await;
    for mail in &series.mails {
        let invite = Invite::of(mail);
        assert!(invite.value("RRULE").starts_with("FREQ=WEEKLY"), "{}", invite.text);
        let zone = ";TZID=Europe/Berlin".to_owned();
        assert_eq!(invite.all("DTSTART"), [(zone.clone(), "20310326T090000".to_owned())]);
        assert_eq!(invite.all("DTEND"), [(zone, "20310326T093000".to_owned())]);
        assert!(invite.all("RECURRENCE-ID").is_empty(), "{}", invite.text);
        for part in ["BEGIN:VTIMEZONE\n", "\nTZID:Europe/Berlin\n"] {
            assert_eq!(invite.text.matches(part).count(), 1, "{part}: {}", invite.text);
        }
    }
    // An occurrence in summer is named by the time that the rule gives it.
    let summer = instance(&series.id, "2031-04-02T07:00:00Z");
    host.patch_and_send(&summer, json!({ "title": "Retro" })).await;
    let mails = host.mails(2).await;
    sent(&mails, "REQUEST", &[ADA, BOB], &series.id, series.sequence);
    for mail in &mails {
        let named = Invite::of(mail).all("RECURRENCE-ID").remove(0);
        let local = (";TZID=Europe/Berlin".to_owned(), "20310402T090000".to_owned());
        assert!(named == local || named == (String::new(), "20310402T070000Z".to_owned()), "{named:?}");
        assert_eq!(Invite::of(mail).value("SUMMARY"), "Retro");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn one_occurrence_is_changed_or_called_off_alone(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let series = host.invited(people(&[ADA, BOB]), json!({ "recurrence_rule": "FREQ=DAILY;COUNT=10" })).await;
    let of_day = |day: usize| instance(&series.id, &format!("2031-05-{day:02}T10:30:00Z"));
    let named = |day: usize| format!("203105{day:02}T103000Z");

    let afternoon = json!({ "start_time": "2031-05-07T15:00:00Z", "end_time": "2031-05-07T15:30:00Z" });
    host.patch_and_send(&of_day(7), afternoon).await;
    let mails = host.mails(2).await;
    let moved = sent(&mails, "REQUEST", &[ADA, BOB], &series.id, series.sequence);
    assert_eq!(occurrences(&mails), [named(7), named(7)]);
    for mail in &mails {
        let invite = Invite::of(mail);
        assert_eq!(invite.value("DTSTART"), "20310507T150000Z");
        assert!(invite.all("RRULE").is_empty(), "{mail:#?}");
    }
    // Ada leaves this occurrence only.
    host.patch_and_send(&format!("{}?scope=this", of_day(7)), json!({ "attendees": people(&[BOB, EVE]) })).await;
    let mails = host.mails(3).await;
    sent(&mails[..1], "CANCEL", &[ADA], &series.id, moved);
    sent(&mails[1..], "REQUEST", &[BOB, EVE], &series.id, moved);
    assert_eq!(occurrences(&mails), [named(7), named(7), named(7)]);

    host.patch_and_send(&of_day(8), json!({ "status": "cancelled" })).await;
    let mails = host.mails(2).await;
    sent(&mails, "CANCEL", &[ADA, BOB], &series.id, series.sequence);
    assert_eq!(occurrences(&mails), [named(8), named(8)]);
    for (day, query) in [(9, ""), (10, "?scope=this")] {
        host.delete_and_send(&of_day(day), query).await;
        let mails = host.mails(2).await;
        sent(&mails, "CANCEL", &[ADA, BOB], &series.id, series.sequence);
        assert_eq!(occurrences(&mails), [named(day), named(day)]);
    }
    // A changed occurrence is called off too, to those who are invited to it.
    host.delete_and_send(&of_day(7), "").await;
    let mails = host.mails(2).await;
    sent(&mails, "CANCEL", &[BOB, EVE], &series.id, moved);
    assert_eq!(occurrences(&mails), [named(7), named(7)]);
    host.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn later_occurrences_are_sent_as_two_series_and_all_as_one(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let series = host.invited(people(&[ADA]), json!({ "recurrence_rule": "FREQ=DAILY;COUNT=10" })).await;
    let rule = |mail: &Mail| Invite::of(mail).value("RRULE");
    let of_day = |id: &str, day: usize| instance(id, &format!("2031-05-{day:02}T10:30:00Z"));

    let sync = json!({ "title": "Sync" });
    let new = host.patch_and_send(&format!("{}?scope=following", of_day(&series.id, 9)), sync).await.id();
    let mut mails = host.mails(2).await;
    mails.sort_by_key(|mail| Invite::of(mail).value("UID") != uid(&series.id));
    let old = sent(&mails[..1], "REQUEST", &[ADA], &series.id, series.sequence);
    let first = sent(&mails[1..], "REQUEST", &[ADA], &new, -1);
    let shown = |mail: &Mail| (Invite::of(mail).value("SUMMARY"), Invite::of(mail).value("DTSTART"));
    assert_eq!(shown(&mails[0]), ("Review".to_owned(), stamp(START)));
    assert_eq!(shown(&mails[1]), ("Sync".to_owned(), "20310509T103000Z".to_owned()));
    assert_ne!(rule(&mails[0]), rule(&series.mails[0]), "the old series ends earlier");
    assert_eq!(occurrences(&mails), Vec::<String>::new());

    // The new series ends before the 12th. It is not called off.
    host.delete_and_send(&of_day(&new, 12), "?scope=following").await;
    let ended = host.mails(1).await;
    sent(&ended, "REQUEST", &[ADA], &new, first);
    assert_ne!(rule(&ended[0]), rule(&mails[1]));
    assert_eq!(occurrences(&ended), Vec::<String>::new());

    let room = json!({ "location": "Room 2" });
    host.patch_and_send(&format!("{}?scope=all", of_day(&series.id, 7)), room).await;
    let all = host.mails(1).await;
    let old = sent(&all, "REQUEST", &[ADA], &series.id, old);
    assert_eq!((occurrences(&all), Invite::of(&all[0]).value("LOCATION")), (vec![], "Room 2".to_owned()));

    // All of it, and all from the first occurrence on, is the series.
    for (id, day, scope, above) in [(&series.id, 7, "all", old), (&new, 9, "following", first)] {
        host.delete_and_send(&of_day(id, day), &format!("?scope={scope}")).await;
        let mails = host.mails(1).await;
        sent(&mails, "CANCEL", &[ADA], id, above);
        assert_eq!(occurrences(&mails), Vec::<String>::new());
    }
    host.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn an_organization_that_is_not_verified_sends_nothing(#[case] database: Database) {
    let server = Server::start(database).await;
    let (_, key) = claims::agent(&server, "scout@example.com").await;
    hurry(&server, "scout@example.com").await;
    let api = server.client(&key);
    let agent = api.get("/v1/agents").await.expect(200).column("id").remove(0);
    let calendar = calendar_of(&api, &agent).await;
    // The first mail has the code of the sign-up.
    let code = server.wait_for_mails(1).await[0].code().to_owned();
    let mut host = Host { server, api, agent, calendar, seen: 1 };

    let event = host.event(json!({ "attendees": people(&[ADA]) })).await;
    let before = host.listed().await;
    for call in host.writes(&event.id()) {
        call.await.expect(403).code("verification_required");
    }
    assert_eq!(host.listed().await, before);
    // The same writes work without mail.
    host.event(json!({ "attendees": people(&[ADA]), "send_invitations": false })).await;
    let batch = json!({ "events": [meeting(json!({ "attendees": people(&[BOB]) }))] });
    host.api.post(format!("{}/batch", host.events())).json(batch).await.expect(201);
    let changed = host.patch(&event.id(), json!({ "title": "Retro", "attendees": people(&[BOB]) })).await;
    assert_eq!(statuses(&changed.json), [format!("{BOB} needs_action")]);
    host.api.delete(format!("/v1/events/{}", event.id())).await.expect(204);

    host.api.post("/v1/agent/verify").json(json!({ "otp": code })).await.expect(200);
    host.invited(people(&[ADA]), json!({})).await;
}

#[apply(on_both)]
#[tokio::test]
async fn an_organization_on_the_waiting_list_sends_nothing(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let host = Host::of(server, api).await;
    let event = host.event(json!({ "attendees": people(&[ADA]) })).await;
    let before = host.get(&event.id()).await;
    let listed = host.listed().await;
    host.server.cli(&["org", "waitlist", &org.id]).await.succeeded();
    let ask = || async { host.api.get("/v1/agents").await };
    wait_until(ask, |answer| answer.status == 403).await;
    for call in host.writes(&event.id()) {
        let refused = call.await.expect(403);
        // Nothing at all is allowed there, so either reason will do.
        let code = claims::text(&refused.at("/error/code"));
        assert!(["verification_required", "account_waitlisted"].contains(&code.as_str()), "{}", refused.describe());
    }
    host.server.cli(&["org", "activate", &org.id]).await.succeeded();
    wait_until(ask, |answer| answer.status == 200).await;
    host.unchanged(&before).await;
    assert_eq!(host.listed().await, listed);
    assert!(!host.server.mails().iter().any(|mail| mail.to == ADA));
}

#[apply(on_both)]
#[tokio::test]
async fn a_write_beyond_the_mail_limit_changes_nothing(#[case] database: Database) {
    let mut host = Host::limited(database, "org=5,recipient=50").await;
    let three = people(&[ADA, BOB, EVE]);
    let kept = host.event(json!({ "attendees": three })).await.id();
    host.invited(three.clone(), json!({})).await;
    let before = host.listed().await;
    let invite = |attendees: &Value| meeting(json!({ "attendees": attendees, "send_invitations": true }));
    let batch = json!({ "events": [invite(&people(&[ADA, BOB])), invite(&people(&[EVE]))] });
    let path = format!("/v1/events/{kept}");
    // Two are left, and each of these takes three.
    for call in [
        host.api.post(host.events()).json(invite(&three)),
        host.api.post(format!("{}/batch", host.events())).json(batch),
        host.api.patch(&path).json(json!({ "title": "Retro", "send_invitations": true })),
        host.api.patch(&path).json(json!({ "status": "cancelled", "send_invitations": true })),
        host.api.delete(format!("{path}?send_invitations=true")),
    ] {
        let refused = call.await.refused(429, "quota_exceeded").code("mail_limit");
        let seconds: i64 = refused.header("retry-after").parse().unwrap();
        assert!((1..=3_600).contains(&seconds), "{seconds}");
    }
    assert_eq!(host.listed().await, before);
    // The refused writes have used none of it.
    host.invited(people(&[ADA, BOB]), json!({})).await;
    let before = host.listed().await;
    for call in host.writes(&kept) {
        call.await.refused(429, "quota_exceeded").code("mail_limit");
    }
    assert_eq!(host.listed().await, before);
    // Without mail, everything still works.
    host.event(json!({ "attendees": three })).await;
    host.patch(&kept, json!({ "title": "Retro" })).await;
    host.api.delete(&path).await.expect(204);
    host.later(LATER).await;
    host.invited(three, json!({})).await;
}

#[apply(on_both)]
#[tokio::test]
async fn beyond_a_recipient_s_limit_only_the_newest_mail_is_sent_later(#[case] database: Database) {
    let mut host = Host::limited(database, "org=50,recipient=2").await;
    let event = host.invited(people(&[ADA]), json!({})).await;
    host.patch_and_send(&event.id, json!({ "title": "Second" })).await;
    let second = sent(&host.mails(1).await, "REQUEST", &[ADA], &event.id, event.sequence);
    for title in ["Third", "Fourth", "Fifth"] {
        host.patch_and_send(&event.id, json!({ "title": title })).await;
    }
    // The others do not wait for her.
    host.invited(people(&[BOB]), json!({})).await;
    host.later(LATER).await;
    let mails = host.mails(1).await;
    sent(&mails, "REQUEST", &[ADA], &event.id, second);
    assert_eq!(Invite::of(&mails[0]).value("SUMMARY"), "Fifth");
    host.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn holds_and_large_requests_send_no_invitations(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let until = in_seconds(&host.api, 600).await;
    let mut hold = hold_body(START, END, &until, 0);
    hold["attendees"] = people(&[ADA]);
    let held = host.api.post(host.events()).json(hold.clone()).await.expect(201);
    assert_eq!((statuses(&held.json), &held["status"]), (vec![format!("{ADA} needs_action")], &json!("hold")));
    hold["send_invitations"] = json!(true);
    let refused = host.api.post(host.events()).json(hold).await;
    refused.refused(400, "validation_error").param("send_invitations");
    let change = json!({ "title": "Surely", "send_invitations": true });
    let refused = host.api.patch(format!("/v1/events/{}", held.id())).json(change).await;
    refused.refused(400, "validation_error").param("send_invitations");
    assert_eq!(host.get(&held.id()).await["title"], held["title"]);
    assert_eq!(host.listed().await["total"], 1);

    // A confirmed hold is an event like any other.
    host.api.put(format!("/v1/events/{}/confirm", held.id())).await.expect(200);
    host.patch_and_send(&held.id(), json!({ "title": "Surely" })).await;
    sent(&host.mails(1).await, "REQUEST", &[ADA], &held.id(), -1);

    let crowd = |from: usize, count: usize| {
        let addresses: Vec<String> = (from..from + count).map(|number| format!("g{number:03}@example.com")).collect();
        meeting(json!({ "attendees": people(&addresses), "send_invitations": true }))
    };
    let batch =
        async |events: Value| host.api.post(format!("{}/batch", host.events())).json(json!({ "events": events })).await;
    let refused = batch(json!([crowd(0, 100), crowd(100, 101)])).await.refused(400, "validation_error");
    let param = claims::text(&refused.at("/error/param"));
    assert!(param == "send_invitations" || param.ends_with("].send_invitations"), "{}", refused.describe());
    assert_eq!(host.listed().await["total"], 1);
    assert_eq!(batch(json!([crowd(0, 100), crowd(100, 100)])).await.expect(201).data().len(), 2);
}

#[apply(on_both)]
#[tokio::test]
async fn the_page_shows_the_event_and_changes_nothing(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let attendees = json!([{ "email": ADA, "name": "Ada Lovelace" }, { "email": BOB, "name": "Robert Quux" }]);
    let place = json!({ "location": "Room 2, Berlin", "conference_url": "https://meet.example.com/abc" });
    let event = host.invited(attendees, place).await;
    let before = host.get(&event.id).await;
    let page = host.open(&event.links[0]).await;
    assert_eq!(page.status, 200, "{}", page.text);
    for part in ["Review", "10:30", "2031", "Room 2, Berlin", "https://meet.example.com/abc"] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
    assert!(page.policy.contains("frame-ancestors 'none'"), "{}", page.policy);
    let bare = page.bare();
    assert!(page.asks(), "{}", page.text);
    assert_eq!(bare.matches("name=status").count(), 3, "{}", page.text);
    for status in ["accepted", "tentative", "declined"] {
        assert_eq!(bare.matches(&format!("value={status}")).count(), 1, "{status}: {}", page.text);
    }
    // Each sees nobody else, before and after an answer.
    let others = ["bob@", "robert", "quux"];
    assert!(!others.iter().any(|other| bare.contains(other)), "{}", page.text);
    let reached = host.open(&event.links[1]).await.bare();
    assert!(!reached.contains("ada@") && !reached.contains("lovelace"), "{reached}");
    host.unchanged(&before).await;
    let recorded = host.reply(&event.links[0], "accepted").await.to_lowercase();
    assert!(!others.iter().any(|other| recorded.contains(other)), "{recorded}");
}

#[apply(on_both)]
#[tokio::test]
async fn an_answer_is_recorded_and_can_be_changed(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let event = host.invited(people(&[ADA, BOB]), json!({})).await;
    let mut tag = host.get(&event.id).await.header("etag").to_owned();
    let mut pages = BTreeSet::new();
    for status in ["accepted", "declined", "tentative", "accepted"] {
        pages.insert(host.reply(&event.links[0], status).await);
        let after = host.get(&event.id).await;
        assert_eq!(statuses(&after.json), [format!("{ADA} {status}"), format!("{BOB} needs_action")]);
        is_time(&after["attendees"][0]["responded_at"]);
        assert_eq!(after["attendees"][1].get("responded_at"), None);
        assert_ne!(after.header("etag"), tag, "{status}");
        tag = after.header("etag").to_owned();
        // The same answer again changes nothing.
        host.reply(&event.links[0], status).await;
        host.unchanged(&after).await;
        // The page can be opened again.
        assert!(host.open(&event.links[0]).await.asks());
    }
    assert!(pages.len() >= 3, "each page says what was recorded: {pages:#?}");
    host.reply(&event.links[1], "declined").await;
    assert_eq!(statuses(&host.get(&event.id).await.json), [format!("{ADA} accepted"), format!("{BOB} declined")]);
    // An answer is not mailed to anyone who was invited.
    host.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_wrong_answer_is_refused(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let event = host.invited(people(&[ADA]), json!({})).await;
    let link = event.links[0].as_str();
    let before = host.get(&event.id).await;
    let (longest, too_long) = ("é".repeat(500), "é".repeat(501));
    let wrong: [&[(&str, &str)]; 6] = [
        &[],
        &[("status", "")],
        &[("status", "maybe")],
        &[("status", "needs_action")],
        &[("note", "I come")],
        &[("status", "accepted"), ("note", too_long.as_str())],
    ];
    for fields in wrong {
        let page = host.submit(link, fields).await;
        assert_eq!(page.status, 400, "{fields:?}: {}", page.text);
        host.unchanged(&before).await;
    }
    let token = link.strip_prefix("/rsvp/").unwrap();
    let other = if token.starts_with('a') { 'b' } else { 'a' };
    for path in [
        format!("/rsvp/{other}{}", &token[1..]),
        format!("{link}x"),
        format!("/rsvp/{}", &token[1..]),
        format!("/rsvp/{}", event.id),
        format!("/rsvp/{}", "a".repeat(43)),
        "/rsvp/x".to_owned(),
    ] {
        assert_eq!(host.open(&path).await.status, 404, "{path}");
        assert_eq!(host.submit(&path, &[("status", "accepted")]).await.status, 404, "{path}");
    }
    host.unchanged(&before).await;
    assert_eq!(host.submit(link, &[("status", "accepted"), ("note", longest.as_str())]).await.status, 200);
    assert_eq!(statuses(&host.get(&event.id).await.json), [format!("{ADA} accepted")]);
    assert!(!host.server.log().contains(token), "the log has no token");
}

#[apply(on_both)]
#[tokio::test]
async fn nobody_answers_for_an_event_that_is_gone(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let removed = host.invited(people(&[ADA, BOB]), json!({})).await;
    let deleted = host.invited(people(&[ADA]), json!({})).await;
    host.reply(&deleted.links[0], "accepted").await;
    let changed = host.patch(&removed.id, json!({ "attendees": people(&[BOB]) })).await;
    host.api.delete(format!("/v1/events/{}", deleted.id)).await.expect(204);
    let before = host.get(&changed.id()).await;
    for link in [&removed.links[0], &deleted.links[0]] {
        let page = host.open(link).await;
        assert!([200, 404, 410].contains(&page.status) && !page.asks(), "{}: {}", page.status, page.text);
        for status in ["accepted", "declined"] {
            let page = host.submit(link, &[("status", status)]).await;
            assert!((400..500).contains(&page.status), "{}: {}", page.status, page.text);
        }
    }
    host.unchanged(&before).await;
    host.api.get(format!("/v1/events/{}", deleted.id)).await.refused(404, "not_found");
    // Who stays can answer.
    host.reply(&removed.links[1], "accepted").await;
    assert_eq!(statuses(&host.get(&removed.id).await.json), [format!("{BOB} accepted")]);
}

#[apply(on_both)]
#[tokio::test]
async fn the_text_of_others_is_escaped(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let attendees = json!([{ "email": ADA, "name": "<b>Ada</b>" }]);
    let fields = json!({
        "title": "<script>alert(1)</script>", "location": "\"'><img src=x onerror=alert(2)>",
        "description": "<script>alert(3)</script>",
    });
    let event = host.invited(attendees, fields).await;
    let link = event.links[0].as_str();
    let note = "</textarea><script>alert(4)</script>";
    let shown = host.open(link).await;
    assert!(shown.text.contains("alert(1)"), "the title is shown: {}", shown.text);
    let pages = [
        shown,
        host.submit(link, &[("status", "<script>alert(5)</script>"), ("note", note)]).await,
        host.submit(link, &[("status", "tentative"), ("note", note)]).await,
        host.open(link).await,
    ];
    for page in pages {
        for part in ["<script>alert", "<img src=x", "<b>ada", "\"'>"] {
            assert!(!page.text.to_lowercase().contains(part), "{part}: {}", page.text);
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn an_answer_is_announced_to_webhooks_once(#[case] database: Database) {
    let (server, api, receiver) = with_receiver(database, "pro").await;
    hook(&api, &receiver, "/", &["event.attendee_responded"]).await;
    let mut host = Host::of(server, api).await;
    let attendees = json!([{ "email": ADA, "name": "Ada", "role": "optional" }, { "email": BOB }]);
    let event = host.invited(attendees, json!({})).await;
    let answer = [("status", "tentative"), ("note", "Five minutes late")];
    // The same reply again, without a note, is not announced.
    for answer in [&answer[..], &answer[..1]] {
        assert_eq!(host.submit(&event.links[0], answer).await.status, 200);
    }
    assert_eq!(host.submit(&event.links[0], &[("status", "late")]).await.status, 400);
    let message = receiver.wait_for("/", 1).await.remove(0);
    assert_eq!(message.event_type(), "event.attendee_responded");
    let message = message.json();
    has_exactly(&message, &["event_id", "calendar_id", "attendee", "note"]);
    has_exactly(&message["attendee"], &["email", "name", "role", "status", "responded_at"]);
    assert_eq!(message["attendee"], host.get(&event.id).await["attendees"][0]);
    assert_eq!((&message["event_id"], &message["calendar_id"]), (&json!(event.id), &json!(host.calendar)));
    assert_eq!((&message["note"], &message["attendee"]["status"]), (&json!("Five minutes late"), &json!("tentative")));

    assert_eq!(host.submit(&event.links[1], &[("status", "declined")]).await.status, 200);
    let messages = receiver.wait_for("/", 2).await;
    assert_eq!(messages.len(), 2);
    let message = messages[1].json();
    has_exactly(&message, &["event_id", "calendar_id", "attendee"]);
    has_exactly(&message["attendee"], &["email", "role", "status", "responded_at"]);
    assert_eq!(message["attendee"], host.get(&event.id).await["attendees"][1]);

    // A note is announced even if the reply stays the same.
    let version = host.get(&event.id).await.header("etag").to_owned();
    assert_eq!(host.submit(&event.links[1], &[("status", "declined"), ("note", "Ill")]).await.status, 200);
    assert_eq!(receiver.wait_for("/", 3).await[2].json()["note"], "Ill");
    assert_eq!(host.get(&event.id).await.header("etag"), version);
}

#[apply(on_both)]
#[tokio::test]
async fn answers_at_once_are_all_recorded(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let guests: Vec<String> = (0..8).map(|number| format!("g{number}@example.com")).collect();
    let event = host.invited(people(&guests), json!({})).await;
    let changes = (0..2).map(|number| host.patch(&event.id, json!({ "title": format!("Draft {number}") })));
    let answers = event.links.iter().map(|link| host.reply(link, "accepted"));
    tokio::join!(join_all(answers), join_all(changes));
    let expected: Vec<String> = guests.iter().map(|guest| format!("{guest} accepted")).collect();
    assert_eq!(statuses(&host.get(&event.id).await.json), expected);
}
