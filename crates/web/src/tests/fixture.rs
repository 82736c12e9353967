//! Every page in every state, with texts chosen by the test.

use kalends_bookings::{Colour, Question, QuestionType};
use kalends_kernel::{FieldError, FieldErrors, Language, Locale};
use kalends_time::{SignedDuration, Span, Timestamp, Zone};

use super::framed::{self, shell};
use crate::markdown::Guide;
use crate::{
    Account, AudienceChoice, Booked, Booking, BookingEmails, BookingState, CALDAV_FIELDS, CaldavForm, CaldavGiven,
    CaldavPreset, CalendarChoice, CalendarsChosen, Choice, ChooseCalendars, ConnectCode, Connections, ConnectorBack,
    ConnectorConsent, ConnectorForOthers, ConnectorReceiver, ConnectorWrong, Consent, CopyOffer, DESTINATION_FIELDS,
    Declined, DestinationGiven, Disconnect, DisplaySettings, Done, EmailsState, Ended, Forgot, Forgotten, Form, Given,
    Grant, Home, Href, Invitation, InvitationState, Invited, Join, JoinState, KeptForm, KeptPart, Limits, LinkOver,
    Moving, NO_PROBLEMS, Next, NoEffect, NothingConnected, Notice, Offer, OtherOrganization, Page, PageQuery,
    PasswordSet, Path, Picker, Place, PlanOffer, Plans, Problem, Problems, Prose, ProviderChoice, Reader, Replies,
    RepliesState, Reply, ReplyProblem, Reset, Revocation, RevocationState, ScopeChoice, Security, SecurityForm,
    SecurityState, SentForm, SignIn, SignInCode, SignUp, SignUpGiven, SignedIn, SignedUp, Taken, Terms, UnknownLink,
    UsableAccount, Verification, VerificationState, WrongEntry,
};

pub(super) const LIMITS: Limits = Limits { name: 200, email: 320, notes: 2_000 };

/// The operator's text of the terms.
const TERMS: &str = "# Scope\n\n1. *One*\n2. **Two** and `three` <b>\n\n> [Docs](/docs/)\n\n---\n\nA  \nB\n\n    c\n";

/// The colour of every booking page.
pub(super) const ACCENT: Colour = Colour([0x10, 0x2a, 0x6b]);

pub(super) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// A slot of half an hour.
pub(super) fn slot(start: &str) -> Span {
    Span::new(at(start), at(start) + SignedDuration::minutes(30)).unwrap()
}

pub(super) fn zone(name: &str) -> Zone {
    name.parse().unwrap()
}

/// A page in Berlin whose texts are all `text`.
pub(super) fn page<'a>(path: &'a Path, text: &'a str) -> Page<'a> {
    Page {
        path,
        title: text,
        description: Some(text),
        host: Some(text),
        duration_minutes: 30,
        zone: zone("Europe/Berlin"),
        location: Some(text),
        has_call: true,
        accent: Some(ACCENT),
        embedded: true,
        questions: &[],
        preview: None,
    }
}

/// A question of each type, whose label and options are `text`.
fn questions(text: &str) -> Vec<Question> {
    let question = |kind: &QuestionType| Question {
        id: kind.as_str().to_owned(),
        label: text.to_owned(),
        kind: *kind,
        required: *kind != QuestionType::Text,
        options: if *kind == QuestionType::Select { vec![text.to_owned()] } else { Vec::new() },
    };
    QuestionType::ALL.iter().map(question).collect()
}

/// The picker for these offers in a zone, at the month or day of the query. Bookings may begin within a year from now.
pub(super) fn picker(offers: &[&str], zone_name: &str, query: &[(&str, &str)], now: &str) -> String {
    let path = Path::new("/book/kq7d").unwrap();
    let offers: Vec<Span> = offers.iter().map(|start| slot(start)).collect();
    let page_query = PageQuery::read(query.iter().copied());
    let bookable = Span::new(at(now), at(now) + SignedDuration::days(365)).unwrap();
    let zone = zone(zone_name);
    let reader = &Reader::new(page_query.lang, Some("en-GB"));
    let picker = Picker {
        page: page(&path, "Call"),
        shown: DisplaySettings { zone, reader },
        now: at(now),
        bookable,
        month: page_query.month_to_show(zone, bookable, offers.first().copied()),
        day: page_query.day,
        offers: &offers,
        first_offer: offers.first().copied(),
        moving: None,
    };
    picker.html()
}

