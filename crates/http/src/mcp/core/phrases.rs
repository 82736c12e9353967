//! Times in words.

use async_trait::async_trait;
use kalends_kernel::FieldError;
use kalends_time::{
    Zone,
    phrase::{self, Resolved},
};
use serde_json::{Value, json};

use super::{
    arguments::Arguments,
    compact,
    failure::Outcome,
    session::Session,
    tool::{About, CoreTool, Effect},
};

/// `resolve_time`
pub(super) struct ResolveTime;

#[async_trait]
impl CoreTool for ResolveTime {
    fn about(&self) -> About {
        About {
            name: "resolve_time",
            title: "Resolve a time",
            description: "Turns a time in English words into an exact time: a day, a time, or a range, such as \"next \
                Tuesday 2pm\", \"in 90 minutes\", \"tomorrow from 2 to 3pm\". Use it instead of computing dates. \
                Returns start, end if there is one, and how the words were read. If they can mean several times, the \
                error lists texts to choose from. Example: {\"text\": \"tomorrow at 14:00\", \"timezone\": \
                \"Europe/Berlin\"}",
            effect: Effect::Reads,
            operations: &[],
            required: &["text", "timezone"],
            renamed: &[],
        }
    }

    fn properties(&self) -> Value {
        json!({
            "text": { "type": "string", "maxLength": phrase::LENGTH_MAX, "description": "The time as the person said it, in English." },
            "timezone": { "type": "string", "description": "IANA zone of the words, such as Europe/Berlin." },
            "now": { "type": "string", "description": "What the words are relative to. Default: the current time." },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        let text = arguments.needed("text")?;
        let zone = arguments.zone("timezone")?.ok_or_else(|| FieldError::new("timezone", "is required"))?;
        let now = arguments.instant("now", Some(zone))?.unwrap_or_else(|| session.now());
        let resolved = phrase::resolve(&text, zone, now);
        let resolved = resolved.map_err(|unresolved| FieldError::new("text", unresolved.to_string()))?;
        Ok(shown(&resolved, zone))
    }
}

/// A time with its local time and weekday.
fn shown(resolved: &Resolved, zone: Zone) -> Value {
    let mut shown = match resolved.end {
        Some(end) => Value::Object(compact::times(resolved.start, end, zone)),
        None => json!({ "start": resolved.start.to_string(), "when": compact::at(resolved.start, zone) }),
    };
    shown["timezone"] = zone.name().into();
    shown["reading"] = resolved.reading.as_str().into();
    shown["precision"] = resolved.precision.as_str().into();
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_local_times() {
        let berlin: Zone = "Europe/Berlin".parse().unwrap();
        let shown =
            |text| shown(&phrase::resolve(text, berlin, "2026-03-06T09:00:00Z".parse().unwrap()).unwrap(), berlin);
        assert_eq!(
            shown("Tuesday 2pm"),
            json!({
                "start": "2026-03-10T13:00:00Z", "when": "Tue 2026-03-10 14:00 Europe/Berlin", "timezone": "Europe/Berlin",
                "reading": "Tuesday, 2026-03-10, at 14:00", "precision": "minute",
            })
        );
        let day = shown("tomorrow");
        assert_eq!((&day["end"], &day["precision"]), (&json!("2026-03-07T23:00:00Z"), &json!("day")));
        assert_eq!(day["when"], "Sat 2026-03-07 00:00-Sun 2026-03-08 00:00 Europe/Berlin");
    }
}
