//! Emails to guests: stored with the booking, counted by organization and by recipient, and sent by a worker.

use std::sync::Arc;

use kalends_accounts::Email;
use kalends_app::{
    App, ChangeSet, Parts, Refusal, Request,
    operations::{self, Operation},
    ports::{CalendarMethod, Commit as _, Mail},
};
use kalends_bookings::{BookingPage, Change, Guest, NewBookingPage, PageDetails, guest_reminders};
use kalends_notifications::{LetterRecord, LetterStatus, RecordSearch, ports::Letters as _};
use kalends_plans::MailLimits;
use kalends_testkit::{
    Mailbox, MemoryStore,
    fixtures::{Compose as _, Fixtures, settings},
};
use kalends_time::{SignedDuration, Span, Timestamp, Zone};
use serde_json::Map;

use crate::common::{parts, request};

/// A page whose slots are all free, and the mailbox that receives all emails.
struct Desk {
    app: Arc<App>,
    make: Fixtures,
    mailbox: Mailbox,
    page: BookingPage,
    store: MemoryStore,
}

impl Desk {
    async fn new(limits: MailLimits, title: &str) -> Self {
        Self::with(limits, title, PageDetails::default()).await
    }

    async fn with(limits: MailLimits, title: &str, details: PageDetails) -> Self {
        let (store, make, mailbox) = (MemoryStore::new(), Fixtures::new(), Mailbox::default());
        let app = App::new(Parts {
            mailer: Arc::new(mailbox.clone()),
            settings: kalends_app::Settings { mail_limits: limits, ..settings() },
            ..parts(&store, &make)
        });
        let organization = make.organization();
        let calendar = make.shared_calendar(organization.id);
        let new = NewBookingPage {
            slug: None,
            title: title.to_owned(),
            description: None,
            details,
            duration_minutes: 30,
            zone: None,
            constraints: None,
            buffer_minutes: 0,
            window_days: 60,
            min_notice_minutes: 0,
            max_per_day: None,
            seats: 1,
            active: true,
        };
        let page =
            BookingPage::create((organization.id, calendar.id, None), Zone::UTC, new, make.tick(), &make.entropy);
        let mut changes = ChangeSet::new(organization.id).create(&organization).create(&calendar);
        changes.bookings.push(Change::CreatePage(Box::new(page.clone())));
        store.commit(changes).await.unwrap();
        Self { app, make, mailbox, page, store }
    }

    fn request(&self, operation: &'static Operation) -> Request {
        request(&self.make, self.make.tick(), operation)
    }

    /// The start of a slot that is free.
    async fn free(&self) -> Timestamp {
        let open = self.app.open_page(self.page.slug.reveal()).await.unwrap();
        let slots: Vec<Span> = self.app.offered_slots(&open, None).await.unwrap().slots().take(40).collect();
        slots[20].start()
    }

    /// Books a free slot, and returns the tokens that cancel and move it.
    async fn book(&self, email: &str) -> Result<(String, String), Refusal> {
        let guest = Guest::parse("Ada, see evil.example", email, Some("https://evil.example")).unwrap();
        let start = self.free().await;
        let request = self.request(&operations::CREATE_BOOKING);
        let booked = self.app.book(&request, self.page.slug.reveal(), start, (guest, &Map::new())).await?;
        let links = booked.resource.links;
        let token = |url: &str| url.split('/').rev().nth(1).unwrap().to_owned();
        Ok((token(&links.cancel_url), token(&links.reschedule_url.unwrap())))
    }

    async fn cancel(&self, token: &str) -> Result<(), Refusal> {
        let request = self.request(&operations::CANCEL_BOOKING);
        self.app.cancel_booking(&request, self.page.slug.reveal(), token).await.map(drop)
    }

    async fn shift(&self, token: &str) -> Result<(), Refusal> {
        let start = self.free().await;
        let request = self.request(&operations::MOVE_BOOKING);
        self.app.move_booking(&request, self.page.slug.reveal(), token, start).await.map(drop)
    }

    /// Sends all due emails, as the workers do, and returns how many were sent so far.
    async fn sent(&self) -> usize {
        loop {
            let claimed = self.app.claim_letters(50).await.unwrap();
            if claimed.is_empty() {
                break;
            }
            for letter in claimed {
                self.app.send_letter(letter).await;
            }
        }
        self.mailbox.mails().len()
    }

    /// What the organization sees of all its emails, the newest first.
    async fn records<const N: usize>(&self) -> [LetterRecord; N] {
        let search = RecordSearch { status: None, before: None, limit: 99 };
        let records = self.store.letter_records(self.page.org, search).await.unwrap();
        records.try_into().unwrap()
    }

