//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_availability::Rules;
use kalends_calendars::{self as domain, NewRules, WrittenHours, WrittenOverride, WrittenRules, WrittenWeek};
use kalends_kernel::FieldErrors;
use kalends_time::Zone;

use super::{AvailabilityRules, DateHours, OpenHours, PutAvailabilityRules, WorkingHours};

impl From<domain::AvailabilityRules> for AvailabilityRules {
    fn from(row: domain::AvailabilityRules) -> Self {
        let written = WrittenRules::from(&row.rules);
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

impl PutAvailabilityRules {
    /// Checks every field.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<NewRules, FieldErrors> {
        let own_zone = self.timezone.is_some();
        let rules = Rules::try_from(&WrittenRules {
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

impl From<OpenHours> for WrittenHours {
    fn from(hours: OpenHours) -> Self {
        Self { start: hours.start, end: hours.end }
    }
}

impl From<WrittenHours> for OpenHours {
    fn from(hours: WrittenHours) -> Self {
        Self { start: hours.start, end: hours.end }
    }
}

impl From<DateHours> for WrittenOverride {
    fn from(given: DateHours) -> Self {
        Self { date: given.date, working_hours: given.working_hours.map(Into::into) }
    }
}

impl From<WrittenOverride> for DateHours {
    fn from(given: WrittenOverride) -> Self {
        Self { date: given.date, working_hours: given.working_hours.map(Into::into) }
    }
}

/// Converts each day, in both directions.
macro_rules! weekdays {
    ($($day:ident)*) => {
        impl From<WorkingHours> for WrittenWeek {
            fn from(week: WorkingHours) -> Self {
                Self { $($day: week.$day.map(Into::into),)* }
            }
        }

        impl From<WrittenWeek> for WorkingHours {
            fn from(week: WrittenWeek) -> Self {
                Self { $($day: week.$day.map(Into::into),)* }
            }
        }
    };
}

weekdays! { mon tue wed thu fri sat sun }

#[cfg(test)]
mod tests {
    use kalends_kernel::{OrgId, Version};
    use kalends_time::Timestamp;
    use serde_json::{Value, json};

    use super::*;

    fn parse(body: Value) -> Result<NewRules, FieldErrors> {
        serde_json::from_value::<PutAvailabilityRules>(body).unwrap().parse()
    }

    fn to_body(new: NewRules) -> Value {
        let row = domain::AvailabilityRules {
            id: "avr_00000000000000000000000001".parse().unwrap(),
            org: "org_00000000000000000000000001".parse::<OrgId>().unwrap(),
            calendar: "cal_00000000000000000000000001".parse().unwrap(),
            rules: new.rules,
            version: Version::FIRST,
            created_at: Timestamp::EPOCH,
            updated_at: Timestamp::EPOCH,
        };
        serde_json::to_value(AvailabilityRules::from(row)).unwrap()
    }

    #[test]
    fn rules_are_returned_as_they_were_sent() {
        let request = json!({
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
        let mut body = to_body(parse(request.clone()).unwrap());
        for added in ["id", "calendar_id", "created_at", "updated_at"] {
            assert!(body.as_object_mut().unwrap().remove(added).is_some_and(|value| value.is_string()), "{added}");
        }
        assert_eq!(body, request);
    }

    #[test]
    fn fields_left_out_restrict_nothing() {
        let new = parse(json!({})).unwrap();
        assert_eq!((&new.rules, new.zone), (&Rules::default(), None));
        let body = to_body(new);
        assert_eq!((&body["working_hours"], &body["overrides"]), (&Value::Null, &json!([])));
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
