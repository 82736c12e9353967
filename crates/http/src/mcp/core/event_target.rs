//! The event, the occurrence or the series that a call changes.

use kalends_app::operations;
use kalends_calendars::Occurrence;
use kalends_kernel::FieldError;
use serde_json::{Value, json};

use super::{arguments::Arguments, failure::Failure, session::Session};

/// What a change of an occurrence may affect.
pub(super) const SCOPES: [&str; 3] = ["this", "following", "all"];

/// The event that a call changes.
pub(super) struct Target {
    pub id: String,
    /// Whether the id is that of an occurrence.
    is_occurrence: bool,
    scope: Option<String>,
    /// The event as it was. Null if the call did not have to read it.
    pub before: Value,
    /// The version that was read, as `If-Match` takes it.
    pub version: Option<String>,
}

impl Target {
    /// The event of the arguments. It is read if it may be a series, or if the call needs it.
    ///
    /// # Errors
    /// [`Failure::Argument`] if the scope is unknown, or if a series is meant as a whole without saying so.
    /// [`Failure::Refused`] if the event cannot be read.
    pub(super) async fn of(session: &Session<'_>, arguments: &Arguments, is_needed: bool) -> Result<Self, Failure> {
        let id = arguments.needed("event_id")?.trim().to_owned();
        let scope = scope(arguments)?;
        let is_occurrence = id.parse::<Occurrence>().is_ok();
        let (mut before, mut version) = (Value::Null, None);
        if !is_occurrence || is_needed {
            let read = session.call(&operations::GET_EVENT, json!({ "id": id })).await?;
            (before, version) = (read.body, read.etag);
        }
        let target = Self { id, is_occurrence, scope, before, version };
        target.checked()?;
        Ok(target)
    }

    /// A change of a whole series must say so, because a model may mean one of its occurrences.
    fn checked(&self) -> Result<(), FieldError> {
        let rule = self.before["recurrenceRule"].as_str();
        let Some(rule) = rule.filter(|_| self.scope.as_deref() != Some("all")) else { return Ok(()) };
        let message = format!(
            "is a whole series ({rule}): for one occurrence, or it and the later ones, send the event_id of that \
             occurrence, which list_events returns; for all occurrences, send scope: \"all\""
        );
        Err(FieldError::new("event_id", message))
    }

    /// Whether the call changes a series by the series' own id.
    pub(super) fn is_whole_series(&self) -> bool {
        !self.is_occurrence && self.before["recurrenceRule"].is_string()
    }

    /// The operations take a scope only with an occurrence.
    pub(super) fn scope_to_send(&self) -> Option<&str> {
        self.scope.as_deref().filter(|_| self.is_occurrence)
    }

    /// The zone of the series that a one-off event becomes by a rule: the one in which its times were written, or else its
    /// calendar's, so that the series keeps its local time. An all-day series follows it by itself.
    pub(super) fn zone_of_new_series<'a>(&'a self, written_in: Option<&'a str>) -> Option<&'a str> {
        let is_once = !self.is_occurrence && self.before["recurrenceRule"].is_null() && self.before["allDay"] != true;
        written_in.or_else(|| self.before["local"]["timezone"].as_str()).filter(|_| is_once)
    }

    /// What to know if the answer is the second half of a series.
    pub(super) fn split(&self, after: &Value) -> Option<String> {
        let new = after["id"].as_str().filter(|new| self.is_occurrence && !self.id.starts_with(new))?;
        Some(format!(
            "The old series ends before this occurrence. {new} is a new series, and the event_ids of this and the later \
             occurrences are others now: list_events returns them."
        ))
    }

    /// What else to know after the event was cancelled: what went with it, and whether its attendees get an email.
    pub(super) fn cancelled(&self, informs: bool) -> Option<String> {
        let is_series = self.before["recurrenceRule"].is_string();
        let what = match self.scope_to_send() {
            Some("following") => Some("This occurrence and all later ones are cancelled.".to_owned()),
            Some("all") => Some("All occurrences of the series are cancelled.".to_owned()),
            _ => is_series.then(|| "All occurrences of the series are cancelled.".to_owned()),
        };
        let attendees = self.before["attendees"].as_array().map(Vec::len).filter(|count| *count > 0);
        let mail = attendees.map(|count| {
            if informs {
                format!("An email goes to its attendees ({count}).")
            } else {
                format!("No email went to its attendees ({count}).")
            }
        });
        let sentences: Vec<String> = what.into_iter().chain(mail).collect();
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }
}

