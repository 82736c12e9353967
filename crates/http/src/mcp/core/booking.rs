//! Booking pages, as their guests use them.

use async_trait::async_trait;
use kalends_app::operations;
use kalends_kernel::FieldError;
use kalends_time::{SignedDuration, Zone};
use serde_json::{Value, json};
use url::Url;

use super::{
    arguments::Arguments,
    compact,
    failure::{Failure, Outcome},
    session::Session,
    tool::{About, CoreTool, Effect},
};

/// The number of slots that are shown unless the call says otherwise, and the most.
const SHOWN: u32 = 20;
const SHOWN_MAX: u32 = 100;
/// What the addresses of booking pages have before the slug.
const BOOK: &str = "book";

/// `list_booking_slots`
pub(super) struct ListBookingSlots;

#[async_trait]
impl CoreTool for ListBookingSlots {
    fn about(&self) -> About {
        About {
            name: "list_booking_slots",
            title: "List booking slots",
            description: "Lists the free slots of a booking page, the earliest first, with its title, its duration, \
                and the questions that book_slot must answer. Use it for a page whose slug or address you have; \
                find_times is for agents and calendars. Example: {\"page\": \
                \"https://calendar.example.com/book/intro-call\", \"start\": \"2026-03-05\", \"end\": \"2026-03-07\", \
                \"timezone\": \"Europe/Berlin\"}",
            effect: Effect::Reads,
            operations: &[&operations::LIST_BOOKING_SLOTS],
            required: &["page"],
            renamed: &[("slug", "page"), ("from", "start"), ("to", "end")],
        }
    }

