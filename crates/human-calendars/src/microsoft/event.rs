//! Events as the API returns them.

use std::borrow::Cow;

use kalends_bridge::CopyContent;
use kalends_feeds::read::zone_named;
use kalends_time::{SignedDuration, Span, Timestamp, Zone};
use serde::Deserialize;
use serde_json::Value;

use super::mark::Mark;
use crate::answer::Malformed;

/// How much earlier than in UTC a day begins in the first zone, and how much later it ends in the last zone.
const EARLIEST_ZONE: SignedDuration = SignedDuration::hours(14);
const LATEST_ZONE: SignedDuration = SignedDuration::hours(12);

/// The statuses of events that are not busy. Any other status, including future ones, is busy.
const NOT_BUSY: [&str; 2] = ["free", "workingElsewhere"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Event<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(rename = "@odata.etag", borrow)]
    etag: Option<Cow<'a, str>>,
    #[serde(borrow)]
    subject: Option<Cow<'a, str>>,
    #[serde(borrow)]
    start: DateTimeTimeZone<'a>,
    #[serde(borrow)]
    end: DateTimeTimeZone<'a>,
    is_all_day: Option<bool>,
    #[serde(borrow)]
    original_start_time_zone: Option<Cow<'a, str>>,
    #[serde(borrow)]
    show_as: Option<Cow<'a, str>>,
    is_cancelled: Option<bool>,
    /// Read loosely: an event with a wrong property is an event without it.
    single_value_extended_properties: Option<Value>,
}

impl Event<'_> {
    /// Whether it blocks its time.
    pub(super) fn is_busy(&self) -> bool {
        let not_busy = self.show_as.as_deref().is_some_and(|status| NOT_BUSY.contains(&status));
        !not_busy && !self.is_cancelled.unwrap_or_default()
    }

    /// The span of the event. `None` if its times are empty or reversed.
    pub(super) fn span(&self) -> Result<Option<Span>, Malformed> {
        let (start, end) = (self.start.instant()?, self.end.instant()?);
        if start >= end || !self.is_all_day.unwrap_or_default() {
            return Ok(Span::new(start, end).ok());
        }
        // Another program that created the event may have set UTC without meaning it.
        let named = || self.original_start_time_zone.as_deref().and_then(zone_named).filter(|zone| *zone != Zone::UTC);
        let zone = self.mark().map(|mark| mark.zone).or_else(named);
        let in_zone = |at: Timestamp| zone.and_then(|zone| zone.to_timestamp(Zone::UTC.to_civil(at)));
        let days = (in_zone(start).unwrap_or(start - EARLIEST_ZONE), in_zone(end).unwrap_or(end + LATEST_ZONE));
        Ok(Span::new(days.0, days.1).ok())
    }

    /// The identifier, if it has one.
    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_deref().filter(|id| !id.is_empty())
    }

    /// The version, for the header `If-Match`.
    pub(super) fn etag(&self) -> Option<&str> {
        self.etag.as_deref().filter(|etag| !etag.is_empty())
    }

    /// When it ends. A whole day ends at midnight in UTC.
    pub(super) fn ends_at(&self) -> Result<Timestamp, Malformed> {
        self.end.instant()
    }

    /// What it is a copy of, if it is a copy.
    pub(super) fn mark(&self) -> Option<Mark> {
        Mark::among(self.single_value_extended_properties.as_ref()?)
    }

    /// Whether it still shows what was written, which had this [`CopyContent::visible`].
    pub(super) fn shows(&self, visible: &[u8; 32]) -> Result<bool, Malformed> {
        let (tentative, transparent) = match self.show_as.as_deref() {
            Some("busy") => (false, false),
            Some("tentative") => (true, false),
            Some("free") => (false, true),
            _ => return Ok(false),
        };
        if self.is_cancelled.unwrap_or_default() {
            return Ok(false);
        }
        let all_day = self.is_all_day.unwrap_or_default();
        let (start, end) = (self.start.instant()?, self.end.instant()?);
        let matches = |zone: Option<Zone>| {
            let in_zone = |at: Timestamp| match zone {
                Some(zone) => zone.to_timestamp(Zone::UTC.to_civil(at)),
                None => Some(at),
            };
            let span = in_zone(start).zip(in_zone(end)).and_then(|(start, end)| Span::new(start, end).ok());
            let content = span.map(|span| CopyContent {
                title: self.subject.as_deref().unwrap_or_default().to_owned(),
                description: None,
                location: None,
                span,
                all_day,
                zone: zone.unwrap_or(Zone::UTC),
                tentative,
                transparent,
            });
            content.is_some_and(|content| content.visible() == *visible)
        };
        if !all_day {
            return Ok(matches(None));
        }
        // Whole days are returned as midnights in UTC. They were written as days of a zone. The zone that the provider
        // returns may have another name.
        let written = self.mark().map(|mark| mark.zone);
        let named = self.original_start_time_zone.as_deref().and_then(zone_named);
        Ok([written, named].into_iter().flatten().any(|zone| matches(Some(zone))))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DateTimeTimeZone<'a> {
    #[serde(borrow)]
    date_time: Cow<'a, str>,
    #[serde(borrow)]
    time_zone: Cow<'a, str>,
}

impl DateTimeTimeZone<'_> {
    /// The timestamp, if it has the requested form: `2026-03-02T09:00:00.0000000` in UTC.
    fn instant(&self) -> Result<Timestamp, Malformed> {
        if self.time_zone != "UTC" {
            return Err(Malformed::Sense("an event's time is not in UTC"));
        }
        const FORM: &[u8] = b"0000-00-00T00:00:00.0000000";
        let fits = |(byte, form): (u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { byte == *form };
        let strict = self.date_time.len() == FORM.len() && self.date_time.bytes().zip(FORM).all(fits);
        let wrong = Malformed::Sense("an event's time is not valid");
        if !strict {
            return Err(wrong);
        }
        // Parsed as timestamps in answers are, which allows any year: only a part of a long event may be within the
        // window.
        let text = Value::String(format!("{}Z", self.date_time));
        Timestamp::deserialize(text).map_err(|_| wrong)
    }
}
