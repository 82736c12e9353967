//! Availability rules of calendars.

use kalends_availability as availability;
use kalends_calendars::{self as domain, NewRules};
use kalends_kernel::{CalendarId, FieldErrors, RulesId, Timestamp, Zone};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The opening hours of a weekday or of one date.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "start": "09:00", "end": "17:00" }))]
pub struct OpenHours {
    /// The opening time, `HH:MM` from `00:00` to `23:59`.
    #[schema(example = "09:00")]
    pub start: String,
    /// The closing time, `HH:MM` from `00:01` to `24:00`. It must be after the start.
    #[schema(example = "17:00")]
    pub end: String,
}

/// The opening hours of each weekday. A weekday that is left out is closed.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "mon": { "start": "09:00", "end": "17:00" }, "fri": { "start": "09:00", "end": "12:30" } }))]
pub struct WorkingHours {
    /// Monday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mon: Option<OpenHours>,
    /// Tuesday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tue: Option<OpenHours>,
    /// Wednesday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wed: Option<OpenHours>,
    /// Thursday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thu: Option<OpenHours>,
    /// Friday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fri: Option<OpenHours>,
    /// Saturday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sat: Option<OpenHours>,
    /// Sunday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sun: Option<OpenHours>,
}

/// A date with its own opening hours, which replace those of its weekday.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "date": "2026-12-24", "working_hours": null }))]
pub struct DateHours {
    /// The date, `YYYY-MM-DD` in the years 1970 to 2099, in the zone of the rules.
    #[schema(example = "2026-12-24")]
    pub date: String,
    /// The opening hours of the date. Null closes it. The field is required.
    #[serde(deserialize_with = "Option::deserialize")]
    #[schema(required = true)]
    pub working_hours: Option<OpenHours>,
}

/// The availability rules of a calendar.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "avr_01jn8r7d2xe9tvn4a6k8m0pqrs", "calendar_id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs",
    "buffer_before_minutes": 10, "buffer_after_minutes": 5,
    "working_hours": { "mon": { "start": "09:00", "end": "17:00" }, "tue": { "start": "09:00", "end": "17:00" } },
    "timezone": "Europe/Berlin",
    "overrides": [{ "date": "2026-12-22", "working_hours": null }],
    "created_at": "2026-03-02T08:00:00Z", "updated_at": "2026-03-02T08:00:00Z"
}))]
pub struct AvailabilityRules {
    /// The identifier, `avr_…`.
    #[schema(value_type = String)]
    pub id: RulesId,
    /// The calendar, `cal_…`.
    #[schema(value_type = String)]
    pub calendar_id: CalendarId,
    /// Minutes kept free before everything that blocks.
    #[schema(minimum = 0, maximum = 120)]
    pub buffer_before_minutes: i64,
    /// Minutes kept free after everything that blocks.
    #[schema(minimum = 0, maximum = 120)]
    pub buffer_after_minutes: i64,
    /// The opening hours of each weekday. Null means no restriction.
    pub working_hours: Option<WorkingHours>,
    /// The IANA time zone of the hours and dates.
    pub timezone: String,
    /// Dates with their own opening hours, in order.
    pub overrides: Vec<DateHours>,
    /// When the rules were created. Replacing them does not change this time.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When the rules were last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

impl From<domain::AvailabilityRules> for AvailabilityRules {
    fn from(row: domain::AvailabilityRules) -> Self {
        let written = availability::WrittenRules::from(row.rules);
        Self {
            id: row.id,
            calendar_id: row.calendar,
            buffer_before_minutes: written.buffer_before_minutes,
            buffer_after_minutes: written.buffer_after_minutes,
            working_hours: written.working_hours.map(Into::into),
            timezone: written.timezone,
            overrides: written.overrides.into_iter().map(Into::into).collect(),
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

/// The complete rules of a calendar. A field that is left out gets its default value, whatever it was before.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "buffer_before_minutes": 10, "buffer_after_minutes": 5,
    "working_hours": { "mon": { "start": "09:00", "end": "17:00" }, "tue": { "start": "09:00", "end": "17:00" } },
    "timezone": "Europe/Berlin",
    "overrides": [{ "date": "2026-12-22", "working_hours": null }]
}))]
pub struct PutAvailabilityRules {
    /// Minutes to keep free before everything that blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 120, default = 0)]
    pub buffer_before_minutes: Option<i64>,
    /// Minutes to keep free after everything that blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 120, default = 0)]
    pub buffer_after_minutes: Option<i64>,
    /// The opening hours of each weekday. Null means no restriction, and `{}` closes every day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_hours: Option<WorkingHours>,
    /// The IANA time zone of the hours and dates. Defaults to the calendar's zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Dates with their own opening hours, without duplicates.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 366)]
    pub overrides: Option<Vec<DateHours>>,
}

impl PutAvailabilityRules {
    /// Checks every field.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<NewRules, FieldErrors> {
        let own_zone = self.timezone.is_some();
        let rules = availability::Rules::try_from(availability::WrittenRules {
            buffer_before_minutes: self.buffer_before_minutes.unwrap_or(0),
            buffer_after_minutes: self.buffer_after_minutes.unwrap_or(0),
            working_hours: self.working_hours.map(Into::into),
            timezone: self.timezone.unwrap_or_else(|| Zone::UTC.name().to_owned()),
            overrides: self.overrides.unwrap_or_default().into_iter().map(Into::into).collect(),
        })?;
        let zone = own_zone.then(|| rules.zone());
        Ok(NewRules { rules, zone })
    }
}

