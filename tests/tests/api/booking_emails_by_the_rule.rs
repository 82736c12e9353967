//! Emails to hosts about bookings, and files and links for guests' calendars. Written without knowledge of the code.

use crate::on_both;
use std::collections::{BTreeMap, BTreeSet};

use kalends_e2e::{Answer, Database, Mail, Server, SignInProvider, at, shifted};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::{self, text},
    console::{Human, own},
    desk::{
        Booked, CALL, Desk, EMAIL, EVIL, NAME, OWN, Open, PAGES, PLACE, Seen, booking, end, html, recipients, squeezed,
        unescaped, value, with,
    },
    fixtures::{agent_with_calendar, calendar_of, has_exactly, shared_calendar},
    stored::hurry,
};

// In the order in which `Desk::mails` returns their mails, after the guest's.
const BOB: &str = "bob@listen.example";
const EVE: &str = "eve@listen.example";
/// The subject of a mail that asks.
const ASKS: &str = "Do you want emails about bookings?";
/// More than an hour, in seconds.
const LATER: i64 = 4_000;

impl Desk {
    /// A page that sends emails to these addresses. All who are asked agree.
    async fn heard(&mut self, to: &[&str], fields: Value) -> Open {
        let page = self.page(with(fields, json!({ "notify_emails": to }))).await;
        let asked = to.iter().filter(|address| **address != OWN).count();
        for mail in self.mails(asked).await {
            assert_eq!(mail.subject, ASKS, "{mail:#?}");
            self.answer(&self.link(&mail), true, "agreed").await;
        }
        page
    }

    /// Sets the addresses of a page.
    async fn notify(&self, page: &Open, to: &[&str]) -> Answer {
        let changed = self.patch(page, json!({ "notify_emails": to })).await;
        assert_eq!(changed["notify_emails"], json!(to), "{}", changed.describe());
        changed
    }

    /// The link in the next mail, which asks this address.
    async fn asked(&mut self, address: &str) -> String {
        let mail = self.mails(1).await.remove(0);
        let shown = (mail.to.as_str(), mail.subject.as_str(), mail.invitation.as_str());
        assert_eq!(shown, (address, ASKS, ""), "{mail:#?}");
        self.link(&mail)
    }

    /// Books a slot. Exactly these addresses must get a mail, besides the guest. Returns their mails.
    async fn reaches(&mut self, page: &Open, start: &str, hosts: &[&str]) -> Vec<Mail> {
        self.book(page, start, json!({})).await;
        let mut mails = self.mails(hosts.len() + 1).await;
        assert_eq!(recipients(&mails), [&[EMAIL], hosts].concat());
        mails.remove(0);
        mails
    }

    /// The path of the link in a mail to a host.
    #[track_caller]
    fn link(&self, mail: &Mail) -> String {
        let mark = format!("{}/book/emails/", self.server.base_url());
        let (_, rest) = mail.text.split_once(&mark).unwrap_or_else(|| panic!("no link {mark}: {mail:#?}"));
        let token = rest.split(|letter: char| letter.is_whitespace() || "<>\"()".contains(letter)).next().unwrap();
        assert!(token.len() > 20, "a token can be guessed: {mail:#?}");
        format!("/book/emails/{token}")
    }

    /// Answers as a program does. The answer must be recorded with this status.
    async fn answer(&self, link: &str, agrees: bool, status: &str) -> Answer {
        let answer = self.guest.post(link).json(json!({ "agrees": agrees })).await.expect(200);
        has_exactly(&answer.json, &["email", "status"]);
        assert_eq!(answer["status"], status, "{}", answer.describe());
        answer
    }

    /// Requires that a link leads nowhere, neither for programs nor for browsers.
    async fn is_gone(&self, link: &str) {
        for agrees in [true, false] {
            self.guest.post(link).json(json!({ "agrees": agrees })).await.refused(404, "not_found");
            self.submit(link, &[("agrees", &agrees.to_string())]).await.with(404);
        }
        let seen = self.see(link).await.with(404);
        assert!(!seen.asks(), "{}", seen.text);
    }

    /// The unfolded lines of a booking's file.
    async fn lines(&self, path: &str) -> Vec<String> {
        let answer = self.guest.get(path).await.expect(200);
        assert!(answer.header("content-type").starts_with("text/calendar"), "{}", answer.describe());
        answer.text().replace("\r\n ", "").split_terminator("\r\n").map(str::to_owned).collect()
    }
}

impl Booked {
    /// The tokens with which it is cancelled and moved.
    fn tokens(&self) -> [&str; 2] {
        [&self.cancel, &self.reschedule].map(|path| path.rsplit('/').nth(1).unwrap())
    }
}

impl Seen {
    /// Requires that no site may frame the page and that nobody keeps it.
    #[track_caller]
    fn private(self) -> Self {
        assert!(self.policy.contains("frame-ancestors 'none'"), "{}", self.policy);
        assert!(self.cache.contains("no-store"), "{}", self.cache);
        self
    }

    /// The page in lower case and without quotes.
    fn bare(&self) -> String {
        self.text.to_lowercase().replace('"', "")
    }

    /// Whether there is a form that posts.
    fn asks(&self) -> bool {
        self.bare().contains("method=post")
    }

    /// The addresses of all links.
    fn hrefs(&self) -> Vec<String> {
        self.text.split(" href=\"").skip(1).map(|rest| unescaped(rest.split('"').next().unwrap())).collect()
    }

