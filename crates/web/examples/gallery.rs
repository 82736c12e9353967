//! Renders every state of the booking page, for inspection and checks.
//!
//! With an argument, it writes files into that folder. Each page refers to files next to it, so it can be opened
//! without a server. Without an argument, it prints JSON: the `headers` of pages, and each file's text by path.

use std::error::Error;
use std::path::PathBuf;

use kalends_bookings::{Colour, Question, QuestionType};
use kalends_kernel::{FieldError, FieldErrors, Language, Locale};
use kalends_time::{CivilDateTime, CivilTime, SignedDuration, Span, Timestamp, Zone};
use kalends_web::markdown::Guide;
use kalends_web::{
    Booked, Booking, BookingEmails, BookingState, DisplaySettings, EmailsState, Form, Given, Href, Invitation,
    InvitationState, Limits, Moving, Notice, Page, PageQuery, Path, Picker, Reader, Replies, RepliesState, Reply,
    ReplyProblem, Taken, assets, headers,
};

/// A name that is longer than most.
const LONG_NAME: &str = "Institut für außergewöhnlich lange Bezeichnungen";
const LONG_EMAIL: &str = "donaudampfschifffahrtsgesellschaftskapitaen@besprechungszimmer.hauptgebaeude.example.com";
const LIMITS: Limits = Limits { name: 200, email: 320, notes: 2_000 };
const GIVEN: Given<'_> = Given {
    name: "Grace Hopper",
    email: "grace@example.org",
    notes: "We met in Lisbon; it is about the compiler.",
    answers: &[],
};

/// The colors of the pages whose names begin so.
const COLORS: [(&str, Colour); 3] =
    [("yellow-", Colour([0xff, 0xd4, 0x00])), ("white-", Colour([0xff; 3])), ("violet-", Colour([0x5b, 0x2a, 0x86]))];

/// A question of each type.
fn questions() -> Vec<Question> {
    let question = |kind, label: &str, required, options: &[&str]| Question {
        id: format!("{kind:?}").to_lowercase(),
        label: label.to_owned(),
        kind,
        required,
        options: options.iter().map(|option| (*option).to_owned()).collect(),
    };
    vec![
        question(QuestionType::Text, "Which company are you from?", false, &[]),
        question(QuestionType::Select, "Whom do you want to meet?", true, &["Sales", "Support", "The founders"]),
        question(
            QuestionType::Textarea,
            "What would make this conversation a success for you and your team?",
            true,
            &[],
        ),
        question(QuestionType::Phone, "A phone number, in case the call fails", false, &[]),
        question(
            QuestionType::Checkbox,
            "I agree that the conversation is recorded and kept for thirty days",
            true,
            &[],
        ),
    ]
}

fn main() -> Result<(), Box<dyn Error>> {
    let pages = pages()?;
    // A page with a color of its own has a policy of its own, which allows its style.
    let policies = pages.iter().filter_map(|(name, _)| {
        let (_, color) = COLORS.iter().find(|(start, _)| name.starts_with(start))?;
        Some((format!("/{name}"), headers::policy_of(Some(*color), &[])?.into()))
    });
    let policies: serde_json::Map<String, serde_json::Value> = policies.collect();
    let Some(folder) = std::env::args().nth(1).map(PathBuf::from) else {
        let files = pages.into_iter().map(|(name, text)| (format!("/{name}"), text.into()));
        let assets = assets::ALL.iter().map(|asset| (asset.path(), asset.text.into()));
        let files: serde_json::Map<String, serde_json::Value> = files.chain(assets).collect();
        let headers: serde_json::Map<String, serde_json::Value> = headers::SAFE
            .iter()
            .chain(&headers::PAGE)
            .map(|(name, value)| ((*name).to_owned(), (*value).into()))
            .collect();
        println!("{}", serde_json::json!({ "headers": headers, "policies": policies, "files": files }));
        return Ok(());
    };
    std::fs::create_dir_all(&folder)?;
    for (name, page) in pages {
        // The folder is flat, and no server knows the prefix.
        std::fs::write(folder.join(name), page.replace(assets::PREFIX, ""))?;
    }
    for asset in assets::ALL.iter() {
        std::fs::write(folder.join(&asset.name), asset.text)?;
    }
    Ok(())
}

fn at(text: &str) -> Result<Timestamp, kalends_time::ParseTimestampError> {
    text.parse()
}

