//! The languages of public pages and of emails to guests, with the weeks, the dates and the clock of the reader's
//! region. Written without knowledge of the code.

use std::collections::BTreeSet;

use chrono::{Datelike as _, Weekday};
use kalends_e2e::{Answer, Database, Mail, Server, at, shifted};
use reqwest::header::HeaderValue;
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::text,
    desk::{Desk, EMAIL, EVIL, HOST, NAME, OWN, Open, booking, end, form, html, recipients, squeezed},
    fixtures::{agent_with_calendar, has_exactly, now},
    invitations_by_the_rule::{ADA, Host, people},
    on_both,
    readers::{
        CANADIAN, KATHMANDU, MESSAGES, Reader, TAGS, TOKYO, View, beginning, book, booked, clock, date, daytime,
        filled, forward, heading, language, letters, link_in, message,
    },
    webhooks::{hook, with_receiver},
};

#[apply(on_both)]
#[tokio::test]
async fn every_page_of_a_booking_speaks_every_language(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let question = json!([{ "id": "topic", "label": "Thema/Topic?", "type": "text", "required": true }]);
    let page = desk.page(json!({ "questions": question })).await;
    let reader = Reader::of(&desk.server);
    let slots = daytime(&desk.slots(&page).await);
    let answered = [("answers[topic]", "Looms"), ("tz", "UTC")];
    let long = "x".repeat(201);
    for (number, tag) in TAGS.into_iter().enumerate() {
        let (first, second) = (&slots[3 * number], &slots[3 * number + 1]);
        let get = async |path: &str| reader.get(tag, path).await;
        let picker = get(&format!("{}?tz=UTC", page.book)).await.with(200).speaks(tag);
        let lasts = filled(tag, "hours", &[("count", "1")]);
        picker.says(tag, &["skip", "footer-booking", "times-are-shown-in"]).has(&["<h1>Intro</h1>", &lasts]);
        let details = get(&format!("{}?slot={first}&tz=UTC", page.book)).await.with(200).speaks(tag);
        details.says(tag, &["your-details", "name", "email", "notes", "footer-booking"]).has(&["Thema/Topic?"]);

        // A field that is wrong is explained.
        for (field, value, problem) in [
            ("name", "", message(tag, "problem-required")),
            ("email", "", message(tag, "problem-required")),
            ("email", "ada", message(tag, "problem-email")),
            ("name", &long, filled(tag, "problem-too-long", &[("max", "200")])),
            ("answers[topic]", "", message(tag, "problem-required")),
        ] {
            let mut fields = form(first, &answered);
            for one in &mut fields {
                if one.0 == field {
                    one.1 = value;
                }
            }
            let refused = reader.post(tag, &page.book, &fields).await.with(400).speaks(tag);
            let refused = refused.says(tag, &["nothing-booked", "please-correct"]).has(&[&problem]);
            refused.has(&[&format!("<title>{}", beginning(tag, "error-title"))]);
        }
        let without = reader.post(tag, &page.book, &form(first, &[])).await.with(400).speaks(tag);
        without.says(tag, &["problem-required"]);
        get(&format!("{}?slot=soon", page.book)).await.with(400).headed(tag, "not-offered");

        let made = reader.post(tag, &page.book, &form(first, &answered)).await.with(201);
        let made = made.headed(tag, "you-are-booked").says(tag, &["add-to-calendar", "calendar-file"]);
        let made = made.has(&[date(tag, at(first)), clock(tag, at(first))]);
        let made = made.has(&[beginning(tag, "confirmation-sent").trim(), EMAIL]);
        let hrefs = made.hrefs();
        for (begin, end) in [("https://calendar.google.com/", ""), ("https://outlook.", ""), ("", ".ics")] {
            let offered = hrefs.iter().any(|href| href.starts_with(begin) && href.ends_with(end));
            assert!(offered, "{tag}: {begin}{end}: {hrefs:?}");
        }
        let (cancel, reschedule) = (made.link("/cancel"), made.link("/move"));
        let taken = reader.post(tag, &page.book, &form(first, &answered)).await.with(409);
        let gone = [("date", date(tag, at(first))), ("time", clock(tag, at(first)))];
        let gone = gone.each_ref().map(|(name, value)| (*name, value.as_str()));
        let taken = taken.headed(tag, "taken").says(tag, &["nearest-times", "input-kept"]);
        taken.has(&[filled(tag, "taken-now", &gone)]);

        get(&reschedule).await.with(200).speaks(tag).says(tag, &["move-hint"]);
        let confirm = get(&format!("{reschedule}?slot={second}&tz=UTC")).await.with(200).headed(tag, "confirm-move");
        confirm.says(tag, &["move-button"]).has(&[date(tag, at(second))]);
        let moved = reader.post(tag, &reschedule, &[("start", second), ("tz", "UTC")]).await.with(200);
        moved.headed(tag, "moved-heading").has(&[date(tag, at(second)), filled(tag, "no-longer-at", &gone)]);

        let asked = get(&cancel).await.with(200).headed(tag, "cancel-question").says(tag, &["cancel-button"]);
        asked.has(&[filled(tag, "booked-by", &[("name", NAME)]), date(tag, at(second))]);
        reader.post(tag, &cancel, &[]).await.with(200).headed(tag, "cancelled-now").says(tag, &["cancelled-now-text"]);
        reader.post(tag, &cancel, &[]).await.with(200).headed(tag, "cancelled-before");

        for path in ["/book/nobody-s", "/book/nobody-s?tz=UTC"] {
            get(path).await.with(404).headed(tag, "no-page").says(tag, &["no-page-text"]);
        }
        let stray = format!("{}/bookings/nobody-s/cancel", page.book);
        get(&stray).await.with(404).headed(tag, "no-booking").says(tag, &["no-booking-text"]);
        reader.get("it", "/book/nobody-s").await.with(404).headed("en", "no-page");
        reader.get_in("it", "/book/nobody-s", tag).await.with(404).headed(tag, "no-page");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn closed_and_limited_pages_speak_every_language(#[case] database: Database) {
    let limits = [("KALENDS_MAIL_LIMITS", "off"), ("KALENDS_IP_LIMITS", "booking_page=40,booking=40")];
    let server = Server::start_with(database, &limits).await;
    let api = server.api(&server.org_with("custom", &["--limits", r#"{"events":1}"#]).await);
    let calendar = agent_with_calendar(&api).await.1;
    let desk = Desk::of(server, api, calendar);
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    desk.book(&page, &slots[9], json!({})).await;
    let reader = Reader::of(&desk.server);
    for tag in TAGS {
        reader.get(tag, &page.book).await.with(200).speaks(tag).says(tag, &["closed", "closed-text"]);
        reader.post(tag, &page.book, &form(&slots[10], &[])).await.with(429).headed(tag, "closed");
    }
    for tag in TAGS {
        let mut answer = reader.get(tag, &page.book).await;
        for _ in 0..200 {
            if answer.status == 429 {
                break;
            }
            answer = reader.get(tag, &page.book).await;
        }
        answer.with(429).headed(tag, "too-many").says(tag, &["too-many-text"]);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn the_header_is_negotiated_and_lang_wins(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let reader = Reader::of(&desk.server);
    for (accepted, expected) in [
        ("", "en"),
        ("en-US", "en"),
        ("de", "de"),
        ("DE-de", "de"),
        ("de-CH", "de"),
        ("fr-CA", "fr"),
        ("es-419", "es"),
        ("pt-PT", "pt"),
        ("pt-BR", "pt"),
        ("ja-JP", "ja"),
        ("de,fr", "de"),
        ("de-DE,de;q=0.9,en;q=0.8", "de"),
        ("fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5", "fr"),
        // The highest weight is first, wherever it is.
        ("fr;q=0.5,es;q=0.9", "es"),
        ("en;q=0.1,ja;q=0.2,pt;q=0.15", "ja"),
        ("de;q=0.999,en-GB;q=1.000", "en"),
        ("de;q=0.5,fr", "fr"),
        ("de;q=0.001", "de"),
        (" de ; q=0.7 , fr ; q=0.8 ", "fr"),
        ("de;Q=0.1,fr;q=0.5", "fr"),
        // A weight of zero excludes.
        ("de;q=0", "en"),
        ("de;q=0.000,fr;q=0.1", "fr"),
        ("fr;q=0, *", "en"),
        // The asterisk is ignored.
        ("*", "en"),
        ("*,fr;q=0.1", "fr"),
        ("*;q=1, ja;q=0.2", "ja"),
        // Languages that we do not have are skipped.
        ("it-IT", "en"),
        ("it,nl;q=0.9", "en"),
        ("it,de;q=0.5", "de"),
        ("tlh, sv-SE;q=0.9, pt-BR;q=0.1", "pt"),
        ("zh-Hant-TW,ja;q=0.1", "ja"),
        ("gsw,de;q=0.5", "de"),
    ] {
        let seen = reader.get(accepted, &page.book).await.with(200);
        assert_eq!(seen.language(), expected, "{accepted:?}");
        seen.speaks(expected).says(expected, &["footer-booking"]);
    }
    for (lang, accepted, expected) in [
        ("de", "fr", "de"),
        ("de", "", "de"),
        ("ja", "de;q=1", "ja"),
        ("pt-BR", "fr", "pt"),
        ("en-US", "de", "en"),
        ("es-419", "ja", "es"),
        ("fr-CA", "en-GB,en;q=0.9", "fr"),
        ("DE", "fr", "de"),
        // The unknown and the invalid are ignored.
        ("it", "fr", "fr"),
        ("it-IT", "", "en"),
        ("tlh", "es", "es"),
        ("klingon", "es", "es"),
        ("", "pt", "pt"),
        ("*", "ja", "ja"),
        ("1", "ja", "ja"),
        ("de;q=1", "fr", "fr"),
        ("de,es", "fr", "fr"),
        ("d", "de", "de"),
    ] {
        let seen = reader.get_in(accepted, &page.book, lang).await.with(200);
        assert_eq!(seen.language(), expected, "{lang:?} and {accepted:?}");
        seen.speaks(expected).says(expected, &["footer-booking"]);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn weeks_dates_and_clocks_are_those_of_the_locale(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    // It becomes March.
    let today = at(&now(&desk.api).await);
    let march = format!("{}-03-03T08:30:00Z", today.year() + i32::from(today.month() >= 3));
    forward(&mut desk, &march).await;
    let page = desk.page(json!({})).await;
    let fine = desk.page(json!({ "duration_minutes": 5, "window_days": 3 })).await;
    let reader = Reader::of(&desk.server);
    let slots = daytime(&desk.slots(&page).await);
    let day = march.replace("03T08", "04T08");
    let (early, late) = (day.replace("08:30", "09:05"), day.replace("08:30", "21:05"));
    let picker = format!("{}?day={}&tz=UTC", page.book, &day[..10]);
    let times = format!("{}?day={}&tz=UTC", fine.book, &day[..10]);
    use Weekday::{Mon, Sat, Sun};
    for (tag, first) in [
        ("en-US", Sun),
        ("pt-BR", Sun),
        ("pt", Sun),
        ("ja", Sun),
        ("es-MX", Sun),
        ("fr-CA", Sun),
        ("en-GB", Mon),
        ("de", Mon),
        ("fr", Mon),
        ("es", Mon),
        ("de-AT", Mon),
    ] {
        let by_header = reader.get(tag, &picker).await.with(200);
        // Here the header would lead to other weeks.
        let other = if first == Sun { "de" } else { "en-US" };
        let by_lang = reader.get(other, &format!("{picker}&lang={tag}")).await.with(200);
        for seen in [by_header, by_lang] {
            let seen = seen.speaks(tag).begins(tag, first);
            seen.has_raw("<h2 id=\"month\"").has(&[format!(">{}</h2>", heading(tag, at(&day)))]);
        }
    }
    // Without a language that we have, the region still decides.
    for (accepted, first) in [("", Mon), ("it-IT", Mon), ("sv-SE", Mon), ("he-IL", Sun), ("ko-KR", Sun), ("ar-EG", Sat)]
    {
        reader.get(accepted, &picker).await.with(200).speaks("en").begins("en", first);
    }

    for tag in ["", "en-GB", "en-US", "de", "fr", "es", "pt", "ja", "it-IT"] {
        let shown = match tag {
            "en-US" => ["9:05\u{202f}AM", "9:05\u{202f}PM"],
            "ja" => ["9:05", "21:05"],
            _ => ["09:05", "21:05"],
        };
        let seen = reader.get(tag, &times).await.with(200);
        let by = |start: &str, shown: &str| format!("<time datetime=\"{start}\">{shown}</time>");
        seen.has_raw(&by(&early, shown[0])).has_raw(&by(&late, shown[1]));
    }
    for (number, tag) in ["en-GB", "en-US", "de", "fr", "es", "pt", "ja"].into_iter().enumerate() {
        let slot = &slots[number];
        let made = reader.post(tag, &page.book, &form(slot, &[("tz", "UTC")])).await.with(201);
        made.headed(tag, "you-are-booked").has(&[date(tag, at(slot)), clock(tag, at(slot))]);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn links_and_forms_keep_the_language_that_was_asked_for(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let reader = Reader::of(&desk.server);
    let slots = daytime(&desk.slots(&page).await);
    let (first, second) = (slots[0].as_str(), slots[1].as_str());
    let base = desk.server.base_url();
    // The header alone would give German.
    let get = async |path: &str| reader.get("de", path).await;
    let asked = |path: &str| format!("{path}{}lang={CANADIAN}", if path.contains('?') { '&' } else { '?' });
    let chosen = |path: &str, slot: &str| asked(&format!("{path}?slot={slot}&tz=UTC"));

    let picker = get(&asked(&format!("{}?day={}&tz=UTC", page.book, &first[..10]))).await.with(200);
    let picker = picker.speaks(CANADIAN).begins(CANADIAN, Weekday::Sun).keeps(base, CANADIAN);
    let links = picker.pages(base);
    let to_slot: Vec<&String> = links.iter().filter(|link| link.contains("slot=")).collect();
    assert!(!to_slot.is_empty() && to_slot.iter().all(|link| link.contains("lang=fr-CA")), "{links:?}");
    let next = if to_slot[0].starts_with('?') { format!("{}{}", page.book, to_slot[0]) } else { to_slot[0].clone() };
    get(&next).await.with(200).speaks("fr").says("fr", &["your-details"]);
    // What was not asked for is not in the addresses of times.
    let silent = get(&format!("{}?day={}&tz=UTC", page.book, &first[..10])).await.with(200).speaks("de");
    let lost = silent.pages(base).into_iter().find(|link| link.contains("slot=") && link.contains("lang=fr"));
    assert_eq!(lost, None);

    get(&chosen(&page.book, first)).await.with(200).speaks("fr").keeps(base, CANADIAN);
    get(&asked(&format!("{}?slot=soon", page.book))).await.with(400).headed("fr", "not-offered").keeps(base, CANADIAN);
    let lang = [("lang", CANADIAN), ("tz", "UTC")];
    let mut wrong = form(first, &lang);
    wrong.retain(|(name, _)| *name != "email");
    let refused = reader.post("de", &page.book, &wrong).await.with(400).speaks("fr").keeps(base, CANADIAN);
    refused.says("fr", &["problem-required", "nothing-booked"]);
    let made = reader.post("de", &page.book, &form(first, &lang)).await.with(201);
    let made = made.headed("fr", "you-are-booked").keeps(base, CANADIAN);
    let (cancel, reschedule) = (made.link("/cancel"), made.link("/move"));
    let taken = reader.post("de", &page.book, &form(first, &lang)).await.with(409);
    taken.headed("fr", "taken").keeps(base, CANADIAN);

    get(&asked(&reschedule)).await.with(200).speaks("fr").keeps(base, CANADIAN);
    get(&chosen(&reschedule, second)).await.with(200).headed("fr", "confirm-move").keeps(base, CANADIAN);
    let moved = reader.post("de", &reschedule, &[("start", second), lang[0], lang[1]]).await.with(200);
    moved.headed("fr", "moved-heading").keeps(base, CANADIAN);
    get(&asked(&cancel)).await.with(200).headed("fr", "cancel-question").keeps(base, CANADIAN);
    let cancelled = reader.post("de", &cancel, &lang[..1]).await.with(200);
    cancelled.headed("fr", "cancelled-now").keeps(base, CANADIAN);
    // Without it, the header counts again.
    get(&cancel).await.with(200).headed("de", "cancelled-before");
}

#[apply(on_both)]
#[tokio::test]
async fn the_confirmation_is_in_the_language_and_the_zone_of_the_request(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({ "timezone": TOKYO.0 })).await;
    let slots = daytime(&desk.slots(&page).await);
    let ids = ["mail-move", "mail-cancel", "mail-links-are-secret"];
    for (number, tag) in TAGS.into_iter().enumerate() {
        // A guest who names no zone gets the page's.
        let slot = &slots[2 * number];
        booked(&desk, &page, tag, slot, json!({})).await;
        letters(&mut desk, 1).await[0].is(tag, "mail-booked", slot, TOKYO, &ids);
        // The field wins over the header.
        let (slot, fields) = (&slots[2 * number + 1], json!({ "language": tag, "timezone": KATHMANDU.0 }));
        let other = if tag == "de" { "ja" } else { "de" };
        booked(&desk, &page, other, slot, fields).await;
        letters(&mut desk, 1).await[0].is(tag, "mail-booked", slot, KATHMANDU, &ids);
    }

    // Regions. The rest of the field's values is as in `lang`.
    for (number, (accepted, named, subject)) in [
        ("", Value::Null, "en"),
        ("it-IT", Value::Null, "en"),
        ("it,pt-BR;q=0.3", Value::Null, "pt"),
        ("ja", json!("en-US"), "en-US"),
        ("ja", json!("de-AT"), "de"),
        ("", json!("pt-BR"), "pt"),
        ("en", json!("es-419"), "es"),
    ]
    .into_iter()
    .enumerate()
    {
        let slot = &slots[20 + number];
        let fields = if named.is_null() { json!({}) } else { json!({ "language": named }) };
        booked(&desk, &page, accepted, slot, fields).await;
        let letter = letters(&mut desk, 1).await.remove(0);
        letter.says(subject, &message(subject, "mail-booked-subject"), &[TOKYO.0]);
        if subject == "en-US" {
            letter.is(subject, "mail-booked", slot, TOKYO, &ids);
        }
    }

    // A page with a host.
    let hosted = desk.page(json!({ "host_name": HOST })).await;
    booked(&desk, &hosted, "fr", &slots[30], json!({})).await;
    let with_host = filled("fr", "mail-booking-with", &[("title", "Intro"), ("host", HOST)]);
    letters(&mut desk, 1).await[0].says("fr", &message("fr", "mail-booked-subject"), &[&with_host]);
}

#[apply(on_both)]
#[tokio::test]
async fn a_form_sets_the_language_of_the_page_and_the_mail(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let slots = daytime(&desk.slots(&page).await);
    let reader = Reader::of(&desk.server);
    // The header, the field of the form, the parameter of the address, and the language that follows.
    for (number, (accepted, field, parameter, tag)) in [
        ("de", "", "", "de"),
        ("", "", "", "en"),
        ("de", "fr", "", "fr"),
        ("", "ja", "", "ja"),
        ("it", "pt-BR", "", "pt"),
        ("de", "", "es", "es"),
        ("de", "fr", "fr", "fr"),
        ("de", "it", "", "de"),
        ("es", EVIL, "", "es"),
    ]
    .into_iter()
    .enumerate()
    {
        let slot = &slots[number];
        let mut fields = form(slot, &[("tz", KATHMANDU.0)]);
        if !field.is_empty() {
            fields.push(("lang", field));
        }
        let path = if parameter.is_empty() { page.book.clone() } else { format!("{}?lang={parameter}", page.book) };
        let made = reader.post(accepted, &path, &fields).await.with(201);
        made.headed(tag, "you-are-booked").harmless();
        let letter = letters(&mut desk, 1).await.remove(0);
        letter.says(tag, &message(tag, "mail-booked-subject"), &["Intro", KATHMANDU.0]);
        if tag != "en" {
            letter.is(tag, "mail-booked", slot, KATHMANDU, &["mail-move", "mail-cancel"]);
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn all_later_emails_stay_in_the_language_of_the_booking(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({ "timezone": TOKYO.0 })).await;
    let class = desk.page(json!({ "seats": 4, "guest_reminders": [60], "timezone": TOKYO.0 })).await;
    let slots = daytime(&desk.slots(&page).await);
    let soon = &slots[0];
    let links = ["mail-move", "mail-cancel"];
    let cases = [("de", "fr", "a@guest.example"), ("ja", "en-GB", "b@guest.example")];
    let mut kept = Vec::new();
    for (number, (tag, other, email)) in cases.into_iter().enumerate() {
        let of = |place: usize| &slots[10 + 6 * number + place];
        booked(&desk, &class, tag, soon, json!({ "email": email })).await;
        letters(&mut desk, 1).await[0].is(tag, "mail-booked", soon, TOKYO, &links);

        // A browser in another language moves it.
        let one = booked(&desk, &page, tag, of(0), json!({ "timezone": KATHMANDU.0 })).await;
        letters(&mut desk, 1).await[0].is(tag, "mail-booked", of(0), KATHMANDU, &links);
        let reader = Reader::of(&desk.server);
        let fields = [("start", of(1).as_str()), ("lang", other)];
        reader.post(other, &one.reschedule, &fields).await.with(200).headed(other, "moved-heading");
        letters(&mut desk, 1).await[0].is(tag, "mail-moved", of(1), KATHMANDU, &links);
        reader.post(other, &one.cancel, &fields[1..]).await.with(200).headed(other, "cancelled-now");
        letters(&mut desk, 1).await[0].is(tag, "mail-cancelled", of(1), KATHMANDU, &[]);

        // This one stays until the service has started again.
        let fields = json!({ "language": tag });
        kept.push((tag, other, of(2), booked(&desk, &page, other, of(2), fields.clone()).await));
        kept.push((tag, other, of(3), booked(&desk, &page, other, of(3), fields).await));
        for letter in letters(&mut desk, 2).await {
            letter.says(tag, &message(tag, "mail-booked-subject"), &["Intro"]);
        }
    }

    // The time of a reminder.
    forward(&mut desk, &shifted(soon, -59)).await;
    let reminders = letters(&mut desk, 2).await;
    for ((tag, _, email), letter) in cases.into_iter().zip(&reminders) {
        assert_eq!(letter.mail.to, email);
        letter.is(tag, "mail-reminder", soon, TOKYO, &links);
    }
    for pair in kept.chunks(2) {
        let [(tag, other, of_guest, by_guest), (_, _, of_host, by_host)] = pair else { panic!("two bookings") };
        let call = desk.guest.post(&by_guest.cancel).header("accept-language", *other);
        call.await.expect(200);
        letters(&mut desk, 1).await[0].is(tag, "mail-cancelled", of_guest, TOKYO, &[]);
        let id = text(&desk.listed(&page, by_host).await["id"]);
        let call = desk.api.post(format!("/v1/bookings/{id}/cancel")).header("accept-language", *other);
        call.json(json!({ "reason": "The train is late" })).await.expect(200);
        let letter = letters(&mut desk, 1).await.remove(0);
        letter.is(tag, "mail-called-off", of_host, TOKYO, &["mail-host-writes", "mail-book-another"]);
        assert!(letter.mail.text.contains("The train is late"), "{:#?}", letter.mail);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_language_that_is_not_one_of_the_six_is_refused(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let slots = daytime(&desk.slots(&page).await);
    let long = "x".repeat(5_000);
    for named in [
        json!("it"),
        json!("it-IT"),
        json!("tlh"),
        json!(""),
        json!("*"),
        json!("d"),
        json!("de,fr"),
        json!("de;q=1"),
        json!(format!("de-{long}")),
        json!(long),
        json!(EVIL),
        json!("de\r\nBcc: eve@example.com"),
        json!(7),
        json!(["de"]),
        json!({ "de": true }),
    ] {
        let answer = book(&desk, &page, "de", &slots[0], json!({ "language": named })).await;
        answer.refused(400, "validation_error").param("language");
    }
    assert!(desk.offers(&page, &slots[0]).await);
    for (number, named) in ["en", "en-US", "de-CH", "fr-CA", "es-419", "pt-BR", "ja-JP"].into_iter().enumerate() {
        booked(&desk, &page, "", &slots[number], json!({ "language": named })).await;
        let letter = letters(&mut desk, 1).await.remove(0);
        letter.says(named, &message(named, "mail-booked-subject"), &["Intro"]);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn the_language_is_not_shown_anywhere(#[case] database: Database) {
    let (server, api, receiver) = with_receiver(database, "pro").await;
    hook(&api, &receiver, "/all", &["*"]).await;
    let calendar = agent_with_calendar(&api).await.1;
    let desk = Desk::of(server, api, calendar);
    let page = desk.page(json!({})).await;
    let slots = daytime(&desk.slots(&page).await);
    let answer = book(&desk, &page, "fr", &slots[0], json!({ "language": "ja" })).await.expect(201);
    let one = desk.booked(&answer);
    let event = desk.event_of(&one.event).await.expect(200);
    has_exactly(&event["metadata"]["booking"], &["name", "email", "notes", "booking_page_id"]);
    let fields = [
        "id",
        "event_id",
        "booking_page_id",
        "calendar_id",
        "status",
        "start_time",
        "end_time",
        "name",
        "email",
        "notes",
        "answers",
        "created_at",
        "cancelled_at",
        "cancelled_by",
    ];
    has_exactly(&desk.listed(&page, &one).await, &fields);
    let mut shown = vec![answer, event];
    for path in [one.cancel.strip_suffix("/cancel").unwrap(), &one.file, &format!("{}/slots", page.book)] {
        shown.push(desk.guest.get(path).await.expect(200));
    }
    for path in [
        page.path.clone(),
        format!("{}/bookings", page.path),
        format!("/v1/calendars/{}/events", desk.calendar),
        "/v1/audit-log".to_owned(),
    ] {
        shown.push(desk.api.get(path).await.expect(200));
    }
    shown.push(desk.move_to(&one, &slots[1]).await.expect(200));
    shown.push(desk.cancel(&page, &one).await.expect(200));
    let mut texts: Vec<String> = shown.iter().map(Answer::text).collect();
    // The messages about the page, the booking, its move and its end.
    let seen = receiver.wait_for("/all", 3).await;
    texts.extend(seen.iter().map(|received| received.json().to_string()));
    for shown in texts {
        let lower = shown.to_lowercase();
        for part in ["\"lang", "language", "\"locale", "\"ja\"", "accept-lang"] {
            assert!(!lower.contains(part), "{part}: {shown}");
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn texts_of_hosts_and_guests_are_neither_translated_nor_markup(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    // Words that have translations.
    let own = ["Your booking is confirmed", "Monday in March", "Move it"];
    let fields = json!({
        "title": format!("{} {EVIL}", own[0]), "description": format!("{} {EVIL}", own[1]), "host_name": HOST,
        "questions": [{ "id": "topic", "label": format!("{} {EVIL}", own[2]), "type": "text" }]
    });
    let page = desk.page(fields).await;
    let slots = daytime(&desk.slots(&page).await);
    let reader = Reader::of(&desk.server);
    for (number, tag) in TAGS.into_iter().enumerate() {
        let slot = &slots[number];
        let is = |view: View, status: u16, parts: &[&str]| {
            let view = view.with(status).has(parts).harmless();
            assert_eq!(view.language(), language(tag), "{}", view.raw);
            view
        };
        is(reader.get(tag, &page.book).await, 200, &[own[0], own[1], "alert(1)", HOST]);
        let details = reader.get(tag, &format!("{}?slot={slot}", page.book)).await;
        is(details, 200, &[own[0], own[2], "alert(1)"]);
        let guest = format!("Cancel it {EVIL}");
        let given = [("start", slot.as_str()), ("name", &guest), ("notes", EVIL), ("answers[topic]", EVIL)];
        let with = |email: &'static str| [&given[..], &[("email", email)]].concat();
        is(reader.post(tag, &page.book, &with("<b>\"'>")).await, 400, &[own[0], own[2], "Cancel it <script>"]);
        let made = is(reader.post(tag, &page.book, &with(EMAIL)).await, 201, &[own[0], "alert(1)"]);
        is(reader.post(tag, &page.book, &with(EMAIL)).await, 409, &[own[0], "Cancel it <script>"]);
        is(reader.get(tag, &made.link("/cancel")).await, 200, &[own[0], "Cancel it <script>"]);
        let letter = letters(&mut desk, 1).await.remove(0);
        assert_eq!(letter.mail.subject, message(tag, "mail-booked-subject"));
        let body = squeezed(&letter.mail.text);
        assert!(body.contains(&squeezed(own[0])) && body.contains(HOST.replace(' ', "").as_str()), "{body}");
        assert!(!letter.mail.text.contains("Cancel it <"), "no mail to a guest has the guest's words");
    }
    let html = html(&desk.server).to_lowercase();
    assert!(html.contains("alert(1)") && !html.contains("<script") && !html.contains("<img src=x"), "{html}");
}

#[apply(on_both)]
#[tokio::test]
async fn invitations_are_answered_in_the_visitor_s_language_and_mailed_in_english(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let call = host.api.post(host.events()).header("accept-language", "de");
    let start = "2031-03-06T09:05:00Z";
    let body = json!({
        "title": "Review", "start_time": start, "end_time": end(start), "attendees": people(&[ADA]),
        "send_invitations": true
    });
    call.json(body).await.expect(201);
    let mail = host.mails(1).await.remove(0);
    let sent = html(&host.server);
    assert!(
        !sent.is_empty() && sent.matches("<html lang=").count() == sent.matches("<html lang=\"en").count(),
        "{sent}"
    );
    for tag in &TAGS[1..] {
        assert!(!mail.text.contains(&message(tag, "mail-greeting")), "{mail:#?}");
        assert!(!mail.subject.starts_with(&beginning(tag, "invitation-title")), "{mail:#?}");
    }

    let link = host.link(&mail);
    let reader = Reader::of(&host.server);
    for tag in TAGS {
        let asked = reader.get(tag, &link).await.with(200).speaks(tag);
        let asked = asked.says(tag, &["footer-invitation", "accept", "maybe", "decline", "note-to-organizer"]);
        asked.has(&["Review", &date(tag, at(start)), &clock(tag, at(start))]);
        let none = reader.post(tag, &link, &[("note", "")]).await.with(400).speaks(tag);
        none.says(tag, &["choose-a-reply"]);
        for (status, id) in
            [("accepted", "you-accepted"), ("tentative", "you-replied-maybe"), ("declined", "you-declined")]
        {
            let done = reader.post(tag, &link, &[("status", status), ("note", "")]).await.with(200).speaks(tag);
            done.says(tag, &[id, "reply-recorded"]);
        }
        reader.get(tag, &format!("/rsvp/{}", "a".repeat(43))).await.with(404).headed(tag, "no-invitation");
        // What was asked for wins, and the form keeps it.
        let other = if tag == "de" { "fr" } else { "de" };
        let asked = reader.get_in(other, &link, tag).await.with(200).speaks(tag).keeps(host.server.base_url(), tag);
        asked.says(tag, &["accept"]);
        let fields = [("status", "accepted"), ("note", ""), ("lang", tag)];
        reader.post(other, &link, &fields).await.with(200).speaks(tag).says(tag, &["you-accepted"]);
    }
    reader.get("it-IT", &link).await.with(200).speaks("en").says("en", &["accept"]);
    let american = reader.get("en-US", &link).await.with(200).speaks("en");
    american.has(&["Thursday, March 6, 2031", "9:05\u{202f}AM"]);
}

#[apply(on_both)]
#[tokio::test]
async fn hosts_read_english_emails_and_pages_in_their_own_language(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let bob = "bob@listen.example";
    let call = desk.api.post(crate::desk::PAGES).header("accept-language", "de");
    let page = Open::of(&call.json(desk.body(json!({ "notify_emails": [bob, OWN] }))).await);
    let question = letters(&mut desk, 1).await.remove(0);
    assert_eq!(question.mail.subject, "Do you want emails about bookings?");
    assert!(question.html.contains("<html lang=\"en"), "{}", question.html);
    let link = link_in(&desk, &question.mail, "/book/emails/");
    let reader = Reader::of(&desk.server);
    let shown = format!("<strong class=\"address\">{bob}</strong>");
    for tag in TAGS {
        let asked = reader.get(tag, &link).await.with(200).headed(tag, "emails-heading");
        let (question, to) = ("emails-question", [("address", shown.as_str())]);
        asked.says(tag, &["emails-send", "emails-refuse"]).has(&[filled(tag, question, &to)]);
        let other = if tag == "de" { "fr" } else { "de" };
        let asked = reader.get_in(other, &link, tag).await.with(200).headed(tag, "emails-heading");
        asked.keeps(desk.server.base_url(), tag);
        let stray = format!("/book/emails/{}", "a".repeat(43));
        reader.get(tag, &stray).await.with(404).speaks(tag);
    }
    for tag in TAGS {
        for (agrees, id) in [("false", "emails-stopped"), ("true", "emails-sent")] {
            let said = filled(tag, id, &[("address", shown.as_str()), ("title", "Intro")]);
            reader.post(tag, &link, &[("agrees", agrees)]).await.with(200).speaks(tag).has(&[said]);
        }
    }

    let slots = daytime(&desk.slots(&page).await);
    let one = booked(&desk, &page, "ja", &slots[0], json!({})).await;
    let made = letters(&mut desk, 3).await;
    desk.guest.post(&one.cancel).header("accept-language", "ja").await.expect(200);
    let ended = letters(&mut desk, 3).await;
    for (three, what, kind) in [(made, "New booking", "mail-booked"), (ended, "Booking cancelled", "mail-cancelled")] {
        let mails: Vec<Mail> = three.iter().map(|letter| letter.mail.clone()).collect();
        assert_eq!(recipients(&mails), [EMAIL, bob, OWN]);
        three[0].is("ja", kind, &slots[0], ("UTC", 0), &[]);
        for letter in &three[1..] {
            assert_eq!(letter.mail.subject, format!("{what}: {NAME}"), "{:#?}", letter.mail);
            assert!(letter.html.contains("<html lang=\"en"), "{}", letter.html);
            let kana = |letter: char| ('\u{3040}'..='\u{30ff}').contains(&letter);
            assert!(!letter.mail.text.contains(kana) && !letter.html.contains(kana), "{:#?}", letter.mail);
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn markdown_and_json_stay_english(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({ "description": "What we talk about" })).await;
    let slots = daytime(&desk.slots(&page).await);
    let one = desk.book(&page, &slots[0], json!({})).await;
    let ask = async |path: &str, accept: &str, accepted: &str| {
        let call = desk.guest.undescribed().get(path).header("accept", accept).header("accept-language", accepted);
        call.await
    };
    // Only addresses may name a language. An hour may begin between the answers.
    let lines = |answer: &Answer| -> Vec<String> {
        answer.text().lines().filter(|line| !line.contains("/book/")).map(str::to_owned).collect()
    };
    let view = one.cancel.strip_suffix("/cancel").unwrap();
    for (path, accept) in [
        (page.book.as_str(), "text/markdown"),
        (&format!("{}/slots", page.book), "application/json"),
        (view, "application/json"),
    ] {
        let before = ask(path, accept, "en").await.expect(200);
        for tag in TAGS {
            for asked in [path.to_owned(), format!("{path}?lang={tag}")] {
                // Some of these may not take the parameter.
                let answer = ask(&asked, accept, tag).await;
                if answer.status == 400 && asked != path {
                    continue;
                }
                let (kind, expected) = (answer.header("content-type").to_owned(), before.header("content-type"));
                assert_eq!((answer.status, kind.as_str()), (200, expected), "{}", answer.describe());
                if lines(&answer) != lines(&before) {
                    let after = ask(path, accept, "en").await.expect(200);
                    assert_eq!(lines(&answer), lines(&after), "{asked} in {tag}");
                }
            }
        }
    }
    // Errors.
    let wrong = [
        booking(&slots[1], json!({ "email": "ada" })),
        booking(&slots[1], json!({ "name": "" })),
        booking("soon", json!({})),
    ];
    for body in wrong {
        let said = async |tag: &str| {
            let call = desk.guest.post(&page.book).header("accept-language", tag).json(body.clone());
            call.await.refused(400, "validation_error").at("/error/message")
        };
        let english = said("en").await;
        for tag in TAGS {
            assert_eq!(said(tag).await, english, "{tag}");
        }
    }
    let said = async |tag: &str| {
        let taken = book(&desk, &page, tag, &slots[0], json!({})).await.refused(409, "conflict");
        let lost = ask("/book/nobody-s", "application/json", tag).await.refused(404, "not_found");
        [taken, lost].map(|answer| answer.at("/error/message"))
    };
    let english = said("en").await;
    for tag in TAGS {
        assert_eq!(said(tag).await, english, "{tag}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn hostile_languages_change_nothing(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let slots = daytime(&desk.slots(&page).await);
    let reader = Reader::of(&desk.server);
    let six: BTreeSet<&str> = MESSAGES.iter().map(|(name, _)| *name).collect();
    let is_page = |view: View| {
        let view = view.with(200).harmless();
        assert!(six.contains(view.language()), "{}", view.raw);
        view.has(&["<h1>Intro</h1>"])
    };
    // What names none of the six.
    let many = |tag: &str| tag.repeat(10_240 / tag.len()).into_bytes();
    for accepted in [
        many("xx-AA;q=0.5,"),
        many(","),
        many("x"),
        many("it-"),
        b"\xff\xfe".to_vec(),
        b"\xc3\xa4\xc3\xb6".to_vec(),
        b";q=abc".to_vec(),
        b";q=1".to_vec(),
        b"*;q=abc, -, --, ;;;".to_vec(),
        b"<script>alert(1)</script>".to_vec(),
        b"../../etc/passwd".to_vec(),
    ] {
        is_page(reader.get(&accepted, &page.book).await).speaks("en");
    }
    // What names one in a way that is wrong, or names too many.
    for accepted in [
        many("de,"),
        many("de;q=0.5,fr;q=0.6,"),
        b"de\xff\xfe,fr".to_vec(),
        b"de;q=abc".to_vec(),
        b"de;q=abc, fr;q=0.3".to_vec(),
        b"de;q=-1,fr;q=99999999999999999999".to_vec(),
        b"de;q=1;q=2;;;".to_vec(),
        b"de-,-de,de--DE".to_vec(),
        b"de;q=NaN, fr;q=inf".to_vec(),
    ] {
        let seen = is_page(reader.get(&accepted, &page.book).await);
        let tag = seen.language().to_owned();
        seen.speaks(&tag).says(&tag, &["footer-booking"]);
    }
    let (long, longer) = ("x".repeat(5_000), format!("de-{}", "a".repeat(5_000)));
    for lang in [
        EVIL,
        "\"><script>alert(1)</script>",
        &long,
        &longer,
        "de\0",
        "de\r\nSet-Cookie: a=b",
        "../../etc/passwd",
        "{ $title }",
        "' or 1=1 --",
        "\u{202e}ed",
    ] {
        is_page(reader.get_in("fr", &page.book, lang).await).speaks("fr").says("fr", &["footer-booking"]);
        let lost = reader.get_in("fr", "/book/nobody-s", lang).await.with(404).harmless();
        lost.headed("fr", "no-page");
        let refused = reader.post("fr", &page.book, &[("start", &slots[0]), ("lang", lang)]).await;
        refused.with(400).harmless().speaks("fr");
    }
    for query in ["lang=%ff%fe", "lang=%", "lang[]=de", "lang"] {
        is_page(reader.get("fr", &format!("{}?{query}", page.book)).await).speaks("fr");
    }
    is_page(reader.get("fr", &format!("{}?lang=de&lang=es", page.book)).await);

    // A booking is made in spite of them.
    for (number, accepted) in [many("xx-AA;q=0.5,"), b"\xff\xfe".to_vec(), b";q=abc".to_vec()].iter().enumerate() {
        let request = desk.browser.post(format!("{}{}", desk.server.base_url(), page.book));
        let request = request.header("accept-language", HeaderValue::from_bytes(accepted).unwrap());
        let body = booking(&slots[number], json!({})).to_string();
        let answer = request.header("content-type", "application/json").body(body).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 201, "{}", answer.text().await.unwrap());
        letters(&mut desk, 1).await[0].says("en", &message("en", "mail-booked-subject"), &["Intro"]);
    }
}