fn scope(arguments: &Arguments) -> Result<Option<String>, FieldError> {
    let Some(scope) = arguments.text("scope")? else { return Ok(None) };
    if SCOPES.contains(&scope.as_str()) {
        return Ok(Some(scope));
    }
    Err(FieldError::new("scope", format!("must be {}; got {scope:?}", SCOPES.join(", "))))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const SERIES: &str = "evt_00000000000000000000000001";
    const OCCURRENCE: &str = "evt_00000000000000000000000001_20260302T090000Z";

    fn target(id: &str, scope: Option<&str>, before: Value) -> Target {
        let is_occurrence = id.parse::<Occurrence>().is_ok();
        Target { id: id.to_owned(), is_occurrence, scope: scope.map(str::to_owned), before, version: None }
    }

    fn series() -> Value {
        json!({ "recurrenceRule": "FREQ=DAILY", "local": { "timezone": "Europe/Berlin" } })
    }

    #[rstest]
    #[case::series(SERIES, None, series(), false)]
    #[case::series_this(SERIES, Some("this"), series(), false)]
    #[case::series_following(SERIES, Some("following"), series(), false)]
    #[case::series_all(SERIES, Some("all"), series(), true)]
    #[case::one_off(SERIES, None, json!({ "recurrenceRule": null }), true)]
    #[case::occurrence(OCCURRENCE, None, Value::Null, true)]
    fn a_series_changes_only_if_all_is_meant(
        #[case] id: &str,
        #[case] scope: Option<&str>,
        #[case] before: Value,
        #[case] expected: bool,
    ) {
        let checked = target(id, scope, before).checked();
        assert_eq!(checked.is_ok(), expected, "{checked:?}");
        assert!(checked.err().is_none_or(|error| error.message.contains("list_events")));
    }

    #[test]
    fn a_scope_is_sent_with_an_occurrence() {
        assert_eq!(target(SERIES, Some("all"), series()).scope_to_send(), None);
        assert_eq!(target(OCCURRENCE, Some("all"), Value::Null).scope_to_send(), Some("all"));
        assert!(target(SERIES, Some("all"), series()).is_whole_series());
        assert!(!target(OCCURRENCE, Some("all"), Value::Null).is_whole_series());
    }

    #[test]
    fn a_new_series_follows_its_calendar() {
        let once = json!({ "recurrenceRule": null, "local": { "timezone": "Europe/Berlin" } });
        assert_eq!(target(SERIES, None, once.clone()).zone_of_new_series(None), Some("Europe/Berlin"));
        assert_eq!(target(SERIES, None, once).zone_of_new_series(Some("Asia/Tokyo")), Some("Asia/Tokyo"));
        assert_eq!(target(SERIES, Some("all"), series()).zone_of_new_series(None), None);
    }

    #[test]
    fn a_split_is_noted() {
        let split = |new: &str| target(OCCURRENCE, Some("following"), Value::Null).split(&json!({ "id": new }));
        assert!(split("evt_00000000000000000000000002").is_some());
        assert_eq!((split(SERIES), split(OCCURRENCE)), (None, None));
    }

    #[rstest]
    #[case(SERIES, Some("all"), json!({ "recurrenceRule": "FREQ=DAILY" }), false, Some("All occurrences"))]
    #[case(OCCURRENCE, Some("following"), Value::Null, false, Some("later ones"))]
    #[case(OCCURRENCE, None, Value::Null, false, None)]
    #[case(SERIES, None, json!({ "attendees": [{}] }), false, Some("No email"))]
    #[case(SERIES, None, json!({ "attendees": [{}] }), true, Some("An email goes"))]
    #[case(OCCURRENCE, None, json!({ "attendees": [{}] }), false, Some("No email"))]
    fn a_cancellation_says_what_else_it_did(
        #[case] id: &str,
        #[case] scope: Option<&str>,
        #[case] before: Value,
        #[case] informs: bool,
        #[case] says: Option<&str>,
    ) {
        let note = target(id, scope, before).cancelled(informs);
        assert_eq!(note.is_some(), says.is_some(), "{note:?}");
        assert!(says.is_none_or(|says| note.unwrap().contains(says)));
    }
}