/// The pages about connected calendars.
fn connecting(text: &str, others: &[OtherOrganization]) -> Vec<(&'static str, String)> {
    let (who, at) = (SignedIn { org: "org_x", organization: text, email: text }, at("2026-11-28T14:05:00Z"));
    let usable = [UsableAccount { id: "con_x".into(), name: text.into(), connected_at: at }];
    let providers: &[(&'static str, &'static str)] =
        &[("google", "Google"), ("microsoft", "Microsoft"), ("caldav", "CalDAV"), ("example", "Example calendar")];
    let offer = Offer {
        who,
        link: "cln_x",
        once: "once",
        agent: Some(text),
        calendar: Some(text),
        expires_at: at,
        publishes: false,
        providers,
        accounts: &usable,
    };
    let account = |provider, status, data, read_at| Account {
        id: "con_x".into(),
        provider,
        name: text.into(),
        status,
        data,
        read_at,
        next_at: read_at,
        connected_at: at,
        last_error: Some(text.to_owned()).filter(|_| status == "error"),
        takes_copies: provider == "microsoft",
        now: at - SignedDuration::minutes(2),
    };
    let accounts = [
        account("microsoft", "active", "fresh", Some(at)),
        account("google", "error", "stale", Some(at)),
        account("google", "reauthorization_required", "unavailable", Some(at)),
        account("caldav", "reauthorization_required", "unavailable", Some(at)),
        account("example", "paused", "unread", None),
    ];
    let grant =
        |audience, agents| Grant { id: "grt_x".into(), calendars: text.into(), audience, agents, created_at: at };
    let grants = [grant("all", 0), grant("all_current", 2), grant("selected", 1)];
    let shell = &shell(text, Place::Connections);
    let connections = Connections {
        shell,
        done: Done::named("paused"),
        has_link: true,
        once: "once",
        providers,
        accounts: &accounts,
        accounts_total: 5,
        grants: &grants,
        grants_total: 3,
    };
    let mut wrong_login = Problems::general(text.to_owned());
    for field in CALDAV_FIELDS {
        wrong_login.add(&CALDAV_FIELDS, field, text);
    }
    let caldav = CaldavForm {
        who,
        link: "cln_x",
        connection: "",
        preset: CaldavPreset::Nextcloud,
        given: CaldavGiven { url: text, username: text },
        problems: &NO_PROBLEMS,
    };
    let calendars =
        ["xcl_x", "xcl_y"].map(|id| CalendarChoice { id: id.into(), name: text.into(), is_chosen: id == "xcl_x" });
    let audiences =
        ["selected", "all_current", "all"].map(|name| AudienceChoice { name, is_chosen: name == "selected" });
    let choose = ChooseCalendars {
        org: "org_x",
        once: "once",
        connection: "con_x",
        account: text,
        calendars: &calendars,
        audiences: &audiences,
        link: "cln_x",
        agent: "agt_x",
        agent_name: text,
        copies: None,
        problem: None,
    };
    let targets = [Choice { value: "xcl_x", title: text }];
    let mut wrong_target = Problems::default();
    wrong_target.add(&DESTINATION_FIELDS, "target", text);
    let copies = CopyOffer {
        calendar: text,
        targets: &targets,
        is_chosen: false,
        given: DestinationGiven { target: "xcl_x", policy: "confirmed" },
        problems: &NO_PROBLEMS,
    };
    let wrong_copies = CopyOffer { is_chosen: true, problems: &wrong_target, ..copies };
    let not_allowed = CopyOffer { targets: &[], ..copies };
    let provider = Href::new("/v1/consent?state=x&scope=y").unwrap();
    let address = "/console/authorize?client_id=oac_x&state=y";
    let agents = [Choice { value: "agt_x", title: text }];
    let scopes = [ScopeChoice { name: "holds:org", about: "Holds on the calendars of others", is_chosen: true }];
    let receiver = ConnectorReceiver::Host(text.to_owned());
    let app = ConnectorReceiver::App(text.to_owned());
    let connector = ConnectorConsent {
        who,
        client: text,
        receiver: &receiver,
        agents: &agents,
        more: false,
        agent: "agt_x",
        scopes: &scopes,
        asked: &["holds:org"],
        problem: None,
        address,
    };
    let program = Href::new("https://assistant.example/callback?code=x&state=y").unwrap();
    let managers = [text.to_owned()];
    let app_address = Href::of_program("cursor://anysphere.cursor-mcp/oauth/callback?code=x&state=y").unwrap();
    let for_others =
        ConnectorForOthers { who, client: text, receiver: &receiver, waits: false, managers: &managers, address };
    vec![
        ("connector", connector.html()),
        ("connector, refused", ConnectorConsent { client: "", more: true, problem: Some(text), ..connector }.html()),
        ("connector, no agent", ConnectorConsent { agents: &[], ..connector }.html()),
        ("connector, for others", for_others.html()),
        ("connector, for nobody", ConnectorForOthers { managers: &[], ..for_others }.html()),
        ("connector, not yet", ConnectorForOthers { waits: true, managers: &[], ..for_others }.html()),
        ("connector, of an app", ConnectorConsent { receiver: &app, ..connector }.html()),
        ("connector, decided", ConnectorBack { receiver: &receiver, address: program.clone() }.html()),
        ("connector, decided for an app", ConnectorBack { receiver: &app, address: app_address }.html()),
        ("connector, wrong", ConnectorWrong { receiver: &receiver, reason: text, address: program }.html()),
        ("connect", ConnectCode { is_wrong: false, has_link: true }.html()),
        ("connect, wrong", ConnectCode { is_wrong: true, has_link: false }.html()),
        ("offer", offer.html()),
        (
            "offer, publishing",
            Offer { publishes: true, agent: None, calendar: None, providers: &[], accounts: &[], ..offer }.html(),
        ),
        ("offer, publishing with Microsoft", Offer { publishes: true, ..offer }.html()),
        ("offer, no provider", Offer { providers: &[], ..offer }.html()),
        ("unknown link", UnknownLink { who, others }.html()),
        ("unknown link, no other organization", UnknownLink { who, others: &[] }.html()),
        ("link over", LinkOver { who, reason: text }.html()),
        ("declined", Declined { asker: text }.html()),
        ("consent", Consent { provider: text, address: provider }.html()),
        ("nothing connected", NothingConnected { code: "oauth_declined", has_link: true }.html()),
        ("nothing connected, unknown", NothingConnected { code: text, has_link: false }.html()),
        ("connections", connections.html()),
        ("connections, too many", Connections { accounts_total: 201, grants_total: 201, ..connections }.html()),
        (
            "connections, none",
            Connections { done: Done::default(), has_link: false, accounts: &[], grants: &[], ..connections }.html(),
        ),
        (
            "connections, none offered",
            Connections { providers: &[], accounts: &[], accounts_total: 0, ..connections }.html(),
        ),
        ("CalDAV", caldav.html()),
        ("CalDAV, wrong", CaldavForm { problems: &wrong_login, preset: CaldavPreset::Other, ..caldav }.html()),
        ("CalDAV, password again", CaldavForm { link: "", connection: "con_x", ..caldav }.html()),
        ("disconnect", Disconnect { shell, id: "con_x", name: text }.html()),
        ("choose calendars", choose.html()),
        ("choose calendars, wrong", ChooseCalendars { problem: Some(text), link: "", ..choose }.html()),
        ("choose calendars, copies", ChooseCalendars { copies: Some(copies), ..choose }.html()),
        ("choose calendars, copies, wrong", ChooseCalendars { copies: Some(wrong_copies), ..choose }.html()),
        ("choose calendars, copies, not allowed", ChooseCalendars { copies: Some(not_allowed), ..choose }.html()),
        ("calendars chosen", CalendarsChosen.html()),
        ("problem", Problem { reason: text, ..Problem::SWITCHED }.html()),
    ]
}

