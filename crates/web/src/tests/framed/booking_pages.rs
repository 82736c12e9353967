//! The pages about booking pages.

use kalends_kernel::Page;
use kalends_time::{Span, Timestamp};

use super::{done, problems, shell};
use crate::{
    ALL_BOOKINGS_FILTER_FIELDS, AllBookings, BOOKING_FILTER_FIELDS, BookingPageDetail, BookingPageForm,
    BookingPageGiven, BookingPageShown, BookingPages, BookingShown, CANCELLATION_FIELDS, CancelBookingForm, Choice,
    DeleteBookingPage, DisplaySettings, Done, EditedBookingPage, Form, Given, Limits, NO_PROBLEMS, NoPreview,
    PageBookings, Paging, Path, Picker, Place, Problems, QuestionGiven, Reader, Shell,
};

const ID: &str = "bkp_01jn8r6v9ke0bt3m5qz2c7xwdh";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn path() -> Path {
    Path::new("/book/intro-call").unwrap()
}

fn booking(text: &str, cancelled_by: Option<&str>, has_begun: bool) -> BookingShown {
    BookingShown {
        id: "bkg_01jn8r6v9ke0bt3m5qz2c7xwdh".to_owned(),
        event: if cancelled_by.is_none() { "evt_01jn8r6v9ke0bt3m5qz2c7xwdh".to_owned() } else { String::new() },
        name: text.to_owned(),
        email: text.to_owned(),
        page: String::new(),
        page_title: String::new(),
        span: Span::new(at("2026-03-05T09:00:00Z"), at("2026-03-05T09:30:00Z")).unwrap(),
        zone: "Europe/Berlin".parse().unwrap(),
        cancelled_by: cancelled_by.map(str::to_owned),
        cancelled_at: cancelled_by.map(|_| at("2026-03-04T08:00:00Z")),
        is_rest: false,
        has_begun,
        notes: if has_begun { String::new() } else { text.to_owned() },
        answers: vec![(text.to_owned(), text.to_owned())],
        created_at: at("2026-03-02T08:00:00Z"),
    }
}

fn page(text: &str, active: bool) -> BookingPageShown {
    BookingPageShown {
        id: ID.to_owned(),
        title: text.to_owned(),
        slug: text.to_owned(),
        path: path(),
        address: text.to_owned(),
        active,
        calendars: vec![text.to_owned()],
        calendars_total: if active { 3 } else { 1 },
    }
}

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::BookingPages);
    [of_pages(shell, text), forms(shell, text), of_bookings(shell, text), previews(text)].concat()
}

fn paging(path: &str, total: u64) -> Paging {
    let page = Page { limit: 50, offset: if total > 50 { 50 } else { 0 } };
    Paging { path: path.to_owned(), filter: Vec::new(), page, total }
}

fn of_pages(shell: &Shell, text: &str) -> Vec<(&'static str, String)> {
    let pages = [page(text, true), page(text, false)];
    let [active, off] = &pages;
    let many = &paging("/console/booking-pages", 132);
    let list = BookingPages { shell, done: done(), may_create: true, pages: &pages, paging: many };
    let none = &paging("/console/booking-pages", 0);
    let empty = BookingPages { done: Done::default(), may_create: false, pages: &[], paging: none, ..list };
    let facts = [("Description", text.to_owned()), ("Questions", text.to_owned())];
    let bookings = [booking(text, None, false)];
    let sites = [text.to_owned()];
    let shown = BookingPageDetail {
        shell,
        done: done(),
        may_change: true,
        may_delete: true,
        may_cancel: true,
        page: active,
        zone: "Europe/Berlin".parse().unwrap(),
        facts: &facts,
        sites: &sites,
        created_at: at("2026-03-02T08:00:00Z"),
        updated_at: at("2026-03-02T08:00:00Z"),
        bookings: &bookings,
        upcoming: 7,
        ever: 1_200,
    };
    let seen = BookingPageDetail {
        done: Done::default(),
        may_change: false,
        may_delete: false,
        may_cancel: false,
        page: off,
        sites: &[],
        bookings: &[],
        upcoming: 0,
        ..shown
    };
    let (once, version) = ("once", 3);
    let asks = DeleteBookingPage { shell, once, page: active, version, upcoming: 2, ever: 12, problem: None };
    vec![
        ("booking pages", list.html()),
        ("booking pages, none", empty.html()),
        ("booking page", shown.html()),
        ("booking page, seen by a viewer", seen.html()),
        ("delete booking page", asks.html()),
        ("delete booking page, changed", DeleteBookingPage { problem: Some(text), ..asks }.html()),
    ]
}

fn forms(shell: &Shell, text: &str) -> Vec<(&'static str, String)> {
    let empty = BookingPageGiven::new(|_| String::new());
    let mut given = BookingPageGiven::new(|_| text.to_owned());
    given.set("calendar_id", "cal_x".to_owned());
    given.questions = vec![QuestionGiven {
        id: "topic".to_owned(),
        label: text.to_owned(),
        kind: "select".to_owned(),
        required: true,
        options: text.to_owned(),
        remove: true,
    }];
    given.empty = 1;
    let known = given.known();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let wrong: &Problems = &problems(&known, text);
    let calendars = ["cal_x", "cal_y"].map(|value| Choice { value, title: text });
    let new = BookingPageForm {
        shell,
        once: "once",
        edits: None,
        calendars: &calendars,
        has_more_calendars: false,
        given: &empty,
        now: at("2026-03-02T08:00:00Z"),
        problems: &NO_PROBLEMS,
    };
    let edits = Some(EditedBookingPage { id: ID, title: text, calendar: text, version: text, was: &given });
    let edit = BookingPageForm { edits, given: &given, has_more_calendars: true, ..new };
    vec![
        ("new booking page", new.html()),
        ("new booking page, wrong", BookingPageForm { given: &given, problems: wrong, ..new }.html()),
        ("new booking page, no calendar", BookingPageForm { calendars: &[], ..new }.html()),
        ("edit booking page", edit.html()),
        ("edit booking page, wrong", BookingPageForm { problems: wrong, ..edit }.html()),
    ]
}