impl From<OpenHours> for availability::WrittenHours {
    fn from(hours: OpenHours) -> Self {
        Self { start: hours.start, end: hours.end }
    }
}

impl From<availability::WrittenHours> for OpenHours {
    fn from(hours: availability::WrittenHours) -> Self {
        Self { start: hours.start, end: hours.end }
    }
}

impl From<DateHours> for availability::WrittenOverride {
    fn from(given: DateHours) -> Self {
        Self { date: given.date, working_hours: given.working_hours.map(Into::into) }
    }
}

impl From<availability::WrittenOverride> for DateHours {
    fn from(given: availability::WrittenOverride) -> Self {
        Self { date: given.date, working_hours: given.working_hours.map(Into::into) }
    }
}

/// Converts each day, in both directions.
macro_rules! weekdays {
    ($($day:ident)*) => {
        impl From<WorkingHours> for availability::Week<availability::WrittenHours> {
            fn from(week: WorkingHours) -> Self {
                Self { $($day: week.$day.map(Into::into),)* }
            }
        }

        impl From<availability::Week<availability::WrittenHours>> for WorkingHours {
            fn from(week: availability::Week<availability::WrittenHours>) -> Self {
                Self { $($day: week.$day.map(Into::into),)* }
            }
        }
    };
}

weekdays! { mon tue wed thu fri sat sun }

#[cfg(test)]
mod tests {
    use kalends_kernel::{OrgId, Version};
    use serde_json::{Value, json};

    use super::*;

    fn parse(body: Value) -> Result<NewRules, FieldErrors> {
        serde_json::from_value::<PutAvailabilityRules>(body).unwrap().parse()
    }

    fn shown(new: NewRules) -> Value {
        let row = domain::AvailabilityRules {
            id: "avr_00000000000000000000000001".parse().unwrap(),
            org: "org_00000000000000000000000001".parse::<OrgId>().unwrap(),
            calendar: "cal_00000000000000000000000001".parse().unwrap(),
            rules: new.rules,
            version: Version::FIRST,
            created_at: Timestamp::EARLIEST,
            updated_at: Timestamp::EARLIEST,
        };
        serde_json::to_value(AvailabilityRules::from(row)).unwrap()
    }

    #[test]
    fn rules_are_returned_as_they_were_sent() {
        let asked = json!({
            "buffer_before_minutes": 120, "buffer_after_minutes": 1,
            "working_hours": {
                "mon": { "start": "00:00", "end": "24:00" }, "tue": { "start": "08:00", "end": "08:01" },
                "wed": { "start": "08:00", "end": "12:02" }, "thu": { "start": "08:00", "end": "12:03" },
                "fri": { "start": "08:00", "end": "12:04" }, "sat": { "start": "08:00", "end": "12:05" },
                "sun": { "start": "08:00", "end": "12:06" },
            },
            "timezone": "Asia/Kathmandu",
            "overrides": [
                { "date": "2026-12-24", "working_hours": null },
                { "date": "2026-12-25", "working_hours": { "start": "10:00", "end": "11:00" } },
            ],
        });
        let mut shown = shown(parse(asked.clone()).unwrap());
        for added in ["id", "calendar_id", "created_at", "updated_at"] {
            assert!(shown.as_object_mut().unwrap().remove(added).is_some_and(|value| value.is_string()), "{added}");
        }
        assert_eq!(shown, asked);
    }

    #[test]
    fn fields_left_out_restrict_nothing() {
        let new = parse(json!({})).unwrap();
        assert_eq!((&new.rules, new.zone), (&availability::Rules::default(), None));
        let shown = shown(new);
        assert_eq!((&shown["working_hours"], &shown["overrides"]), (&Value::Null, &json!([])));
        assert_eq!(parse(json!({ "timezone": "UTC" })).unwrap().zone, Some(Zone::UTC));
    }

    #[test]
    fn every_invalid_field_is_named() {
        let errors = parse(json!({
            "buffer_before_minutes": 121, "buffer_after_minutes": -1,
            "working_hours": { "wed": { "start": "9:00", "end": "24:01" }, "sun": { "start": "10:00", "end": "10:00" } },
            "timezone": "Mars/Olympus",
            "overrides": [{ "date": "2026-02-30", "working_hours": null }],
        }))
        .unwrap_err();
        let params: Vec<&str> = errors.iter().map(|error| error.param.as_str()).collect();
        let expected = [
            "buffer_before_minutes",
            "buffer_after_minutes",
            "working_hours.wed.start",
            "working_hours.wed.end",
            "working_hours.sun.end",
            "timezone",
            "overrides[0].date",
        ];
        assert_eq!(params, expected);
    }

    #[test]
    fn an_override_requires_working_hours() {
        let body = json!({ "overrides": [{ "date": "2026-12-24" }] });
        let error = serde_json::from_value::<PutAvailabilityRules>(body).unwrap_err().to_string();
        assert!(error.starts_with("missing field `working_hours`"), "{error}");
    }
}
