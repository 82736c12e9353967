//! What holds for every email, in every language.

use std::{collections::BTreeSet, fs, path::Path};

use kalends_accounts::{Code, MemberInvitation, Membership, Role, User, UserName};
use kalends_bookings::{Guest, Question, QuestionType, Questions};
use kalends_kernel::{Language, Locale, OrgId, UserId};
use kalends_notifications::Deactivation;
use kalends_wire::BookingLinks;

use super::*;

struct Sevens;
impl kalends_kernel::Entropy for Sevens {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

/// Every email, with `text` for every text from outside. Those to guests are in the language of `words`.
fn all(text: &str, words: &Translator) -> [(&'static str, Mail); 37] {
    let name = text;
    let gathering = |repeats| Gathering {
        title: Foreign::new(name),
        organizer: Foreign::new(name),
        when: When("Monday, 2026-03-02, 10:00 to 10:30 (UTC)".to_owned()),
        repeats,
        location: Some(Foreign::new(name)),
        call: None,
        description: vec![Foreign::new(name), Foreign::new(name)],
    };
    let (once, weekly) = (&gathering(false), &gathering(true));
    let reply = "https://calendar.example.com/rsvp/token";
    let name = &Foreign::new(name);
    let host = &Foreign::new("example.com");
    let appointment = Appointment {
        words,
        title: name.clone(),
        host: Some(name.clone()),
        when: When("Monday, 2026-03-02, 10:00 to 10:30 (UTC)".to_owned()),
        location: Some(name.clone()),
        call: None,
    };
    let question = Question {
        id: "topic".to_owned(),
        label: text.lines().next().unwrap_or_default().to_owned(),
        kind: QuestionType::Textarea,
        required: false,
        options: Vec::new(),
    };
    let questions = [question];
    let given = serde_json::json!({ "topic": text });
    let asked = Questions::new(questions.to_vec()).unwrap();
    let guest = Guest {
        name: text.to_owned(),
        notes: Some(text.to_owned()),
        answers: asked.read(given.as_object().unwrap()).unwrap(),
        ..Guest::parse("Ada", "ada@example.com", None).unwrap()
    };
    let visit = Visit {
        title: name,
        guest: &guest,
        when: When("Monday, 2026-03-02, 10:00 to 10:30 (UTC)".to_owned()),
        location: Some(name.clone()),
        call: None,
        questions: &questions,
    };
    let stop = "https://calendar.example.com/book/emails/token";
    let reset = MailedToken::generate(&Sevens);
    let to = Email::parse("email", "ada@example.com").unwrap();
    let code = Code::parse("483920").unwrap();
    let token = MailedToken::generate(&Sevens);
    let links = BookingLinks {
        cancel_url: "https://calendar.example.com/book/slug/bookings/one/cancel".to_owned(),
        ics_url: "https://calendar.example.com/book/slug/bookings/one/event.ics".to_owned(),
        reschedule_url: Some("https://calendar.example.com/book/slug/bookings/two/move".to_owned()),
    };
    let by = Membership::owner(UserId::from_bytes([1; 16]), OrgId::from_bytes([2; 16]), Timestamp::from_micros(0));
    let (invitation, secret) =
        MemberInvitation::issue(&by, to.clone(), Role::Member, Timestamp::from_micros(0), &Sevens);
    let page = format!("https://console.example.com/invitations#{}", secret.reveal());
    let verify = format!("https://console.example.com/verify#{}", secret.reveal());
    let user_name = UserName::from_stored(text.to_owned());
    let user = User::create(UserId::from_bytes([1; 16]), to.clone(), user_name, None, Timestamp::from_micros(0));
    let asked = Asked {
        agent: name,
        organization: name,
        summary: name,
        until: Timestamp::from_micros(1_800_000_000_000_000),
        page: "https://console.example.com/approvals/apr_1",
    };
    let places = Revocation {
        page: format!("https://console.example.com/claims/clm_1/revoke#{}", token.reveal()),
        route: "https://calendar.example.com/v1/auth/claim/clm_1/revoke".to_owned(),
        token: &token,
    };
    [
        ("verification-code", verification_code(&to, name, &code)),
        ("already-known", already_known(&to, name)),
        ("joined-waitlist", joined_waitlist(&to)),
        ("activated", activated(&to, name, "https://console.example.com")),
        ("provider-took-over", provider_took_over(&to, name, "https://console.example.com")),
        ("provider-added", provider_added(&to, name, "https://console.example.com")),
        ("webhook-gone", webhook_deactivated(&to, name, (WebhookId::from_bytes([7; 16]), host), Deactivation::Gone)),
        (
            "webhook-failing",
            webhook_deactivated(&to, name, (WebhookId::from_bytes([7; 16]), host), Deactivation::Failing),
        ),
        ("booked", booked(&to, &appointment, &links)),
        ("booking-moved", booking_moved(&to, &appointment, &links)),
        ("booking-reminder", booking_reminder(&to, &appointment, &links)),
        ("booking-cancelled", booking_cancelled(&to, &appointment)),
        (
            "booking-called-off",
            called_off(&to, &appointment, Some(text), Some("https://calendar.example.com/book/slug".to_owned())),
        ),
        ("host-booked", for_host(&to, &visit, HostLetter::Booked, stop)),
        ("host-moved", for_host(&to, &visit, HostLetter::Moved, stop)),
        ("host-cancelled", for_host(&to, &visit, HostLetter::Cancelled, stop)),
        ("host-called-off", for_host(&to, &visit, HostLetter::CalledOff, stop)),
        ("host-asked", asks_for_consent(&to, name, name, stop)),
        ("replies-asked", asks_for_replies(&to, name, "https://calendar.example.com/replies/token")),
        ("invited", invited(&to, once, false, reply)),
        ("invitation-changed", invited(&to, weekly, true, reply)),
        ("uninvited", uninvited(&to, once, true)),
        ("event-cancelled", uninvited(&to, weekly, false)),
        ("password-reset", password_reset(&to, &reset, "https://console.example.com")),
        ("password-was-reset", password_was_reset(&to, false)),
        ("password-was-reset-first", password_was_reset(&to, true)),
        ("second-factor-on", second_factor_on(&to, "https://console.example.com")),
        ("second-factor-off", second_factor_off(&to, "https://console.example.com")),
        ("recovery-code-used", recovery_code_used(&to, 9, "https://console.example.com")),
        ("recovery-codes-renewed", recovery_codes_renewed(&to, "https://console.example.com")),
        ("wrong-codes-used-up", wrong_codes_used_up(&to, "https://console.example.com")),
        ("proof", asks_for_proof(&user, name, verify, Timestamp::from_micros(1_800_000_000_000_000))),
        ("approval-asked", asks_for_approval(&to, &asked)),
        ("claim-code", claim_code(&to, name, &code)),
        ("member-invitation", invites_member(&invitation, name, name, page)),
        ("test", test_mail(&to, "https://calendar.example.com")),
        ("claim-held", claim_held(&to, name, Timestamp::from_micros(1_800_000_000_000_000), &places)),
    ]
}

/// Every language with its translator.
fn languages() -> impl Iterator<Item = (&'static str, Translator)> {
    Language::ALL.into_iter().map(|language| (language.code(), Translator::new(Locale::of(language))))
}

fn in_every_language(text: &str) -> Vec<(&'static str, Mail)> {
    languages().flat_map(|(_, words)| all(text, &words)).collect()
}

/// Writes every email to `target/tmp/letters`, where it can be reviewed.
#[test]
fn every_letter_can_be_previewed() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tmp/letters");
    fs::create_dir_all(&directory).unwrap();
    for (language, words) in languages() {
        for (name, mail) in all("Ada's scheduler", &words) {
            for (form, content) in [("txt", &mail.text), ("html", &mail.html)] {
                let file = directory.join(format!("{name}.{language}.{form}"));
                fs::write(&file, content).unwrap();
                assert_eq!(&fs::read_to_string(file).unwrap(), content);
                assert!(!content.contains("{{") && !content.contains("}}"), "{name}.{form}");
            }
            let of = if mail.html.contains("<html lang=\"en\">") { Translator::english() } else { &words };
            let greeting = of.say("mail-greeting");
            assert!(mail.text.starts_with(&format!("{greeting}\n\n")) && mail.html.contains("</html>"), "{name}");
            assert!(mail.html.contains(&escaped(&mail.subject)), "{name}");
        }
    }
}

#[test]
fn plain_text_and_html_say_the_same() {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
    for (name, mail) in in_every_language("Ada") {
        let mut plain = String::new();
        let mut inside = false;
        let body = &mail.html[mail.html.find("<body").unwrap()..];
        for letter in body.chars() {
            match letter {
                '<' => inside = true,
                '>' => {
                    inside = false;
                    plain.push(' ');
                }
                letter if !inside => plain.push(letter),
                _ => {}
            }
        }
        let plain = plain.replace("&quot;", "\"").replace("&#39;", "'").replace("&gt;", ">").replace("&amp;", "&");
        assert_eq!(words(&plain), words(&mail.text.replace("-- \n", "")), "{name}");
    }
}

/// Tries every form of an address in every email: our own links stay links, and nothing else becomes one.
#[test]
fn third_party_text_is_never_a_link() {
    let ours = ["https://calendar.example.com", "https://console.example.com"];
    for address in [
        "https://evil.test/x",
        "HTTP://EVIL.TEST",
        "www.evil.test",
        "evil.test",
        "ada@evil.test",
        "mailto:ada@evil.test",
        "//evil.test",
        "198.51.100.7",
    ] {
        for (letter, mail) in in_every_language(address) {
            for (form, text) in [("subject", &mail.subject), ("text", &mail.text), ("html", &mail.html)] {
                assert!(!text.contains(address), "{letter}, {form}: {address}");
                assert!(!text.to_lowercase().contains("evil.test"), "{letter}, {form}: {address}");
            }
            let links = mail.html.split("href=\"").skip(1);
            for link in links.filter_map(|rest| rest.split('"').next()) {
                assert!(ours.iter().any(|own| link.starts_with(own)), "{letter}: {link}");
            }
        }
    }
}

/// The end-to-end test `given_addresses` opens one address of each of these kinds.
#[test]
fn every_address_is_of_a_known_kind() {
    let known = [
        "calendar.example.com",
        "calendar.example.com/book/emails/token",
        "calendar.example.com/book/slug",
        "calendar.example.com/book/slug/bookings/one/cancel",
        "calendar.example.com/book/slug/bookings/two/move",
        "calendar.example.com/replies/token",
        "calendar.example.com/rsvp/token",
        "calendar.example.com/v1/auth/claim/clm_1/revoke",
        "console.example.com",
        "console.example.com/approvals/apr_1",
        "console.example.com/claims/clm_1/revoke",
        "console.example.com/forgot",
        "console.example.com/invitations",
        "console.example.com/reset",
        "console.example.com/security",
        "console.example.com/verify",
    ];
    let mut found = BTreeSet::new();
    for (_, mail) in in_every_language("Ada") {
        let after = mail.text.split("https://").skip(1);
        let addresses = after.map(|rest| rest.split(|letter: char| letter.is_whitespace() || "#>)".contains(letter)));
        found.extend(
            addresses.filter_map(|mut parts| parts.next()).map(|address| address.trim_end_matches('.').to_owned()),
        );
    }
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), known);
}