    fn last_to(&self, email: &str) -> Mail {
        self.mailbox.last_to(&Email::parse("email", email).unwrap()).unwrap()
    }
}

fn limits(org: u32, recipient: u32) -> MailLimits {
    MailLimits { org: Some(org), recipient: Some(recipient) }
}

#[tokio::test]
async fn reminders_use_no_allowance_of_the_organization_and_are_not_sent_after_the_start() {
    let details = PageDetails { guest_reminders: guest_reminders(&[60, 30, 10]).unwrap(), ..PageDetails::default() };
    let desk = Desk::with(limits(1, 10), "Intro", details).await;
    let start = desk.free().await;
    desk.book("ada@example.com").await.unwrap();
    assert_eq!(desk.sent().await, 1);
    let confirmed = desk.last_to("ada@example.com");

    desk.make.clock.set(start - SignedDuration::minutes(60));
    assert_eq!(desk.app.announce_due(10).await.unwrap().late, [SignedDuration::ZERO]);
    assert_eq!(desk.app.announce_due(10).await.unwrap().late, []);
    assert_eq!(desk.sent().await, 2);
    let reminder = desk.last_to("ada@example.com");
    assert_eq!(reminder.subject, "Reminder: Intro");
    assert!(reminder.calendar.is_none());
    let links = |mail: &Mail| -> Vec<String> {
        mail.text.lines().filter(|line| line.starts_with("http")).map(str::to_owned).collect()
    };
    assert_eq!(links(&reminder).len(), 2);
    assert_eq!(links(&reminder), links(&confirmed), "the links still work");

    // The two that are late together are one email. It waited until the booking began. The event has a reminder, too.
    desk.make.clock.set(start - SignedDuration::minutes(5));
    assert_eq!(desk.app.announce_due(10).await.unwrap().late.len(), 3);
    desk.make.clock.set(start);
    assert_eq!(desk.sent().await, 2);
    assert!(desk.app.claim_letters(10).await.unwrap().is_empty(), "it was removed");
}

#[tokio::test]
async fn a_reminder_of_a_booking_that_has_begun_is_not_written() {
    let details = PageDetails { guest_reminders: guest_reminders(&[10]).unwrap(), ..PageDetails::default() };
    let desk = Desk::with(limits(10, 10), "Intro", details).await;
    let start = desk.free().await;
    desk.book("ada@example.com").await.unwrap();
    assert_eq!(desk.sent().await, 1);
    desk.make.clock.set(start);
    assert_eq!(desk.app.announce_due(10).await.unwrap().found, 1);
    assert!(desk.app.claim_letters(10).await.unwrap().is_empty());
}

#[tokio::test]
async fn every_step_of_a_booking_sends_an_email() {
    let desk = Desk::new(MailLimits::default(), "Intro").await;
    let (cancel, shift) = desk.book("ada@example.com").await.unwrap();
    assert_eq!(desk.mailbox.mails().len(), 0, "a worker sends it");
    assert_eq!(desk.sent().await, 1);
    desk.shift(&shift).await.unwrap();
    assert_eq!(desk.sent().await, 2);
    desk.cancel(&cancel).await.unwrap();
    desk.cancel(&cancel).await.unwrap();
    assert_eq!(desk.sent().await, 3, "a second cancellation sends no email");
    let subjects: Vec<_> = desk.mailbox.mails().into_iter().map(|mail| mail.subject).collect();
    assert_eq!(subjects, ["Your booking is confirmed", "Your booking was moved", "Your booking is cancelled"]);
    assert_eq!(desk.mailbox.mails()[2].calendar.as_ref().unwrap().method, CalendarMethod::Cancel);
}

#[tokio::test]
async fn mail_of_an_organization_is_limited_and_a_refused_write_changes_nothing() {
    let desk = Desk::new(limits(3, 100), "Intro").await;
    let (cancel, shift) = desk.book("ada@example.com").await.unwrap();
    desk.book("bob@example.com").await.unwrap();
    desk.book("cy@example.com").await.unwrap();
    let free = desk.free().await;
    let refused = [
        desk.book("dan@example.com").await.map(drop).unwrap_err(),
        desk.shift(&shift).await.unwrap_err(),
        desk.cancel(&cancel).await.unwrap_err(),
    ];
    for refusal in refused {
        let Refusal::TooMany { retry_after, limited } = refusal else { panic!("{refusal}") };
        assert_eq!(limited.to_string(), "3 emails an hour are allowed to others from one organization");
        assert!((1..=3_600).contains(&retry_after), "{retry_after}");
    }
    assert_eq!(desk.free().await, free, "nothing was booked, moved or cancelled");
    assert_eq!(desk.sent().await, 3);
    desk.make.clock.advance(SignedDuration::hours(1));
    desk.cancel(&cancel).await.unwrap();
    assert_eq!(desk.sent().await, 4);
}