    /// The path of the link to the service that has this ending.
    #[track_caller]
    fn link(&self, end: &str) -> String {
        let link = self.hrefs().into_iter().find(|href| href.ends_with(end));
        let link = link.unwrap_or_else(|| panic!("no link {end}: {}", self.text));
        link[link.find("/book/").unwrap()..].to_owned()
    }

    /// The only link that begins with this address, and its parameters. Everything in it must be encoded.
    #[track_caller]
    fn calendar(&self, address: &str) -> (String, BTreeMap<String, String>) {
        let mut found = self.hrefs();
        found.retain(|href| href.starts_with(address));
        assert_eq!(found.len(), 1, "{address}: {}", self.text);
        let link = found.remove(0);
        // Outlook shows a plus sign as it is.
        for letter in [' ', '"', '\'', '<', '>', '#', '+', '\n'] {
            assert!(!link.contains(letter), "{letter:?} is not encoded: {link}");
        }
        let url: reqwest::Url = link.parse().unwrap();
        let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        let parameters: BTreeMap<String, String> = pairs.iter().cloned().collect();
        assert_eq!(parameters.len(), pairs.len(), "a parameter is repeated: {link}");
        (link, parameters)
    }
}

/// The address and the status of each consent of a page, by address.
#[track_caller]
fn consents(page: &Value) -> Vec<String> {
    let listed = page["notify_consents"].as_array().unwrap_or_else(|| panic!("no consents: {page:#}"));
    let shown = listed.iter().map(|one| {
        has_exactly(one, &["email", "status"]);
        format!("{} {}", text(&one["email"]), text(&one["status"]))
    });
    let mut shown: Vec<String> = shown.collect();
    shown.sort();
    shown
}

/// A time as iCalendar writes it.
fn stamp(time: &str) -> String {
    time.replace(['-', ':'], "")
}

/// Requires mails to the guest, to Bob and to the organization about a booking at this time. Those to the hosts must be
/// newer than `above`. Returns their `SEQUENCE`.
#[track_caller]
fn hosts_hear(mails: &[Mail], what: &str, method: &str, event: &str, start: &str, above: i64) -> i64 {
    assert_eq!(recipients(mails), [EMAIL, BOB, OWN]);
    for mail in mails {
        assert_eq!(value(mail, "UID"), format!("{event}@kalends"), "{mail:#?}");
        assert_eq!(value(mail, "METHOD"), method, "{mail:#?}");
    }
    let mut newest = above;
    for mail in &mails[1..] {
        assert_eq!(mail.subject, format!("{what}: {NAME}"), "{mail:#?}");
        assert_eq!(value(mail, "DTSTART"), stamp(start), "{mail:#?}");
        let sequence: i64 = value(mail, "SEQUENCE").parse().unwrap();
        assert!(sequence > above, "{sequence} is not above {above}: {mail:#?}");
        newest = newest.max(sequence);
    }
    newest
}

/// Signs up a user whose address the provider has proven.
async fn proven(server: &Server, provider: &SignInProvider, email: &str) {
    provider.claims(&json!({ "sub": email, "email": email }));
    let began = server.anonymous().get("/v1/auth/oauth/google?tos_version=2026-01-01").await.expect(302);
    let cookie = began.header("set-cookie").split(';').next().unwrap();
    let back = provider.authorize(began.header("location")).await.unwrap();
    let ended = server.anonymous().get(back.strip_prefix(server.base_url()).unwrap()).header("cookie", cookie).await;
    assert_eq!(ended.header("location"), format!("{}/console", server.base_url()), "{}", ended.describe());
}

