//! Holds that are over. A model that lost an answer repeats its call, and the repeated call must not look like a
//! failure.

use kalends_app::operations;
use serde_json::{Value, json};

use super::{
    compact,
    failure::Failure,
    session::{Answer, Session},
};

/// How the identifiers of hold sets begin.
const OF_A_SET: &str = "hst_";
/// The codes of the errors about holds that are over.
const NOT_A_HOLD: &str = "not_a_hold";
const EXPIRED: &str = "hold_expired";
/// The version of an event that nobody has changed. The end of a hold is a change.
const UNCHANGED: &str = "\"1\"";

/// How a call ends a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Confirm,
    Release,
}

/// Whether an identifier is that of a hold set.
pub(super) fn is_set(id: &str) -> bool {
    id.starts_with(OF_A_SET)
}

/// The holds of a set, or one hold.
pub(super) fn holds(answer: &Value) -> &[Value] {
    answer["holds"].as_array().map_or(std::slice::from_ref(answer), Vec::as_slice)
}

/// The hold or the set as it is, if an earlier call ended it in this way. `refused` is the error of the call.
///
/// # Errors
/// [`Failure::Refused`] with the error, and the next call to make, if it ended in another way.
pub(super) async fn ended_before(
    session: &Session<'_>,
    id: &str,
    end: End,
    mut refused: Value,
) -> Result<Value, Failure> {
    if refused["code"] != NOT_A_HOLD && refused["code"] != EXPIRED {
        return Err(Failure::Refused(refused));
    }
    let operation = if is_set(id) { &operations::GET_HOLD_SET } else { &operations::GET_EVENT };
    let Answer { body: seen, etag } = session.call(operation, json!({ "id": id })).await?;
    if refused["code"] == NOT_A_HOLD {
        if !is_set(id) && etag.as_deref() == Some(UNCHANGED) {
            refused["next"] = never_was(end).into();
            return Err(Failure::Refused(refused));
        }
        if is_ended(&seen, end) {
            return Ok(seen);
        }
    }
    refused["next"] = next(&seen, end, refused["code"] == EXPIRED).into();
    if is_set(id) {
        refused["holds"] = holds(&seen).iter().map(|hold| compact::event(hold, None)).collect();
    }
    Err(Failure::Refused(refused))
}

/// Whether the hold, or all of the set, has ended in this way. A released set may contain holds that were confirmed
/// alone.
fn is_ended(seen: &Value, end: End) -> bool {
    let holds = holds(seen);
    let is = |hold: &Value, status: &str| hold["status"] == status && was_perhaps_a_hold(hold);
    match end {
        End::Confirm => !holds.is_empty() && holds.iter().all(|hold| is(hold, "confirmed")),
        End::Release => {
            holds.iter().any(|hold| is(hold, "cancelled"))
                && holds.iter().all(|hold| is(hold, "cancelled") || is(hold, "confirmed"))
        }
    }
}

/// A confirmed hold is an event like any other, and so is an event that somebody changed. But a series, an occurrence and
/// what others wrote never were holds.
fn was_perhaps_a_hold(event: &Value) -> bool {
    event["recurrenceRule"].is_null()
        && event["recurringEventId"].is_null()
        && event["source"] == "internal"
        && event["metadata"]["booking"].is_null()
}

/// What to do about an event that never was a hold.
const fn never_was(end: End) -> &'static str {
    match end {
        End::Confirm => {
            "It never was a hold, so there is nothing to confirm. Send the hold_id that hold_time returned."
        }
        End::Release => "It never was a hold. To take it back, call cancel_event with its event_id.",
    }
}

/// The next call to make after a refusal.
fn next(seen: &Value, end: End, has_expired: bool) -> &'static str {
    let any = |status: &str| holds(seen).iter().any(|hold| hold["status"] == status);
    match end {
        _ if seen["holds"].is_array() && any("hold") => {
            "Some holds of the set are over. Release the set and call hold_time again."
        }
        End::Confirm if has_expired => "It has expired. Call hold_time again, or find_times if the time is now taken.",
        End::Confirm if any("cancelled") => {
            "It was released, or gave way to another one. Call hold_time again, or find_times if the time is now taken."
        }
        End::Release if any("confirmed") => "It is an event now. To take it back, call cancel_event with its event_id.",
        End::Release if has_expired => "It has expired, so its time is free already. There is nothing to release.",
        End::Confirm | End::Release => "Send the hold_id that hold_time returned.",
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn event(status: &str) -> Value {
        json!({ "status": status, "source": "internal", "recurrenceRule": null, "metadata": {} })
    }

    fn set(statuses: &[&str]) -> Value {
        json!({ "id": "hst_1", "holds": statuses.iter().map(|status| event(status)).collect::<Vec<_>>() })
    }

    #[rstest]
    #[case::confirmed(event("confirmed"), End::Confirm, true)]
    #[case::released(event("cancelled"), End::Confirm, false)]
    #[case::release_of_a_released_one(event("cancelled"), End::Release, true)]
    #[case::release_of_a_confirmed_one(event("confirmed"), End::Release, false)]
    #[case::set(set(&["confirmed", "confirmed"]), End::Confirm, true)]
    #[case::half_of_a_set(set(&["confirmed", "cancelled"]), End::Confirm, false)]
    #[case::released_set(set(&["confirmed", "cancelled"]), End::Release, true)]
    #[case::live_set(set(&["hold", "cancelled"]), End::Release, false)]
    #[case::nothing(set(&[]), End::Confirm, false)]
    #[case::series(json!({ "status": "confirmed", "source": "internal", "recurrenceRule": "FREQ=DAILY" }), End::Confirm, false)]
    #[case::imported(json!({ "status": "confirmed", "source": "external_ical" }), End::Confirm, false)]
    fn a_repeated_end_is_known(#[case] seen: Value, #[case] end: End, #[case] expected: bool) {
        assert_eq!(is_ended(&seen, end), expected);
    }

    #[rstest]
    #[case(event("cancelled"), End::Confirm, true, "hold_time again")]
    #[case(event("cancelled"), End::Confirm, false, "gave way")]
    #[case(event("confirmed"), End::Release, false, "cancel_event")]
    #[case(event("cancelled"), End::Release, true, "nothing to release")]
    #[case(set(&["hold", "confirmed"]), End::Confirm, false, "Release the set")]
    fn a_refusal_has_the_next_call(
        #[case] seen: Value,
        #[case] end: End,
        #[case] has_expired: bool,
        #[case] says: &str,
    ) {
        assert!(next(&seen, end, has_expired).contains(says), "{}", next(&seen, end, has_expired));
    }
}