#[tokio::test]
async fn the_newest_email_above_the_limit_of_a_recipient_waits() {
    let desk = Desk::new(limits(200, 2), "Intro").await;
    let (_, first) = desk.book("ada@example.com").await.unwrap();
    desk.shift(&first).await.unwrap();
    assert_eq!(desk.sent().await, 2);
    // Above the limit: one email about each of the two bookings waits.
    desk.shift(&first).await.unwrap();
    assert_eq!(desk.sent().await, 2);
    desk.shift(&first).await.unwrap();
    let (cancel, _) = desk.book("Ada@Example.com").await.unwrap();
    desk.cancel(&cancel).await.unwrap();
    desk.book("bob@example.com").await.unwrap();
    assert_eq!(desk.sent().await, 3, "the email to another recipient is sent");
    assert_eq!(desk.last_to("bob@example.com").subject, "Your booking is confirmed");
    desk.make.clock.advance(SignedDuration::hours(1));
    assert_eq!(desk.sent().await, 5);
    let ada = Email::parse("email", "ada@example.com").unwrap();
    let mut last: Vec<_> = desk.mailbox.mails_to(&ada).into_iter().skip(2).map(|mail| mail.subject).collect();
    last.sort();
    assert_eq!(last, ["Your booking is cancelled", "Your booking was moved"]);
    desk.make.clock.advance(SignedDuration::hours(30));
    assert_eq!(desk.sent().await, 5, "nothing is left");
}

#[tokio::test]
async fn an_email_that_is_not_accepted_is_sent_later() {
    let desk = Desk::new(MailLimits::default(), "Intro").await;
    desk.mailbox.refuse(true);
    desk.book("ada@example.com").await.unwrap();
    assert_eq!(desk.sent().await, 0);
    desk.mailbox.refuse(false);
    assert_eq!(desk.sent().await, 0, "not at once");
    desk.make.clock.advance(SignedDuration::minutes(1));
    assert_eq!(desk.sent().await, 1);
}

#[tokio::test]
async fn an_email_is_sent_again_for_three_days_but_not_if_there_is_no_mailbox() {
    let desk = Desk::new(MailLimits::default(), "Intro").await;
    desk.mailbox.refuse(true);
    desk.book("ada@example.com").await.unwrap();
    for _ in 0..70 {
        desk.make.clock.advance(SignedDuration::hours(1));
        assert_eq!(desk.sent().await, 0);
    }
    desk.mailbox.refuse(false);
    desk.book("ada@gone.example").await.unwrap();
    desk.make.clock.advance(SignedDuration::hours(1));
    assert_eq!(desk.sent().await, 1);
    assert_eq!(desk.last_to("ada@example.com").subject, "Your booking is confirmed");
    desk.make.clock.advance(SignedDuration::hours(1));
    assert!(desk.app.claim_letters(50).await.unwrap().is_empty(), "the other one is dropped");
}

#[tokio::test]
async fn a_waiting_email_is_not_sent_after_a_newer_one() {
    let desk = Desk::new(MailLimits::default(), "Intro").await;
    desk.mailbox.refuse(true);
    let (cancel, _) = desk.book("ada@example.com").await.unwrap();
    assert_eq!(desk.sent().await, 0);
    desk.mailbox.refuse(false);
    desk.make.clock.advance(SignedDuration::seconds(30));
    desk.cancel(&cancel).await.unwrap();
    assert_eq!(desk.sent().await, 1);
    desk.make.clock.advance(SignedDuration::hours(2));
    assert_eq!(desk.sent().await, 1, "the outdated confirmation is not sent");
    assert_eq!(desk.last_to("ada@example.com").subject, "Your booking is cancelled");
}