#[test]
fn third_party_names_are_escaped() {
    let name = "<a href=\"https://evil.example\">x</a>\r\n\r\nYour code is 000000 & {{body}}";
    for (letter, mail) in in_every_language(name) {
        assert!(!mail.html.contains("<a href=\"https://evil"), "{letter}");
        assert!(!mail.text.contains("\nYour code"), "{letter}");
        assert!(!mail.subject.contains("evil.example") && !mail.subject.contains('\n'), "{letter}");
        assert_eq!(mail.html.matches("<html").count(), 1, "{letter}");
    }
}

#[test]
fn times_are_shown_by_the_clocks_of_the_zone() {
    for (start, end, all_day, shown) in [
        ("2026-03-02T09:00:00Z", "2026-03-02T09:30:00Z", false, "Monday, 2 March 2026, 10:00 to 10:30 (Europe/Berlin)"),
        (
            "2026-03-02T22:00:00Z",
            "2026-03-03T01:00:00Z",
            false,
            "Monday, 2 March 2026, 23:00 to Tuesday, 3 March 2026, 02:00 (Europe/Berlin)",
        ),
        ("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", true, "Sunday, 29 March 2026, all day"),
        (
            "2026-03-28T23:00:00Z",
            "2026-03-30T22:00:00Z",
            true,
            "Sunday, 29 March 2026 to Monday, 30 March 2026, all day",
        ),
    ] {
        let span = kalends_time::Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap();
        assert_eq!(When::of(Times { span, all_day }, "Europe/Berlin".parse().unwrap(), Translator::english()).0, shown);
    }
}