/// Half-hour slots from nine to five on working days for five weeks, without some that are taken.
fn offers(zone: Zone, from: Timestamp) -> Vec<Span> {
    let mut offers = Vec::new();
    let first = zone.to_civil(from).date;
    for day in 0..35 {
        let date = first.plus_days(day);
        if date.weekday() > 4 || day % 9 == 5 {
            continue;
        }
        for half_hour in (18..34).filter(|half_hour| (half_hour * 7 + day * 5) % 11 > 4) {
            let time = CivilTime::from_micros(half_hour * 1_800_000_000).unwrap_or(CivilTime::MIDNIGHT);
            let start = zone.to_timestamp(CivilDateTime { date, time });
            offers.extend(start.and_then(|start| Span::new(start, start + SignedDuration::minutes(30)).ok()));
        }
    }
    offers
}

fn pages() -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let reader = &Reader::english();
    let american = &Reader::new(Some("en-US".parse()?), None);
    let zone: Zone = "Europe/Berlin".parse()?;
    let shown = DisplaySettings { zone, reader };
    let (path, manage) =
        (Path::new("/book/kq7dm2x9").ok_or("no path")?, Path::new("/book/bookings/9fj2").ok_or("no path")?);
    let move_path = Path::new("/book/bookings/9fj2/move").ok_or("no path")?;
    let page = Page {
        path: &path,
        title: "Introduction call",
        description: Some(
            "Half an hour to get to know each other and to find out whether we can help.\n\nWe meet by video; the link comes with the confirmation.",
        ),
        host: Some("Ada Lovelace"),
        duration_minutes: 30,
        zone,
        location: None,
        has_call: true,
        accent: None,
        embedded: false,
        questions: &[],
        preview: None,
    };
    let now = at("2026-03-03T10:12:00Z")?;
    let bookable = Span::new(now, now + SignedDuration::days(60))?;
    let offers = offers(zone, at("2026-03-04T00:00:00Z")?);
    let picker = Picker {
        page,
        shown,
        now,
        bookable,
        month: PageQuery::default().month_to_show(zone, bookable, offers.first().copied()),
        day: Some("2026-03-10".parse()?),
        offers: &offers,
        first_offer: offers.first().copied(),
        moving: None,
    };
    let new_york = DisplaySettings { zone: "America/New_York".parse()?, reader: american };
    let slot = Span::new(at("2026-03-10T09:30:00Z")?, at("2026-03-10T10:00:00Z")?)?;
    let before = Span::new(at("2026-03-05T13:00:00Z")?, at("2026-03-05T13:30:00Z")?)?;
    let none = FieldErrors::default();
    let mut wrong = FieldErrors::default();
    wrong.push(FieldError::new("name", "must have 1 to 200 characters, got none"));
    wrong.push(FieldError::new("email", "must be an address such as ada@example.com, got \"grace@\""));
    let form = Form { page, shown, slot, given: Given::default(), once: "once", errors: &none, limits: LIMITS };
    let nearest: Vec<Span> = offers.iter().copied().filter(|offer| offer.start() > slot.start()).take(3).collect();
    let taken = Taken { page, shown, slot, nearest: &nearest, given: Some(GIVEN), once: "once", moves: false };
    let (cancel, reschedule) = (Href::from(manage.clone()), Href::from(move_path.clone()));
    let meeting = Href::new("https://meet.example.com/intro").ok_or("no address")?;
    let file = Href::new("/book/bookings/9fj2/booking.ics").ok_or("no address")?;
    let booked = Booked {
        page,
        shown,
        slot,
        before: None,
        mailed_to: Some(GIVEN.email),
        cancel: Some(&cancel),
        reschedule: Some(&reschedule),
        file: Some(&file),
        location: None,
        call: Some(&meeting),
    };

    let booking = Booking {
        page,
        shown,
        slot: Some(slot),
        location: Some("Room 2, St James's Square"),
        call: Some(&meeting),
        name: GIVEN.name,
        state: BookingState::Upcoming,
        cancel: &manage,
        reschedule: Some(&reschedule),
        again: Some(&path),
    };
    let questions = questions();
    let asking = Page { questions: &questions, location: Some("Room 2, St James's Square"), ..page };
    let mut unanswered = FieldErrors::default();
    unanswered.push(FieldError::new("answers.select", "is required"));
    unanswered.push(FieldError::new("answers.phone", "must be a phone number, such as +49 30 123456"));
    unanswered.push(FieldError::new("answers.checkbox", "is required"));
    let answered = [("phone".to_owned(), "call me".to_owned()), ("text".to_owned(), "Analytical Engines".to_owned())];
    let partly = Given { answers: &answered, ..GIVEN };
    let [yellow, white, violet] = COLORS.map(|(_, color)| Page { accent: Some(color), ..page });
    let place = "Room 2, St James's Square";
    let moved_page = Page { path: &move_path, ..page };
    let long = Page {
        title: "Donaudampfschifffahrtsgesellschaftskapitänsprechstunde <b>with</b> “quotes” & more",
        host: Some(LONG_NAME),
        duration_minutes: 90,
        ..page
    };
    let address = Href::new("https://cal.example/book/kq7dm2x9").ok_or("no address")?;
    let guide = Guide { page, shown, address: &address, bookable, offers: &nearest, limits: LIMITS };
    let empty_month = Picker { month: "2026-04".parse().map_err(|_| "no month")?, day: None, ..picker.clone() };
    let empty_month_offers: Vec<Span> = offers.iter().copied().filter(|one| one.start() < slot.start()).collect();
    let reply_path = Path::new("/rsvp/9fj2").ok_or("no path")?;
    let call = Href::new("https://meet.example.com/standup").ok_or("no address")?;
    let replies_path = Path::new("/replies/9fj2").ok_or("no path")?;
    let replies = Replies {
        path: &replies_path,
        organization: "Example & Co",
        email: "team@example.com",
        state: RepliesState::Asked,
        reader,
    };
    let emails_path = Path::new("/book/emails/9fj2").ok_or("no path")?;
    let emails = BookingEmails {
        path: &emails_path,
        title: page.title,
        organization: "Analytical Engines",
        email: "grace@example.com",
        state: EmailsState::Asked,
        recorded: false,
        reader,
    };
    let invitation = Invitation {
        path: &reply_path,
        title: "Engine review",
        organizer: "Ada Lovelace",
        shown,
        slot,
        all_day: false,
        repeats: true,
        location: Some("Room 2, St James's Square"),
        call: Some(&call),
        description: Some("The drawings of the mill and of the store.\n\nPlease bring your notes."),
        email: GIVEN.email,
        state: InvitationState::Open(None),
        note: "",
        problem: None,
        note_max: 500,
    };
    let long_invitation = Invitation {
        title: long.title,
        organizer: "Institut für außergewöhnlich lange Bezeichnungen",
        location: Some("Donaudampfschifffahrtsgesellschaftshauptgebäude, Erdgeschoss, Besprechungszimmer 17"),
        ..invitation.clone()
    };
    let mut pages: Vec<(String, String)> = Vec::new();
    for language in Language::ALL.into_iter().filter(|language| *language != Language::English) {
        let reader = &Reader::new(Some(Locale::of(language)), None);
        let shown = DisplaySettings { reader, ..shown };
        let unanswered = Form { page: asking, errors: &unanswered, given: partly, shown, ..form.clone() };
        let in_language = [
            ("picker", Picker { shown, ..picker.clone() }.html()),
            ("picker-elsewhere", Picker { shown: DisplaySettings { reader, ..new_york }, ..picker.clone() }.html()),
            ("form-questions-errors", unanswered.html()),
            ("taken", Taken { shown, ..taken.clone() }.html()),
            ("booked", Booked { shown, ..booked.clone() }.html()),
            ("cancel", Booking { shown, ..booking.clone() }.html()),
            ("invitation", Invitation { shown, ..invitation.clone() }.html()),
            ("emails", BookingEmails { reader, ..emails.clone() }.html()),
            ("replies", Replies { reader, ..replies.clone() }.html()),
            ("closed", Notice::Closed.html(reader, None)),
        ];
        pages.extend(in_language.map(|(name, page)| (format!("{}-{name}.html", language.code()), page)));
    }
    let english = vec![
        ("emails.html", emails.html()),
        ("emails-yes.html", BookingEmails { state: EmailsState::Sent, recorded: true, ..emails.clone() }.html()),
        ("emails-no.html", BookingEmails { state: EmailsState::Stopped, recorded: true, ..emails.clone() }.html()),
        ("replies.html", replies.html()),
        ("replies-agreed.html", Replies { state: RepliesState::Agreed, ..replies.clone() }.html()),
        ("replies-stopped.html", Replies { state: RepliesState::Stopped, ..replies.clone() }.html()),
        ("replies-long.html", Replies { organization: LONG_NAME, email: LONG_EMAIL, ..replies }.html()),
        ("emails-long.html", BookingEmails { title: long.title, organization: LONG_NAME, ..emails }.html()),
        ("invitation.html", invitation.html()),
        ("invitation-long.html", long_invitation.html()),
        ("invitation-days.html", Invitation { all_day: true, repeats: false, ..invitation.clone() }.html()),
        ("invitation-error.html", Invitation { problem: Some(ReplyProblem::NoReply), ..invitation.clone() }.html()),
        (
            "invitation-recorded.html",
            Invitation { state: InvitationState::Recorded(Reply::Accepted), ..invitation.clone() }.html(),
        ),
        (
            "invitation-replied.html",
            Invitation { state: InvitationState::Open(Some(Reply::Tentative)), ..invitation.clone() }.html(),
        ),
        ("invitation-cancelled.html", Invitation { state: InvitationState::Cancelled, ..invitation.clone() }.html()),
        ("invitation-over.html", Invitation { state: InvitationState::Over, ..invitation }.html()),
        ("no-reply-link.html", Notice::NoReplyLink.html(reader, None)),
        ("no-invitation.html", Notice::NoInvitation.html(reader, None)),
        ("no-reply.html", Notice::NoReply.html(reader, None)),
        ("picker.html", picker.html()),
        ("picker-elsewhere.html", Picker { shown: new_york, ..picker.clone() }.html()),
        ("picker-long.html", Picker { page: long, ..picker.clone() }.html()),
        ("picker-day-without.html", Picker { day: Some("2026-03-08".parse()?), ..picker.clone() }.html()),
        ("picker-month-without.html", Picker { offers: &empty_month_offers, ..empty_month }.html()),
        ("picker-nothing.html", Picker { day: None, offers: &[], first_offer: None, ..picker.clone() }.html()),
        ("picker-move.html", Picker { page: moved_page, moving: Some(before), ..picker.clone() }.html()),
        ("form.html", form.html()),
        (
            "form-errors.html",
            Form { given: Given { email: "grace@", ..Given::default() }, errors: &wrong, ..form.clone() }.html(),
        ),
        ("form-questions.html", Form { page: asking, ..form.clone() }.html()),
        (
            "form-questions-errors.html",
            Form { page: asking, errors: &unanswered, given: partly, ..form.clone() }.html(),
        ),
        ("violet-picker.html", Picker { page: violet, ..picker.clone() }.html()),
        ("violet-form.html", Form { page: Page { accent: violet.accent, ..asking }, ..form.clone() }.html()),
        ("violet-booked.html", Booked { page: violet, ..booked.clone() }.html()),
        ("yellow-picker.html", Picker { page: yellow, ..picker.clone() }.html()),
        ("yellow-booked.html", Booked { page: yellow, location: Some(place), ..booked.clone() }.html()),
        ("white-form.html", Form { page: white, ..form.clone() }.html()),
        ("taken.html", taken.html()),
        ("taken-move.html", Taken { page: moved_page, given: None, ..taken }.html()),
        ("booked.html", booked.html()),
        ("moving.html", Moving { page: moved_page, shown, before, slot }.html()),
        ("moved.html", Booked { before: Some(before), ..booked }.html()),
        ("cancel.html", booking.html()),
        ("cancelled.html", Booking { state: BookingState::Cancelled, ..booking.clone() }.html()),
        ("cancelled-before.html", Booking { state: BookingState::CancelledBefore, ..booking.clone() }.html()),
        ("past.html", Booking { state: BookingState::Past, ..booking }.html()),
        ("not-found.html", Notice::NotFound.html(reader, None)),
        ("no-booking.html", Notice::NoBooking.html(reader, None)),
        ("not-moved.html", Notice::NotMoved.html(reader, None)),
        ("closed.html", Notice::Closed.html(reader, None)),
        ("too-many.html", Notice::TooMany { retry_after_seconds: 40 }.html(reader, Some(&path))),
        ("nonsense.html", Notice::Nonsense.html(reader, Some(&path))),
        ("failed.html", Notice::Failed { request_id: "req_01kabc" }.html(reader, Some(&path))),
        ("page.md", guide.markdown()),
    ];
    pages.extend(english.into_iter().map(|(name, page)| (name.to_owned(), page)));
    Ok(pages)
}