#[tokio::test]
async fn a_failed_attempt_does_not_count_for_the_recipient() {
    let desk = Desk::new(limits(200, 5), "Intro").await;
    desk.mailbox.refuse(true);
    desk.book("ada@example.com").await.unwrap();
    for minutes in [0, 1, 2, 4, 8] {
        desk.make.clock.advance(SignedDuration::minutes(minutes));
        assert_eq!(desk.sent().await, 0);
    }
    desk.mailbox.refuse(false);
    desk.make.clock.advance(SignedDuration::minutes(16));
    assert_eq!(desk.sent().await, 1, "the sixth attempt is made");
    for _ in 0..5 {
        desk.book("ada@example.com").await.unwrap();
    }
    assert_eq!(desk.sent().await, 5, "only sent emails count");
}

#[tokio::test]
async fn records_show_what_became_of_each_email() {
    let desk = Desk::new(limits(200, 1), "Intro").await;
    desk.mailbox.refuse(true);
    let (cancel, _) = desk.book("ada@example.com").await.unwrap();
    desk.book("bob@gone.example").await.unwrap();
    desk.sent().await;
    let [bob, ada] = desk.records().await;
    for record in [&ada, &bob] {
        assert_eq!((record.status, record.attempts, record.ended_at), (LetterStatus::Pending, 1, None));
        assert_eq!(replied(record), (Some(451), "4.7.1 try again later"));
        let tried = record.envelope.reply.as_ref().unwrap().at;
        assert_eq!(record.next_attempt_at, Some(tried + SignedDuration::minutes(1)));
    }
    assert_eq!(
        (ada.envelope.to.as_str(), ada.envelope.subject.as_str()),
        ("ada@example.com", "Your booking is confirmed")
    );

    desk.mailbox.refuse(false);
    desk.make.clock.advance(SignedDuration::minutes(1));
    desk.sent().await;
    let [bob, ada] = desk.records().await;
    assert_eq!((bob.status, bob.attempts, bob.next_attempt_at), (LetterStatus::Refused, 2, None));
    assert_eq!(replied(&bob), (Some(550), "5.1.1 no mailbox bob@gone.example"));
    assert_eq!((ada.status, ada.attempts, replied(&ada)), (LetterStatus::Sent, 2, (Some(250), "2.0.0 queued")));
    assert_eq!(ada.ended_at, Some(ada.envelope.reply.as_ref().unwrap().at));

    // Above the recipient's limit there is no attempt. A newer email takes the place of one that waits.
    desk.book("ada@example.com").await.unwrap();
    desk.cancel(&cancel).await.unwrap();
    desk.sent().await;
    let [cancelled, again, ..] = desk.records::<4>().await;
    for record in [&again, &cancelled] {
        assert_eq!((record.status, record.attempts, &record.envelope.reply), (LetterStatus::Pending, 0, &None));
    }
    desk.make.clock.advance(SignedDuration::days(3));
    desk.sent().await;
    let [cancelled, again, ..] = desk.records::<4>().await;
    assert_eq!((cancelled.status, again.status), (LetterStatus::Expired, LetterStatus::Expired));

    desk.make.clock.advance(SignedDuration::days(27));
    assert!(!desk.app.forget_mail(2).await.unwrap(), "more may be old");
    desk.make.clock.advance(SignedDuration::hours(1));
    assert!(!desk.app.forget_mail(2).await.unwrap());
    assert!(desk.app.forget_mail(2).await.unwrap());
    desk.records::<0>().await;
}

/// The code and the text of the last reply.
fn replied(record: &LetterRecord) -> (Option<u16>, &str) {
    let reply = record.envelope.reply.as_ref().unwrap();
    (reply.code, reply.text.as_str())
}

#[tokio::test]
async fn mail_limits_can_be_switched_off() {
    let desk = Desk::new(MailLimits::OFF, "Intro").await;
    for _ in 0..12 {
        desk.book("ada@example.com").await.unwrap();
    }
    assert_eq!(desk.sent().await, 12);
}

#[tokio::test]
async fn the_title_of_a_page_is_not_a_link_in_an_email() {
    let desk = Desk::new(MailLimits::default(), "Pay at https://evil.example or ada@evil.example").await;
    desk.book("ada@example.com").await.unwrap();
    desk.sent().await;
    let mail = desk.last_to("ada@example.com");
    let calendar = mail.calendar.unwrap().text.replace("\r\n ", "");
    for text in [&mail.subject, &mail.text, &mail.html, &calendar] {
        assert!(
            !text.contains("evil.example") && !text.contains("https://evil") && !text.contains("ada@evil"),
            "{text}"
        );
    }
    assert!(mail.text.contains("evil\u{200b}.\u{200b}example") && mail.html.contains("evil\u{200b}.\u{200b}example"));
    assert!(mail.html.contains("href=\"http://localhost/book/"), "our own links stay");
}