    fn properties(&self) -> Value {
        json!({
            "page": { "type": "string", "description": "The page's slug or address." },
            "start": { "type": "string", "description": "A date, a local time, or a time with an offset. Default: now." },
            "end": { "type": "string", "description": "Slots end by then; a date includes its day. Default: as far as the page offers." },
            "timezone": { "type": "string", "description": "IANA zone of local times, also in the result. Default: the page's." },
            "count": { "type": "integer", "minimum": 1, "maximum": SHOWN_MAX, "default": SHOWN },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        let page = slug(&arguments.needed("page")?, session.base_url())?;
        let count = arguments.count(SHOWN, SHOWN_MAX)?;
        let wanted = match arguments.zone("timezone")? {
            None if arguments.is_local("start")? || arguments.is_local("end")? => {
                Some(zone_of_page(session, &page).await?)
            }
            wanted => wanted,
        };
        let asked = json!({
            "slug": page,
            "from": arguments.instant("start", wanted)?.map(|at| at.to_string()),
            "to": arguments.end("end", wanted)?.map(|at| at.to_string()),
        });
        let listed = session.call(&operations::LIST_BOOKING_SLOTS, asked).await?;
        Ok(offered(&listed.body, wanted, count))
    }
}

/// `book_slot`
pub(super) struct BookSlot;

#[async_trait]
impl CoreTool for BookSlot {
    fn about(&self) -> About {
        About {
            name: "book_slot",
            title: "Book a slot",
            description: "Books a slot of a booking page for a guest, who gets an email. start is that of a slot from \
                list_booking_slots. Returns the event_id, the time, and the addresses at which the guest can cancel or \
                move the booking: keep them. Example: {\"page\": \"intro-call\", \"start\": \"2026-03-05T10:00\", \
                \"timezone\": \"Europe/Berlin\", \"name\": \"Ada Lovelace\", \"email\": \"ada@example.com\"}",
            effect: Effect::Adds,
            operations: &[&operations::CREATE_BOOKING, &operations::LIST_BOOKING_SLOTS],
            required: &["page", "start", "name", "email"],
            renamed: &[("slug", "page"), ("Idempotency-Key", "idempotency_key")],
        }
    }

    fn properties(&self) -> Value {
        json!({
            "page": { "type": "string", "description": "The page's slug or address." },
            "start": { "type": "string", "description": "The start of a free slot: a local time, or a time with an offset." },
            "name": { "type": "string", "description": "The guest's name." },
            "email": { "type": "string", "description": "The guest's address." },
            "notes": { "type": "string", "description": "Notes for the host." },
            "answers": { "type": "object", "description": "Answers to the page's questions by their ids: text, or true or false." },
            "timezone": { "type": "string", "description": "The guest's IANA zone: of start, the emails and the result. Default: the page's." },
            "idempotency_key": {
                "type": "string", "minLength": 20,
                "description": "To repeat a call that had no answer, send the same key, such as a UUID.",
            },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        let page = slug(&arguments.needed("page")?, session.base_url())?;
        let of_guest = arguments.zone("timezone")?;
        let zone = match of_guest {
            Some(zone) => zone,
            None => zone_of_page(session, &page).await?,
        };
        let asked = json!({
            "slug": page,
            "start": arguments.instant("start", Some(zone))?.map(|at| at.to_string()),
            "name": arguments.needed("name")?,
            "email": arguments.needed("email")?,
            "notes": arguments.text("notes")?,
            "answers": answers(arguments)?,
            "timezone": of_guest.map(Zone::name),
            "idempotency_key": arguments.text("idempotency_key")?,
        });
        let booked = session.call(&operations::CREATE_BOOKING, asked).await;
        let booked = booked.map_err(|failure| with_next_call(failure, zone))?;
        Ok(made(&booked.body, zone))
    }
}

/// The slug of a page by its slug or address. `own` is the address of this service.
fn slug(page: &str, own: &str) -> Result<String, FieldError> {
    let page = page.trim();
    let address = Url::parse(page).ok().filter(Url::has_host);
    if let Some(address) = &address
        && Url::parse(own).ok().as_ref().and_then(Url::host_str) != address.host_str()
    {
        return Err(FieldError::new("page", format!("must be a page of this service, {own}; got {page}")));
    }
    let path = address.as_ref().map_or(page, Url::path);
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_matches('/');
    let mut segments = path.split('/');
    let slug = if segments.any(|segment| segment == BOOK) { segments.next() } else { Some(path) };
    let slug = slug.filter(|slug| !slug.is_empty() && !slug.contains(['/', ':', ' ']));
    slug.map(str::to_owned).ok_or_else(|| {
        FieldError::new("page", format!("must be a slug such as intro-call, or {own}/{BOOK}/intro-call; got {page:?}"))
    })
}

/// The answers to the questions of a page.
fn answers(arguments: &Arguments) -> Result<Option<Value>, FieldError> {
    let Some(sent) = arguments.value("answers") else { return Ok(None) };
    let parsed: Option<Value> = match sent {
        Value::String(text) => serde_json::from_str(text).ok(),
        other => Some(other.clone()),
    };
    parsed.filter(Value::is_object).map(Some).ok_or_else(|| {
        let message = "must be an object by the ids of the questions, such as {\"team\": \"Sales\"}; list_booking_slots \
                       returns the questions";
        FieldError::new("answers", message)
    })
}

/// The zone of a page. The slots of its next minute are read, because any answer shows the page.
async fn zone_of_page(session: &Session<'_>, page: &str) -> Result<Zone, Failure> {
    let now = session.now();
    let asked = json!({
        "slug": page, "from": now.to_string(), "to": (now + SignedDuration::minutes(1)).to_string()
    });
    let listed = session.call(&operations::LIST_BOOKING_SLOTS, asked).await?;
    Ok(zone_of(&listed.body))
}

/// The zone of the page in an answer.
fn zone_of(listed: &Value) -> Zone {
    listed["booking_page"]["timezone"].as_str().and_then(|name| name.parse().ok()).unwrap_or(Zone::UTC)
}

/// The first slots of a page. Local times are in `zone`, or else in the zone of the page.
fn offered(listed: &Value, zone: Option<Zone>, count: usize) -> Value {
    let zone = zone.unwrap_or_else(|| zone_of(listed));
    let (page, slots) = (&listed["booking_page"], listed["slots"].as_array().map(Vec::as_slice).unwrap_or_default());
    let shown: Vec<Value> = slots.iter().take(count).map(|slot| compact::slot(slot, zone)).collect();
    let mut found = json!({
        "page": page["slug"], "title": page["title"], "duration_minutes": page["duration_minutes"],
        "timezone": page["timezone"], "slots": shown,
    });
    for (name, value) in [("questions", &page["questions"]), ("notices", &listed["notices"])] {
        if !value.is_null() {
            found[name] = value.clone();
        }
    }
    if let Some(next) = slots.get(count).map(|slot| &slot["start"]).or_else(|| listed.get("next_from")) {
        found["next_start"] = next.clone();
        found["note"] = "There are later slots: send next_start as start, or raise count.".into();
    } else if slots.is_empty() && listed["notices"].is_null() {
        found["note"] =
            "No slot is free in this time. Without start and end, all slots of the page are looked at.".into();
    }
    found
}

/// A new booking.
fn made(booked: &Value, zone: Zone) -> Value {
    let event = &booked["event"];
    let mut shown = compact::span(&event["start_time"], &event["end_time"], zone);
    shown.insert("event_id".to_owned(), event["id"].clone());
    for (of, name) in
        [(event, "location"), (event, "conference_url"), (booked, "cancel_url"), (booked, "reschedule_url")]
    {
        if !of[name].is_null() {
            shown.insert(name.to_owned(), of[name].clone());
        }
    }
    Value::Object(shown)
}

/// The same failure, with local times of the free slots, and with the next call if the slot or an answer is wrong.
fn with_next_call(failure: Failure, zone: Zone) -> Failure {
    let Failure::Refused(mut error) = failure else { return failure };
    compact::conflict(&mut error, zone);
    let param = error["param"].as_str().unwrap_or_default();
    if param == "start" || param.starts_with("answers") {
        error["next"] = "list_booking_slots returns the free slots and the questions of the page.".into();
    }
    Failure::Refused(error)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::slug("intro-call", Some("intro-call"))]
    #[case::random("x7Jd0aQ2mVtY5cKw9LrB3g", Some("x7Jd0aQ2mVtY5cKw9LrB3g"))]
    #[case::address("https://kalends.example/book/intro-call", Some("intro-call"))]
    #[case::with_a_query(" https://kalends.example/book/intro-call/?utm_source=x#top", Some("intro-call"))]
    #[case::of_its_slots("https://kalends.example:8443/cal/book/intro-call/slots", Some("intro-call"))]
    #[case::path("/book/intro-call", Some("intro-call"))]
    #[case::without_a_scheme("kalends.example/book/intro-call", Some("intro-call"))]
    #[case::elsewhere("https://other.example/book/intro-call", None)]
    #[case::no_page("https://kalends.example/book/", None)]
    #[case::another_page("https://kalends.example/docs/tools", None)]
    #[case::title("Intro call", None)]
    #[case::nothing("", None)]
    fn a_page_has_a_slug_and_an_address(#[case] page: &str, #[case] expected: Option<&str>) {
        let found = slug(page, "https://kalends.example");
        assert_eq!(found.as_deref().ok(), expected);
        assert!(found.err().is_none_or(|error| error.param == "page"));
    }

    fn arguments(given: &Value) -> Arguments {
        let properties = json!({ "answers": {} });
        Arguments::of(given.as_object().unwrap().clone(), &properties, &[]).unwrap()
    }

    #[test]
    fn answers_may_be_text() {
        let read = |sent: Value| answers(&arguments(&json!({ "answers": sent }))).map_err(|error| error.param);
        assert_eq!(read(json!(r#"{"team": "Sales"}"#)), Ok(Some(json!({ "team": "Sales" }))));
        assert_eq!(read(json!({ "team": true })), Ok(Some(json!({ "team": true }))));
        assert_eq!((read(json!("Sales")), read(json!([1]))), (Err("answers".to_owned()), Err("answers".to_owned())));
        assert_eq!(read(Value::Null), Ok(None));
    }

    fn listed(slots: &Value, more: &Value) -> Value {
        let mut listed = json!({
            "booking_page": {
                "slug": "intro", "title": "Intro", "description": "Long", "duration_minutes": 30, "timezone": "Europe/Berlin",
            },
            "slots": slots,
        });
        listed.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        listed
    }

    #[test]
    fn the_first_slots_are_shown() {
        let slot = |hour: &str| json!({ "start": format!("2026-03-05T{hour}:00:00Z"), "end": format!("2026-03-05T{hour}:30:00Z") });
        let two = listed(&json!([slot("09"), slot("10")]), &json!({}));
        let expected = json!({
            "page": "intro", "title": "Intro", "duration_minutes": 30, "timezone": "Europe/Berlin",
            "slots": [{
                "start": "2026-03-05T09:00:00Z", "end": "2026-03-05T09:30:00Z",
                "when": "Thu 2026-03-05 10:00-10:30 Europe/Berlin",
            }],
            "next_start": "2026-03-05T10:00:00Z",
            "note": "There are later slots: send next_start as start, or raise count.",
        });
        assert_eq!(offered(&two, None, 1), expected);
        let all = offered(&two, Some(Zone::UTC), 2);
        assert_eq!((all["slots"][1]["when"].as_str(), all.get("note")), (Some("Thu 2026-03-05 10:00-10:30 UTC"), None));
        let more = listed(&json!([slot("09")]), &json!({ "next_from": "2026-03-06T09:00:00Z" }));
        assert_eq!(offered(&more, None, 1)["next_start"], "2026-03-06T09:00:00Z");
    }

    #[test]
    fn no_slots_have_a_reason() {
        let none = offered(&listed(&json!([]), &json!({})), None, 20);
        assert!(none["note"].as_str().unwrap().starts_with("No slot is free"));
        let notices = json!([{ "code": "booking_closed", "message": "closed" }]);
        let closed = offered(&listed(&json!([]), &json!({ "notices": notices })), None, 20);
        assert_eq!((closed.get("note"), &closed["notices"]), (None, &notices));
    }

    #[test]
    fn a_refusal_names_the_next_call() {
        let slot = json!({ "start": "2026-03-05T09:00:00Z", "end": "2026-03-05T09:30:00Z" });
        let taken = json!({ "code": "slot_taken", "param": "start", "nearest_free": [slot] });
        let Failure::Refused(error) = with_next_call(Failure::Refused(taken), Zone::UTC) else { panic!("lost") };
        assert_eq!(error["nearest_free"][0]["when"], "Thu 2026-03-05 09:00-09:30 UTC");
        assert!(error["next"].as_str().unwrap().contains("list_booking_slots"));
        let other = json!({ "code": "invalid_value", "param": "email" });
        let Failure::Refused(error) = with_next_call(Failure::Refused(other), Zone::UTC) else { panic!("lost") };
        assert_eq!((error.get("next"), error.get("nearest_free")), (None, None));
    }
}