#[apply(on_both)]
#[tokio::test]
async fn addresses_are_kept_in_order_replaced_and_cleared(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let plain = desk.create(json!({})).await.expect(201);
    assert_eq!((&plain["notify_emails"], &plain["notify_consents"]), (&json!([]), &json!([])));
    let given = [OWN, EVE, BOB];
    let made = desk.create(json!({ "notify_emails": given })).await.expect(201);
    let page = Open::of(&made);
    let asked = desk.mails(2).await;
    assert_eq!((recipients(&asked), asked[0].subject.as_str()), (vec![BOB, EVE], ASKS));
    let listed = desk.api.get(PAGES).await.expect(200).data();
    let titled = desk.patch(&page, json!({ "title": "Outro" })).await;
    let read = desk.read(&page).await;
    for shown in [&made.json, &listed[1], &titled.json, &read.json] {
        assert_eq!(shown["notify_emails"], json!(given), "{shown:#}");
        let expected = ["bob@listen.example asked", "eve@listen.example asked", "office@desk.example member"];
        assert_eq!(consents(shown), expected);
    }
    let refused = desk.api.patch(&page.path).json(json!({ "notify_emails": null })).await;
    refused.refused(400, "validation_error").param("notify_emails");
    desk.unchanged(&page, &read).await;

    let changed = desk.notify(&page, &[BOB, OWN]).await;
    assert_eq!(consents(&changed.json), ["bob@listen.example asked", "office@desk.example member"]);
    for _ in 0..2 {
        assert_eq!(desk.notify(&page, &[]).await["notify_consents"], json!([]));
        let read = desk.read(&page).await;
        assert_eq!((&read["notify_emails"], &read["notify_consents"]), (&json!([]), &json!([])));
    }
    // Five are allowed.
    let five = ["e@many.example", "d@many.example", "c@many.example", "b@many.example", "a@many.example"];
    assert_eq!(consents(&desk.notify(&page, &five).await.json).len(), 5);
    let mut sorted = five;
    sorted.sort_unstable();
    assert_eq!(recipients(&desk.mails(5).await), sorted);
    desk.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn bad_addresses_are_refused_by_name(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({ "notify_emails": [OWN] })).await;
    let before = desk.read(&page).await;
    let six: Vec<String> = (0..6).map(|number| format!("host-{number}@listen.example")).collect();
    let mut wrong = vec![
        (json!(six), "notify_emails"),
        (json!(BOB), "notify_emails"),
        (json!(7), "notify_emails"),
        (json!([OWN, "bob"]), "notify_emails[1]"),
        (json!([BOB, BOB]), "notify_emails[1]"),
        (json!([BOB, EVE, BOB]), "notify_emails[2]"),
        (json!([BOB, EVE, "a@b.example\r\nBcc: x@y.example"]), "notify_emails[2]"),
    ];
    for address in [
        "",
        "bob",
        "bob@",
        "@listen.example",
        "b ob@listen.example",
        "Bob <bob@listen.example>",
        "bob@listen.example, eve@listen.example",
        "a@b.example\r\nBcc: x@y.example",
        "a@b.example\nBcc: x@y.example",
        "a@b.example\r\n",
    ] {
        wrong.push((json!([address]), "notify_emails[0]"));
    }
    for (value, param) in wrong {
        let fields = json!({ "notify_emails": value });
        for answer in [desk.create(fields.clone()).await, desk.api.patch(&page.path).json(fields.clone()).await] {
            let answer = answer.refused(400, "validation_error");
            assert_eq!(answer.at("/error/param"), param, "{value}: {}", answer.describe());
        }
    }
    desk.unchanged(&page, &before).await;
    assert_eq!(desk.api.get(PAGES).await.expect(200)["total"], 1);
    desk.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn every_address_hears_of_a_booking_until_it_ends(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.heard(&[BOB, OWN], json!({})).await;
    let slots = desk.slots(&page).await;
    for (first, second, by_host) in [(5, 7, false), (20, 25, true)] {
        let booked = desk.book(&page, &slots[first], json!({})).await;
        let made = desk.mails(3).await;
        let sequence = hosts_hear(&made, "New booking", "REQUEST", &booked.event, &slots[first], -1);
        desk.move_to(&booked, &slots[second]).await.expect(200);
        let moved = desk.mails(3).await;
        let sequence = hosts_hear(&moved, "Booking moved", "REQUEST", &booked.event, &slots[second], sequence);
        let mut ended = Vec::new();
        // The second cancellation changes nothing.
        for round in 0..2 {
            if by_host {
                desk.cancel(&page, &booked).await.expect(200);
            } else {
                desk.guest.post(&booked.cancel).await.expect(200);
            }
            if round == 0 {
                ended = desk.mails(3).await;
                hosts_hear(&ended, "Booking cancelled", "CANCEL", &booked.event, &slots[second], sequence);
            }
        }
        for mails in [made, moved, ended] {
            // Each has a link of their own, and nobody has another's secrets.
            assert!(!mails[0].text.contains("/book/emails/"), "{mails:#?}");
            let links: BTreeSet<String> = mails[1..].iter().map(|mail| desk.link(mail)).collect();
            assert_eq!(links.len(), 2, "{mails:#?}");
            for mail in &mails[1..] {
                let whole = [mail.text.as_str(), &mail.invitation].join("\n");
                assert!(!booked.tokens().iter().any(|token| whole.contains(token)), "{mail:#?}");
            }
        }
    }
    desk.nothing_more().await;

    // A booking of a team is one booking.
    let second = shared_calendar(&desk.api, "UTC").await;
    let team = desk.heard(&[OWN], json!({ "calendars": [second], "assignment": "collective" })).await;
    let booked = desk.book(&team, &slots[30], json!({})).await;
    let mails = desk.mails(2).await;
    assert_eq!((recipients(&mails), value(&mails[0], "UID")), (vec![EMAIL, OWN], value(&mails[1], "UID")));
    desk.guest.post(&booked.cancel).await.expect(200);
    let mails = desk.mails(2).await;
    assert_eq!((recipients(&mails), value(&mails[1], "METHOD")), (vec![EMAIL, OWN], "CANCEL".to_owned()));
    desk.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn hosts_read_what_the_guest_wrote_in_the_zone_of_the_page(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let asked = json!([
        { "id": "topic", "label": "What is it about?", "type": "text" },
        { "id": "team", "label": "Which team?", "type": "select", "options": ["Sales", "Support"] },
        { "id": "story", "label": "What has happened?", "type": "textarea" }
    ]);
    let fields = json!({
        "timezone": "Asia/Kathmandu", "location": PLACE, "conference_url": CALL, "questions": asked
    });
    let page = desk.heard(&[OWN], fields).await;
    let slots = desk.slots(&page).await;
    let details = json!({
        "notes": "I bring the engine.", "timezone": "Asia/Tokyo",
        "answers": { "topic": "Looms", "team": "Support", "story": "It stopped" }
    });
    let booked = desk.book(&page, &slots[5], details).await;
    let made = desk.mails(2).await.remove(1);
    desk.move_to(&booked, &slots[8]).await.expect(200);
    let moved = desk.mails(2).await.remove(1);
    desk.guest.post(&booked.cancel).await.expect(200);
    let ended = desk.mails(2).await.remove(1);
    for (mail, slot) in [(&made, &slots[5]), (&moved, &slots[8]), (&ended, &slots[8])] {
        assert_eq!(mail.to, OWN);
        desk.link(mail);
        let clock = |minutes: i64| shifted(slot, minutes)[11..16].to_owned();
        let (here, abroad) = (clock(345), clock(540));
        assert!(mail.text.contains(&here), "{here}: {mail:#?}");
        assert!(!mail.text.contains(&abroad), "the guest's zone does not matter to hosts: {abroad}: {mail:#?}");
        assert!(squeezed(&mail.text).contains(&squeezed(NAME)), "{mail:#?}");
    }
    for mail in [&made, &moved] {
        for part in ["I bring the engine.", PLACE, CALL] {
            assert!(squeezed(&mail.text).contains(&squeezed(part)), "{part}: {mail:#?}");
        }
        assert!(mail.text.contains(CALL), "the call is a link: {mail:#?}");
        for (label, answer) in
            [("What is it about?", "Looms"), ("Which team?", "Support"), ("What has happened?", "It stopped")]
        {
            let squeezed_text = squeezed(&mail.text);
            let rest = squeezed_text.split_once(&squeezed(label)).unwrap_or_else(|| panic!("no {label}: {mail:#?}")).1;
            let rest = rest.trim_start_matches(|letter: char| !letter.is_alphanumeric());
            assert!(rest.starts_with(&squeezed(answer)), "{label} {answer}: {mail:#?}");
        }
    }
    // What was not asked or answered is not there.
    desk.book(&page, &slots[12], json!({ "answers": { "team": "Sales" } })).await;
    let short = desk.mails(2).await.remove(1);
    assert!(short.text.contains("Sales"), "{short:#?}");
    for part in ["Looms", "It stopped", "engine", "null"] {
        assert!(!short.text.contains(part), "{part}: {short:#?}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn no_text_of_a_guest_becomes_a_link(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let asked = json!([
        { "id": "topic", "label": "What is it about?", "type": "text" },
        { "id": "story", "label": "What has happened?", "type": "textarea" }
    ]);
    let page = desk.heard(&[OWN], json!({ "conference_url": CALL, "questions": asked })).await;
    let slots = desk.slots(&page).await;
    let (name, topic) = ("www.evil.example", "evil.example/answer");
    let notes = "See https://evil.example/notes or eve@evil.example <a href=\"https://evil.example/a\">now</a>";
    let story = "One\nhttp://evil.example/story\n<script>alert(1)</script>";
    let details = json!({ "name": name, "notes": notes, "answers": { "topic": topic, "story": story } });
    let booked = desk.book(&page, &slots[5], details).await;
    let mut mails = desk.mails(2).await;
    desk.move_to(&booked, &slots[7]).await.expect(200);
    mails.extend(desk.mails(2).await);
    desk.guest.post(&booked.cancel).await.expect(200);
    mails.extend(desk.mails(2).await);
    mails.retain(|mail| mail.to == OWN);
    let base = desk.server.base_url();
    for (mail, what) in mails.iter().zip(["New booking", "Booking moved", "Booking cancelled"]) {
        // It is all there to read.
        assert_eq!(squeezed(&mail.subject), squeezed(&format!("{what}: {name}")), "{mail:#?}");
        let parts = if what == "Booking cancelled" { &[name][..] } else { &[name, notes, topic, "evil.example/story"] };
        for part in parts {
            assert!(squeezed(&mail.text).contains(&squeezed(part)), "{part}: {mail:#?}");
        }
        let shown = [mail.subject.as_str(), &mail.text].join("\n");
        for part in ["evil.example", "www.", "https://evil", "http://evil", "eve@"] {
            assert!(!shown.contains(part), "{part}: {mail:#?}");
            assert!(!mail.invitation.contains(part), "{part} in the calendar part: {mail:#?}");
        }
        let own = |word: &&str| [base, CALL].iter().any(|own| word.trim_start_matches('<').starts_with(own));
        let foreign: Vec<&str> = shown.split_whitespace().filter(|word| word.contains("://") && !own(word)).collect();
        assert_eq!(foreign, [""; 0], "{mail:#?}");
    }
    let html = html(&desk.server).to_lowercase();
    assert!(!html.contains("<script"), "{html}");
    let mut links = html.split("href=\"").skip(1);
    assert!(links.all(|link| link.starts_with(base) || link.starts_with(CALL)), "{html}");
}

#[apply(on_both)]
#[tokio::test]
async fn an_address_of_a_stranger_is_asked_first(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({ "notify_emails": [BOB, OWN] })).await;
    let link = desk.asked(BOB).await;
    let slots = desk.slots(&page).await;
    // Until Bob agrees, he gets nothing else.
    let booked = desk.book(&page, &slots[5], json!({})).await;
    assert_eq!(recipients(&desk.mails(2).await), [EMAIL, OWN]);
    desk.move_to(&booked, &slots[7]).await.expect(200);
    assert_eq!(recipients(&desk.mails(2).await), [EMAIL, OWN]);
    desk.guest.post(&booked.cancel).await.expect(200);
    assert_eq!(recipients(&desk.mails(2).await), [EMAIL, OWN]);
    desk.nothing_more().await;

    assert_eq!(desk.answer(&link, true, "agreed").await["email"], BOB);
    let shown = ["bob@listen.example agreed", "office@desk.example member"];
    assert_eq!(consents(&desk.read(&page).await.json), shown);
    let mails = desk.reaches(&page, &slots[9], &[BOB, OWN]).await;
    let (bob, own) = (desk.link(&mails[0]), desk.link(&mails[1]));
    // The link in each mail stops the emails.
    assert_eq!(desk.answer(&bob, false, "refused").await["email"], BOB);
    desk.reaches(&page, &slots[12], &[OWN]).await;
    // Members can refuse, too.
    assert_eq!(desk.answer(&own, false, "refused").await["email"], OWN);
    let shown = ["bob@listen.example refused", "office@desk.example refused"];
    assert_eq!(consents(&desk.read(&page).await.json), shown);
    desk.reaches(&page, &slots[15], &[]).await;
    // A later answer replaces an earlier one.
    desk.answer(&bob, true, "agreed").await;
    desk.reaches(&page, &slots[18], &[BOB]).await;
    let again = desk.guest.post(&own).json(json!({ "agrees": true })).await.expect(200);
    assert!(["agreed", "member"].contains(&text(&again["status"]).as_str()), "{}", again.describe());
    desk.reaches(&page, &slots[21], &[BOB, OWN]).await;
    desk.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn opening_the_link_changes_nothing(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let embedded = json!({ "notify_emails": [BOB], "embed_origins": ["https://a.example"] });
    let page = desk.page(embedded).await;
    let link = desk.asked(BOB).await;
    let before = desk.read(&page).await;
    for _ in 0..2 {
        let seen = desk.see(&link).await.with(200).private();
        let bare = seen.bare();
        let complete = ["name=agrees", "value=true", "value=false"].iter().all(|part| bare.contains(part));
        assert!(seen.asks() && complete, "{}", seen.text);
    }
    let wrong: [&[(&str, &str)]; 4] = [&[], &[("agrees", "")], &[("agrees", "maybe")], &[("agree", "true")]];
    for fields in wrong {
        let seen = desk.submit(&link, fields).await.private();
        assert!(seen.status == 400 && seen.asks(), "{fields:?}: {}: {}", seen.status, seen.text);
    }
    for body in [json!({}), json!({ "agrees": "true" }), json!({ "agrees": 1 }), json!({ "agrees": null })] {
        desk.guest.post(&link).json(body).await.refused(400, "validation_error").param("agrees");
    }
    let more = desk.guest.post(&link).json(json!({ "agrees": true, "email": EVE })).await;
    more.refused(400, "validation_error").param("email").code("unknown_field");
    desk.guest.post(&link).json(json!([true])).await.expect(400);
    desk.unchanged(&page, &before).await;

    for (agrees, status) in [("true", "agreed"), ("false", "refused"), ("true", "agreed")] {
        desk.submit(&link, &[("agrees", agrees)]).await.with(200).private();
        assert_eq!(consents(&desk.read(&page).await.json), [format!("{BOB} {status}")]);
        // The page can be opened again, so that the answer can be changed.
        let after = desk.read(&page).await;
        assert!(desk.see(&link).await.with(200).private().asks());
        desk.unchanged(&page, &after).await;
    }
    desk.see(&format!("/book/emails/{}", "a".repeat(43))).await.with(404).private();
    desk.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn an_answer_is_logged_and_raises_the_tag(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({ "notify_emails": [BOB] })).await;
    let link = desk.asked(BOB).await;
    let mut tags = BTreeSet::from([desk.read(&page).await.header("etag").to_owned()]);
    let mut done = Vec::new();
    for (agrees, status) in [(true, "agreed"), (false, "refused"), (true, "agreed")] {
        let before = desk.read(&page).await;
        done.push(desk.answer(&link, agrees, status).await.header("x-request-id").to_owned());
        assert!(tags.insert(desk.read(&page).await.header("etag").to_owned()), "{status}: {tags:?}");
        // A change that was made with the page before the answer is refused.
        let late = desk.api.patch(&page.path).header("if-match", before.header("etag")).json(json!({ "title": "x" }));
        late.await.refused(412, "conflict").code("stale");
    }
    // Neither a look nor a refused answer is logged.
    desk.see(&link).await.with(200);
    desk.guest.post(&link).json(json!({ "agrees": "yes" })).await.refused(400, "validation_error");
    let query = [("action", "booking_page.consent"), ("limit", "200")];
    let log = desk.api.get("/v1/audit-log").query(&query).await.expect(200);
    done.reverse();
    assert_eq!(log.column("request_id"), done);
    for entry in log.data() {
        let shown = (&entry["method"], &entry["path"], &entry["status"], &entry["resource"]);
        let expected = (&json!("POST"), &json!("/book/emails/{token}"), &json!(200), &json!(page.id));
        assert_eq!(shown, expected, "{entry:#}");
        assert_eq!(entry["actor_key_prefix"], Value::Null, "nobody needs a key to answer: {entry:#}");
    }
    let token = link.strip_prefix("/book/emails/").unwrap();
    assert!(!log.text().contains(token) && !desk.server.log().contains(token), "no log has the token");
    // A form's answer is logged as well.
    desk.submit(&link, &[("agrees", "false")]).await.with(200);
    assert_eq!(desk.api.get("/v1/audit-log").query(&query).await.expect(200).data().len(), 4);
}

#[apply(on_both)]
#[tokio::test]
async fn who_stays_keeps_the_answer_and_who_comes_back_is_asked_again(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({ "notify_emails": [BOB, EVE] })).await;
    let links: Vec<String> = desk.mails(2).await.iter().map(|mail| desk.link(mail)).collect();
    let (bob, eve) = (&links[0], &links[1]);
    desk.answer(bob, true, "agreed").await;
    desk.answer(eve, false, "refused").await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[5], json!({})).await;
    assert_eq!(recipients(&desk.mails(2).await), [EMAIL, BOB]);
    for list in [&[EVE, OWN, BOB][..], &[BOB, OWN, EVE]] {
        let kept = desk.notify(&page, list).await;
        let expected = ["bob@listen.example agreed", "eve@listen.example refused", "office@desk.example member"];
        assert_eq!(consents(&kept.json), expected);
    }
    desk.reaches(&page, &slots[9], &[BOB, OWN]).await;

    // Who is removed hears nothing more, not even about earlier bookings.
    assert_eq!(consents(&desk.notify(&page, &[EVE]).await.json), ["eve@listen.example refused"]);
    desk.is_gone(bob).await;
    desk.move_to(&booked, &slots[7]).await.expect(200);
    assert_eq!(recipients(&desk.mails(1).await), [EMAIL]);
    let back = desk.notify(&page, &[BOB, EVE]).await;
    assert_eq!(consents(&back.json), ["bob@listen.example asked", "eve@listen.example refused"]);
    let new = desk.asked(BOB).await;
    assert_ne!(new, *bob);
    desk.is_gone(bob).await;
    // Who refused is not asked again, also after a removal.
    desk.notify(&page, &[BOB]).await;
    let back = desk.notify(&page, &[BOB, EVE]).await;
    assert_eq!(consents(&back.json), ["bob@listen.example asked", "eve@listen.example refused"]);
    // The link of the one who stayed still works.
    desk.answer(eve, true, "agreed").await;
    desk.reaches(&page, &slots[12], &[EVE]).await;
    desk.answer(&new, true, "agreed").await;
    desk.reaches(&page, &slots[15], &[BOB, EVE]).await;
    desk.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn only_proven_addresses_of_owners_are_members(#[case] database: Database) {
    const SECOND: &str = "second@desk.example";
    let (owner, unproven, foreign) = ("grace@example.com", "hedy@example.com", "ida@example.com");
    let provider = SignInProvider::start().await;
    let mut variables = provider.variables("google");
    variables.push(("KALENDS_EGRESS_ALLOW".to_owned(), provider.address().to_owned()));
    variables.push(("KALENDS_MAIL_LIMITS".to_owned(), "off".to_owned()));
    let variables: Vec<_> = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let mut desk = Desk::with(database, &variables).await;
    let second = desk.server.api(&desk.server.org_with("pro", &["--email", SECOND]).await);
    provider.register(&format!("{}/v1/auth/oauth/google/callback", desk.server.base_url()));
    proven(&desk.server, &provider, owner).await;
    proven(&desk.server, &provider, foreign).await;
    Human::sign_up(&desk.server, unproven).await;
    own(&desk.server, owner, OWN).await;
    own(&desk.server, unproven, SECOND).await;
    desk.seen = desk.server.mails().len();

    let made = desk.create(json!({ "notify_emails": [SECOND, owner, foreign, OWN] })).await.expect(201);
    let expected = [
        "grace@example.com member",
        "ida@example.com asked",
        "office@desk.example member",
        "second@desk.example asked",
    ];
    assert_eq!(consents(&made.json), expected);
    let page = Open::of(&made);
    let asked = desk.mails(2).await;
    assert_eq!(recipients(&asked), [foreign, SECOND]);
    assert!(asked.iter().all(|mail| mail.subject == ASKS), "{asked:#?}");
    let slots = desk.slots(&page).await;
    let mails = desk.reaches(&page, &slots[5], &[owner, OWN]).await;
    desk.answer(&desk.link(&mails[0]), false, "refused").await;
    desk.answer(&desk.link(&asked[0]), true, "agreed").await;
    desk.reaches(&page, &slots[9], &[foreign, OWN]).await;
    desk.nothing_more().await;

    // Nobody has proven the address of the other organization's owner.
    let calendar = agent_with_calendar(&second).await.1;
    let body = json!({ "calendar_id": calendar, "title": "Theirs", "notify_emails": [unproven, SECOND] });
    let theirs = second.post(PAGES).json(body).await.expect(201);
    assert_eq!(consents(&theirs.json), ["hedy@example.com asked", "second@desk.example member"]);
    desk.asked(unproven).await;
}

#[apply(on_both)]
#[tokio::test]
async fn an_organization_that_is_not_verified_asks_nobody(#[case] database: Database) {
    const SCOUT: &str = "scout@example.com";
    let server = Server::start_with(database, &[("KALENDS_MAIL_LIMITS", "off")]).await;
    let (_, key) = claims::agent(&server, SCOUT).await;
    hurry(&server, SCOUT).await;
    let api = server.client(&key);
    let agent = api.get("/v1/agents").await.expect(200).column("id").remove(0);
    let calendar = calendar_of(&api, &agent).await;
    let mut desk = Desk::of(server, api, calendar);
    // The first mail has the code of the sign-up.
    let code = desk.mails(1).await[0].code().to_owned();

    let refused = desk.create(json!({ "notify_emails": [BOB] })).await;
    refused.expect(403).code("verification_required");
    assert_eq!(desk.api.get(PAGES).await.expect(200)["total"], 0);
    let page = desk.page(json!({ "notify_emails": [] })).await;
    let before = desk.read(&page).await;
    // Its own address is not verified either.
    for list in [json!([BOB]), json!([SCOUT]), json!([SCOUT, BOB])] {
        let change = json!({ "title": "Outro", "notify_emails": list });
        desk.api.patch(&page.path).json(change).await.expect(403).code("verification_required");
        desk.unchanged(&page, &before).await;
    }
    // Without addresses, everything still works.
    desk.patch(&page, json!({ "title": "Outro", "notify_emails": [] })).await;
    assert_eq!(desk.server.mails().len(), 1, "nobody was asked");

    desk.api.post("/v1/agent/verify").json(json!({ "otp": code })).await.expect(200);
    let changed = desk.notify(&page, &[BOB, SCOUT]).await;
    assert_eq!(consents(&changed.json), ["bob@listen.example asked", "scout@example.com member"]);
    desk.asked(BOB).await;
    let slots = desk.slots(&page).await;
    desk.reaches(&page, &slots[5], &[SCOUT]).await;
}

#[apply(on_both)]
#[tokio::test]
async fn emails_to_hosts_do_not_count_toward_the_limits_and_questions_do(#[case] database: Database) {
    let mut desk = Desk::with(database, &[("KALENDS_MAIL_LIMITS", "org=2,recipient=1")]).await;
    let page = desk.heard(&[OWN], json!({})).await;
    let slots = desk.slots(&page).await;
    desk.book(&page, &slots[5], json!({})).await;
    desk.book(&page, &slots[7], json!({ "email": "bob@guest.example" })).await;
    let mails = desk.mails(4).await;
    let to = recipients(&mails);
    assert_eq!(to.iter().filter(|to| **to == OWN).count(), 2, "the host agreed to them: {to:?}");

    let third = booking(&slots[9], json!({ "email": "cy@guest.example" }));
    let refused = desk.guest.post(&page.book).json(third).await;
    refused.refused(429, "quota_exceeded").code("mail_limit");
    let before = desk.read(&page).await;
    let asks = desk.api.patch(&page.path).json(json!({ "notify_emails": [OWN, BOB] })).await;
    asks.refused(429, "quota_exceeded").code("mail_limit");
    desk.unchanged(&page, &before).await;
    assert!(desk.slots(&page).await.contains(&slots[9]));

    desk.later(LATER).await;
    desk.reaches(&page, &slots[9], &[OWN]).await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_wrong_link_leads_nowhere(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({ "notify_emails": [BOB] })).await;
    let link = desk.asked(BOB).await;
    let other = desk.heard(&[BOB], json!({})).await;
    let before = desk.read(&page).await;
    let token = link.strip_prefix("/book/emails/").unwrap();
    let letter = if token.starts_with('a') { 'b' } else { 'a' };
    for path in [
        format!("/book/emails/{letter}{}", &token[1..]),
        format!("{link}x"),
        format!("/book/emails/{}", &token[1..]),
        format!("/book/emails/{}", page.id),
        format!("/book/emails/{}", "a".repeat(43)),
        "/book/emails/x".to_owned(),
    ] {
        desk.is_gone(&path).await;
    }
    desk.unchanged(&page, &before).await;
    // The token of a guest answers for no host.
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[5], json!({})).await;
    desk.mails(1).await;
    for token in booked.tokens() {
        desk.is_gone(&format!("/book/emails/{token}")).await;
    }
    // A link answers for its own page.
    desk.answer(&link, false, "refused").await;
    assert_eq!(consents(&desk.read(&other).await.json), ["bob@listen.example agreed"]);

    desk.api.delete(&page.path).await.expect(204);
    desk.is_gone(&link).await;
    assert_eq!(consents(&desk.read(&other).await.json), ["bob@listen.example agreed"]);
    desk.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn names_of_organizations_and_pages_are_escaped(#[case] database: Database) {
    let server = Server::start_with(database, &[("KALENDS_MAIL_LIMITS", "off")]).await;
    let limits = r#"{"rate_per_second":1000000}"#;
    let create = ["org", "create", "--name", EVIL, "--plan", "pro", "--limits", limits, "--email", OWN];
    let made: Value = serde_json::from_str(&server.cli(&create).await.succeeded().stdout).unwrap();
    let api = server.client(&text(&made["api_key"]));
    let calendar = agent_with_calendar(&api).await.1;
    let mut desk = Desk::of(server, api, calendar);
    let title = "<b>Intro</b> & \"more\"";
    desk.page(json!({ "title": title, "notify_emails": [BOB] })).await;
    let link = desk.asked(BOB).await;
    let asks = desk.see(&link).await.with(200);
    let plain = asks.plain();
    assert!(plain.contains(EVIL) && plain.contains(title), "the page says who asks and for what: {plain}");
    for seen in [
        asks,
        desk.submit(&link, &[("agrees", EVIL)]).await,
        desk.submit(&link, &[("agrees", "true")]).await.with(200),
        desk.see(&link).await.with(200),
        desk.submit(&link, &[("agrees", "false")]).await.with(200),
        desk.see(&link).await.with(200),
    ] {
        for part in ["<script>alert", "<img src=x", "\"'>", "<b>intro"] {
            assert!(!seen.text.to_lowercase().contains(part), "{part}: {}", seen.text);
        }
    }
    let html = html(&desk.server).to_lowercase();
    assert!(!html.contains("<script") && !html.contains("<img") && !html.contains("<b>intro"), "{html}");
}

#[apply(on_both)]
#[tokio::test]
async fn a_booking_has_a_file_for_calendars(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let fields = json!({ "title": "Plan, then; do", "location": PLACE, "conference_url": CALL });
    let page = desk.page(fields).await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[5], json!({})).await;
    let uid = value(&desk.mails(1).await[0], "UID");
    let files = booked.tokens().map(|token| format!("{}/bookings/{token}/event.ics", page.book));
    assert!(files.contains(&booked.file), "{} is not in {files:?}", booked.file);
    let shows = async |path: &str, start: &str| {
        let lines = desk.lines(path).await;
        let count = |line: &str| lines.iter().filter(|found| *found == line).count();
        for line in [
            "BEGIN:VCALENDAR",
            "BEGIN:VEVENT",
            &format!("UID:{uid}"),
            "SUMMARY:Plan\\, then\\; do",
            &format!("DTSTART:{}", stamp(start)),
            &format!("DTEND:{}", stamp(&end(start))),
            "LOCATION:Room 2\\, Berlin",
        ] {
            assert_eq!(count(line), 1, "{line}: {lines:#?}");
        }
        let is_call =
            |line: &String| (line.starts_with("CONFERENCE") || line.starts_with("URL")) && line.ends_with(CALL);
        assert!(lines.iter().any(is_call), "{lines:#?}");
        let whole = lines.join("\n");
        for part in ["ATTENDEE", "VALARM", NAME, EMAIL] {
            assert!(!whole.contains(part), "{part}: {lines:#?}");
        }
    };
    for path in &files {
        shows(path, &slots[5]).await;
        // Each view of the booking names a file that works.
        let view = desk.guest.get(path.strip_suffix("/event.ics").unwrap()).await.expect(200);
        shows(&desk.path(&view["ics_url"]), &slots[5]).await;
    }
    let moved = desk.move_to(&booked, &slots[7]).await.expect(200);
    for path in files.iter().chain([&desk.path(&moved["ics_url"])]) {
        shows(path, &slots[7]).await;
    }

    // A token works for its own booking on its own page.
    let other = desk.page(json!({})).await;
    for path in [
        format!("{}/bookings/nobody-s/event.ics", page.book),
        format!("{}/bookings/{}x/event.ics", page.book, booked.tokens()[0]),
        format!("{}/bookings/{}/event.ics", other.book, booked.tokens()[0]),
    ] {
        desk.guest.get(path).await.refused(404, "not_found");
    }
    desk.guest.post(&booked.cancel).await.expect(200);
    for path in &files {
        desk.guest.get(path).await.refused(404, "not_found");
    }

    // What the host adds to the event is not for the guest.
    let booked = desk.book(&other, &slots[20], json!({})).await;
    let notes = json!({ "description": "a weak candidate", "location": "backstage" });
    desk.api.patch(format!("/v1/events/{}", booked.event)).json(notes).await.expect(200);
    let lines = desk.lines(&booked.file).await;
    assert!(lines.iter().any(|line| line == "SUMMARY:Intro"), "{lines:#?}");
    for part in ["LOCATION", "CONFERENCE", "weak", "backstage"] {
        assert!(!lines.iter().any(|line| line.contains(part)), "{part}: {lines:#?}");
    }
    desk.cancel(&other, &booked).await.expect(200);
    desk.guest.get(&booked.file).await.refused(404, "not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn the_confirmation_links_to_calendars(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let (title, place) = ("Tea & <b>\"talk\"</b> #1 +'now' 100%", "Room \"2\" & <3>, #4");
    let page = desk.page(json!({ "title": title, "location": place, "conference_url": CALL })).await;
    let slots = desk.slots(&page).await;
    let booked = desk.submit(&page.book, &[("start", &slots[5]), ("name", NAME), ("email", EMAIL)]).await.with(201);
    let (cancel, reschedule) = (booked.link("/cancel"), booked.link("/move"));
    let moved = desk.submit(&reschedule, &[("start", &slots[7])]).await.with(200);
    let tokens = [&cancel, &reschedule].map(|path| path.rsplit('/').nth(1).unwrap());
    for (seen, start) in [(&booked, &slots[5]), (&moved, &slots[7])] {
        let (google, parameters) = seen.calendar("https://calendar.google.com/calendar/render?action=TEMPLATE");
        let expected = [
            ("action", "TEMPLATE".to_owned()),
            ("text", title.to_owned()),
            ("dates", format!("{}/{}", stamp(start), stamp(&end(start)))),
            ("location", place.to_owned()),
        ];
        for (name, value) in expected {
            assert_eq!(parameters.get(name), Some(&value), "{name}: {google}");
        }
        assert!(parameters.get("details").is_some_and(|details| !details.is_empty()), "{google}");

        let (outlook, parameters) = seen.calendar("https://outlook.live.com/calendar/0/deeplink/compose");
        assert_eq!(parameters.get("subject").map(String::as_str), Some(title), "{outlook}");
        let time = |name: &str| at(parameters.get(name).unwrap_or_else(|| panic!("no {name}: {outlook}")));
        assert_eq!((time("startdt"), time("enddt")), (at(start), at(&end(start))), "{outlook}");

        // Other sites learn neither who books nor how to change it.
        let slug = page.book.strip_prefix("/book/").unwrap();
        for link in [google, outlook] {
            for secret in [tokens[0], tokens[1], slug, NAME, "Ada%20", "ada%40", EMAIL] {
                assert!(!link.contains(secret), "{secret}: {link}");
            }
        }
        let lines = desk.lines(&seen.link("/event.ics")).await;
        assert!(lines.iter().any(|line| line.starts_with("SUMMARY:Tea & <b>")), "{lines:#?}");
        assert!(!seen.text.contains("<b>\"talk") && !seen.text.contains("<3>"), "{}", seen.text);
    }
}