fn of_bookings(shell: &Shell, text: &str) -> Vec<(&'static str, String)> {
    let bookings = [
        booking(text, None, false),
        booking(text, None, true),
        booking(text, Some("guest"), false),
        booking(text, Some("host"), false),
    ];
    let [ahead, begun, ..] = &bookings;
    let zone = "Europe/Berlin".parse().unwrap();
    let many = &paging("/console/booking-pages/bkp_x/bookings", 132);
    let list = PageBookings {
        shell,
        done: done(),
        may_cancel: true,
        id: ID,
        title: text,
        zone,
        status: "confirmed",
        from: text,
        problems: &NO_PROBLEMS,
        bookings: &bookings,
        paging: many,
    };
    let none = &paging("/console/booking-pages/bkp_x/bookings", 0);
    let empty = PageBookings { may_cancel: false, status: "", from: "", bookings: &[], paging: none, ..list };
    let wrong = &problems(&BOOKING_FILTER_FIELDS, text);
    let place = [("from", text.to_owned()), ("offset", "50".to_owned())];
    let asks = CancelBookingForm {
        shell,
        once: "once",
        list: "/console/bookings",
        title: text,
        place: &place,
        booking: ahead,
        is_shared: false,
        keeps_mail: false,
        reason: text,
        problems: &NO_PROBLEMS,
    };
    let too_long = &problems(&CANCELLATION_FIELDS, text);
    let of = |page: &str, booking: &BookingShown| BookingShown {
        page: page.to_owned(),
        page_title: text.to_owned(),
        ..booking.clone()
    };
    let rest = BookingShown { is_rest: true, event: String::new(), ..ahead.clone() };
    let of_several = [of(ID, ahead), of("", begun)];
    let every = AllBookings {
        shell,
        done: done(),
        may_cancel: true,
        pages: &[Choice { value: "", title: "All pages" }, Choice { value: ID, title: text }],
        page: ID,
        status: "cancelled",
        time: "all",
        problems: &NO_PROBLEMS,
        bookings: &of_several,
        paging: &paging("/console/bookings", 132),
    };
    let no_bookings = &paging("/console/bookings", 0);
    let none_to_come = AllBookings { page: "", status: "", time: "", bookings: &[], paging: no_bookings, ..every };
    let wrong_filter = &problems(&ALL_BOOKINGS_FILTER_FIELDS, text);
    vec![
        ("page bookings", list.html()),
        ("page bookings, none", empty.html()),
        ("page bookings, wrong", PageBookings { bookings: &[], problems: wrong, paging: none, ..list }.html()),
        ("bookings of all pages", every.html()),
        (
            "bookings of all pages, many",
            AllBookings { page: "", paging: &paging("/console/bookings", 1_001), ..every }.html(),
        ),
        ("bookings of all pages, none", none_to_come.html()),
        ("bookings of all pages, wrong", AllBookings { problems: wrong_filter, ..none_to_come }.html()),
        ("cancel page booking", asks.html()),
        ("cancel page booking, wrong", CancelBookingForm { is_shared: true, problems: too_long, ..asks }.html()),
        ("cancel page booking, without mail", CancelBookingForm { keeps_mail: true, ..asks }.html()),
        ("cancel page booking, rest", CancelBookingForm { booking: &rest, ..asks }.html()),
        ("cancel page booking, begun", CancelBookingForm { booking: begun, ..asks }.html()),
    ]
}

fn previews(text: &str) -> Vec<(&'static str, String)> {
    let path = path();
    let page = crate::Page {
        path: &path,
        title: text,
        description: Some(text),
        host: Some(text),
        duration_minutes: 30,
        zone: "Europe/Berlin".parse().unwrap(),
        location: Some(text),
        has_call: true,
        accent: None,
        embedded: false,
        questions: &[],
        preview: Some(text),
    };
    let reader = &Reader::english();
    let shown = DisplaySettings { zone: page.zone, reader };
    let now = at("2026-03-03T10:12:00Z");
    let slot = Span::new(at("2026-03-05T09:00:00Z"), at("2026-03-05T09:30:00Z")).unwrap();
    let limits = Limits { name: 200, email: 320, notes: 2_000 };
    let errors = &kalends_kernel::FieldErrors::default();
    let form = Form { page, shown, slot, given: Given::default(), once: "", errors, limits };
    let picker = Picker {
        page,
        shown,
        now,
        bookable: Span::new(now, at("2026-05-01T00:00:00Z")).unwrap(),
        month: "2026-03".parse().unwrap(),
        day: None,
        offers: &[slot],
        first_offer: Some(slot),
        moving: None,
    };
    vec![("preview", picker.html()), ("preview, form", form.html()), ("no preview", NoPreview { reason: text }.html())]
}