/// Every page in every language, with `text` for every text from outside.
pub(super) fn every_page(text: &str) -> Vec<(&'static str, String)> {
    Language::ALL.into_iter().flat_map(|language| pages_in(language, text).0).collect()
}

/// Every page, with `text` for every text from outside. The second value is the Markdown.
pub(super) fn pages_in(language: Language, text: &str) -> (Vec<(&'static str, String)>, String) {
    let reader = &Reader::new(Some(Locale::of(language)), None);
    let path = Path::new("/book/kq7d").unwrap();
    let href = Href::from(path.clone());
    let questions = questions(text);
    let page = Page { questions: &questions, ..page(&path, text) };
    let shown = DisplaySettings { zone: zone("America/New_York"), reader };
    let now = at("2026-03-03T10:12:00Z");
    let bookable = Span::new(now, now + SignedDuration::days(60)).unwrap();
    let offers: Vec<Span> = (0..40)
        .filter_map(|n| {
            let start = at("2026-03-05T08:00:00Z") + SignedDuration::minutes(n * 45);
            Span::new(start, start + SignedDuration::minutes(30)).ok()
        })
        .collect();
    let picker = Picker {
        page,
        shown,
        now,
        bookable,
        month: "2026-03".parse().unwrap(),
        day: None,
        offers: &offers,
        first_offer: offers.first().copied(),
        moving: None,
    };
    let (slot, before) = (offers[3], offers[1]);
    let answers: Vec<(String, String)> = questions.iter().map(|one| (one.id.clone(), text.to_owned())).collect();
    let given = Given { name: text, email: text, notes: text, answers: &answers };
    let none = FieldErrors::default();
    let mut errors = FieldErrors::default();
    for field in ["name", "email", "notes", "answers"] {
        errors.push(FieldError::new(field, format!("must not be {text}")));
    }
    for question in &questions {
        errors.push(FieldError::new(format!("answers.{}", question.id), format!("must not be {text}")));
    }
    let form = Form { page, shown, slot, given, once: "once", errors: &none, limits: LIMITS };
    let taken = Taken { page, shown, slot, nearest: &offers[..3], given: Some(given), once: "once", moves: false };
    let booked = Booked {
        page,
        shown,
        slot,
        before: None,
        mailed_to: Some(text),
        cancel: Some(&href),
        reschedule: Some(&href),
        file: Some(&href),
        location: Some(text),
        call: Some(&href),
    };
    let booking = Booking {
        page,
        shown,
        slot: Some(slot),
        location: Some(text),
        call: Some(&href),
        name: text,
        state: BookingState::Upcoming,
        cancel: &path,
        reschedule: Some(&href),
        again: Some(&path),
    };
    let invitation = Invitation {
        path: &path,
        title: text,
        organizer: text,
        shown,
        slot,
        all_day: false,
        repeats: true,
        location: Some(text),
        call: Some(&href),
        description: Some(text),
        email: text,
        state: InvitationState::Open(None),
        note: text,
        problem: None,
        note_max: 500,
    };
    let in_state = |state| Invitation { state, ..invitation.clone() }.html();
    let replies = Replies { path: &path, organization: text, email: text, state: RepliesState::Asked, reader };
    let emails = BookingEmails {
        path: &path,
        title: text,
        organization: text,
        email: text,
        state: EmailsState::Asked,
        recorded: false,
        reader,
    };
    let prose = Prose::read(TERMS);
    let terms = Terms { version: text, effective_at: now.utc_date(), text: None, body: None };
    let home = Home { terms: None, offers: None, admits: false, has_session: false };
    let offered = [PlanOffer { name: text, tagline: text, includes: &[text] }];
    let plans = Plans { plans: &offered, offers: None };
    let providers = [ProviderChoice { name: "google", title: "Google" }];
    let sign_in = |problem: Option<&str>| {
        let ended = problem.map(|_| Ended::Parting);
        SignIn { next: Next::Connect, email: text, problem, ended, providers: &providers, may_sign_up: true }.html()
    };
    let kept = [("org", "org_x"), (text, text)];
    let sent = SentForm { action: &path, fields: &kept, left_out: true };
    let expired = KeptForm { reason: NoEffect::Ended, org: Some("org_x"), part: KeptPart::Form(sent) };
    let given = SignUpGiven { email: text.into(), name: text.into(), org_name: text.into(), accepted: true };
    let wrong: Vec<_> =
        ["email", "name", "org_name", "password"].map(|field| (field.to_owned(), text.to_owned())).into();
    let sign_up = |is_open, problems: &[(String, String)]| {
        let terms = Href::new("/terms").unwrap();
        let problem = Some(text).filter(|_| !problems.is_empty());
        SignUp {
            next: Next::Join,
            once: text,
            is_open,
            admits_invited: true,
            terms_version: text,
            terms,
            providers: &providers,
            given: &given,
            problem,
            problems,
        }
        .html()
    };
    let signed_up = |next, asked| SignedUp { next, organization: text, key: text, asked, keeps_mail: false };
    let others = [OtherOrganization { id: "org_01jn8r6v9ke0bt3m5qz2c7xwdg".into(), name: text.into() }];
    let verification = |state| Verification { action: "/v1/auth/verify-email", state }.html();
    let revocation = |state| Revocation { action: &path, state }.html();
    let forgot = Forgot { email: text, wrong: None, problem: None, keeps_mail: false };
    let code = |wrong| SignInCode { next: Next::Join, token: text, wrong, once: text }.html();
    let codes = [text.to_owned(), text.to_owned()];
    let url = "otpauth://totp/Kalends:ada%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Kalends";
    let begun = SecurityState::Begun { secret: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", url };
    let security = |state, form: Option<SecurityForm>| {
        Security { state, wrong: form.map(|form| WrongEntry { form, problem: text }), once: text }.html()
    };
    let join = |state| Join { name: text, email: text, state }.html();
    let mut pages = vec![
        ("replies", replies.html()),
        ("replies, agreed", Replies { state: RepliesState::Agreed, ..replies.clone() }.html()),
        ("replies, stopped", Replies { state: RepliesState::Stopped, ..replies }.html()),
        ("emails", emails.html()),
        ("emails, sent", BookingEmails { state: EmailsState::Sent, recorded: true, ..emails.clone() }.html()),
        ("emails, stopped", BookingEmails { state: EmailsState::Stopped, recorded: true, ..emails }.html()),
        ("invitation", invitation.html()),
        ("invitation, days", Invitation { all_day: true, repeats: false, ..invitation.clone() }.html()),
        ("invitation, error", Invitation { problem: Some(ReplyProblem::NoReply), ..invitation.clone() }.html()),
        ("invitation, note", Invitation { problem: Some(ReplyProblem::Note), ..invitation.clone() }.html()),
        ("invitation, replied", in_state(InvitationState::Open(Some(Reply::Tentative)))),
        ("invitation, recorded", in_state(InvitationState::Recorded(Reply::Accepted))),
        ("invitation, cancelled", in_state(InvitationState::Cancelled)),
        ("invitation, over", in_state(InvitationState::Over)),
        ("no reply link", Notice::NoReplyLink.html(reader, None)),
        ("no invitation", Notice::NoInvitation.html(reader, None)),
        ("no reply", Notice::NoReply.html(reader, None)),
        ("picker", picker.html()),
        ("picker, nothing", Picker { offers: &[], first_offer: None, ..picker.clone() }.html()),
        ("picker, moving", Picker { moving: Some(before), ..picker.clone() }.html()),
        ("form", form.html()),
        ("form, errors", Form { errors: &errors, ..form }.html()),
        ("taken", taken.html()),
        ("taken, none left", Taken { nearest: &[], ..taken.clone() }.html()),
        ("taken, moving", Taken { given: None, ..taken }.html()),
        ("booked", booked.html()),
        ("moved", Booked { before: Some(before), ..booked }.html()),
        ("moving", Moving { page, shown, before, slot }.html()),
        ("cancel", booking.html()),
        ("unmovable", Booking { state: BookingState::Unmovable, reschedule: None, ..booking.clone() }.html()),
        ("cancelled", Booking { state: BookingState::Cancelled, ..booking.clone() }.html()),
        ("cancelled before", Booking { state: BookingState::CancelledBefore, ..booking.clone() }.html()),
        ("past", Booking { state: BookingState::Past, ..booking }.html()),
        ("not found", Notice::NotFound.html(reader, None)),
        ("no booking", Notice::NoBooking.html(reader, None)),
        ("not moved", Notice::NotMoved.html(reader, None)),
        ("closed", Notice::Closed.html(reader, Some(&path))),
        ("too many, minutes", Notice::TooMany { retry_after_seconds: 400 }.html(reader, None)),
        ("too many", Notice::TooMany { retry_after_seconds: 40 }.html(reader, Some(&path))),
        ("nonsense", Notice::Nonsense.html(reader, Some(&path))),
        ("failed", Notice::Failed { request_id: text }.html(reader, Some(&path))),
        ("home", home.html()),
        ("home, signed in", Home { has_session: true, ..home.clone() }.html()),
        (
            "home, linked",
            Home { terms: Some(href.clone()), offers: Some(href.clone()), admits: true, ..home.clone() }.html(),
        ),
        ("terms", terms.html()),
        ("terms, with their text", Terms { body: Some(&prose), ..terms.clone() }.html()),
        ("terms, published", Terms { text: Some(href.clone()), ..terms }.html()),
        ("plans", plans.html()),
        ("plans, offered", Plans { offers: Some(href.clone()), ..plans }.html()),
        ("sign-in", sign_in(None)),
        ("sign-in, wrong", sign_in(Some(text))),
        ("session ended", expired.html()),
        ("session ended, operator's", KeptForm { reason: NoEffect::OperatorEnded, org: None, ..expired }.html()),
        ("session ended, too long", KeptForm { org: None, part: KeptPart::TooLong, ..expired }.html()),
        ("session ended, file", KeptForm { part: KeptPart::File { form: &path }, ..expired }.html()),
        ("session switched", KeptForm { reason: NoEffect::Switched, ..expired }.html()),
        (
            "session switched, too long",
            KeptForm { reason: NoEffect::Switched, part: KeptPart::TooLong, ..expired }.html(),
        ),
        ("sign-in, code", code(None)),
        ("sign-in, wrong code", code(Some(text))),
        ("security, off", security(SecurityState::Off, None)),
        ("security, wrong password", security(SecurityState::Off, Some(SecurityForm::Start))),
        ("security, begun", security(begun, None)),
        ("security, wrong first code", security(begun, Some(SecurityForm::Confirm))),
        ("security, on", security(SecurityState::On { recovery_codes: 10 }, None)),
        ("security, wrong code", security(SecurityState::On { recovery_codes: 1 }, Some(SecurityForm::Remove))),
        ("security, codes", security(SecurityState::Codes { codes: &codes }, None)),
        ("sign-up", sign_up(true, &[])),
        ("sign-up, wrong", sign_up(true, &wrong)),
        ("sign-up, closed", sign_up(false, &[])),
        ("signed up", signed_up(Next::Home, Some(text)).html()),
        ("signed up, without mail", SignedUp { keeps_mail: true, ..signed_up(Next::Home, Some(text)) }.html()),
        ("signed up, joining", signed_up(Next::Join, None).html()),
        ("verification", verification(VerificationState::Asks { is_wrong: false })),
        ("verification, wrong", verification(VerificationState::Asks { is_wrong: true })),
        ("verification, shown", verification(VerificationState::Shows { code: text, email: text, organization: text })),
        ("verified", verification(VerificationState::Proved { email: text })),
        ("verification, taken", verification(VerificationState::Taken)),
        ("revocation", revocation(RevocationState::Asks { is_wrong: false })),
        ("revocation, wrong", revocation(RevocationState::Asks { is_wrong: true })),
        ("revoked", revocation(RevocationState::Revoked)),
        ("revocation, late", revocation(RevocationState::Over)),
        ("no console page", Notice::NoConsolePage.in_console(reader)),
        ("not accepted", Notice::NotAccepted.in_console(reader)),
        ("other address", Notice::OtherAddress { address: text }.in_console(reader)),
        ("forgot", forgot.html()),
        ("forgot, wrong", Forgot { wrong: Some(text), ..forgot }.html()),
        ("forgot, too often", Forgot { problem: Some(text), ..forgot }.html()),
        ("forgot, without mail", Forgot { keeps_mail: true, ..forgot }.html()),
        ("forgotten", Forgotten { email: text, keeps_mail: false }.html()),
        ("forgotten, without mail", Forgotten { email: text, keeps_mail: true }.html()),
        ("reset", Reset::default().html()),
        ("reset, wrong", Reset { code: text, wrong: true, ..Reset::default() }.html()),
        ("reset, short", Reset { code: text, wrong_password: Some(text), problem: Some(text), wrong: false }.html()),
        ("password set", PasswordSet.html()),
        ("invited", Invited { is_wrong: false }.html()),
        ("invited, wrong", Invited { is_wrong: true }.html()),
        ("join", join(JoinState::Invited { organization: text, role: "viewer", key: text })),
        ("join, refused", join(JoinState::Refused { reason: text, for_another: true })),
        ("join, used", join(JoinState::Refused { reason: text, for_another: false })),
        ("joined", join(JoinState::Joined { id: text, organization: text, role: "admin" })),
    ];
    pages.extend(framed::pages(text));
    pages.extend(connecting(text, &others));
    let address = Href::new("https://cal.example/book/kq7d").unwrap();
    let guide = Guide { page, shown, address: &address, bookable, offers: &offers[..3], limits: LIMITS };
    (pages, guide.markdown())
}
