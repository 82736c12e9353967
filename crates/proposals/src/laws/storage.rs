//! What is accepted from a store.

use kalends_kernel::{FieldError, ResponseId, Version};
use kalends_time::testing::any_timestamp;

use super::*;

fn damaged(by: impl FnOnce(&mut StoredProposal)) -> Option<StoredError> {
    let answered =
        after(&made(vec![slot(60, 30, 1.0), slot(90, 30, 1.0)], 3), &[(1, Accept, Some(0)), (2, Decline, None)]);
    let mut stored = answered.into_stored();
    by(&mut stored);
    Proposal::from_stored(stored).err()
}

fn param(error: Option<StoredError>) -> Option<String> {
    match error {
        Some(StoredError::Field(FieldError { param, .. })) => Some(param),
        _ => None,
    }
}

#[test]
fn what_no_decision_writes_is_refused() {
    let won = |slot| State::Confirmed { slot, event: event() };
    let foreign = foreign_slot();
    assert_eq!(damaged(|_| ()), None);
    assert_eq!(param(damaged(|stored| stored.title.clear())).as_deref(), Some("title"));
    assert_eq!(param(damaged(|stored| stored.description = Some("\0".into()))).as_deref(), Some("description"));
    assert_eq!(param(damaged(|stored| stored.participants.clear())).as_deref(), Some("participant_agent_ids"));
    assert_eq!(param(damaged(|stored| stored.slots.clear())).as_deref(), Some("slots"));
    assert_eq!(param(damaged(|stored| stored.created_at = at(70))).as_deref(), Some("slots[0].start_time"));
    assert_eq!(param(damaged(|stored| stored.expires_at = NOW)).as_deref(), Some("expires_at"));
    let twice = damaged(|stored| stored.slots[1] = stored.slots[0]);
    assert!(matches!(twice, Some(StoredError::SlotTwice(_))), "{twice:?}");
    let stranger = damaged(|stored| stored.responses[1].agent = agent(9));
    assert_eq!(stranger, Some(StoredError::NotParticipant(agent(9))));
    let again = damaged(|stored| stored.responses[1].agent = agent(1));
    assert_eq!(again, Some(StoredError::RespondedTwice(agent(1))));
    let selects = damaged(|stored| stored.responses[1].fields.selected = Some(foreign));
    let Some(StoredError::Response(of, error)) = selects else { panic!("{selects:?}") };
    assert_eq!((of, error.param.as_str()), (agent(2), "selected_slot_id"));
    assert_eq!(damaged(|stored| stored.version = Version(2)), Some(StoredError::Version(Version(2))));
    let ended = damaged(|stored| stored.state = State::Expired);
    assert_eq!(ended, Some(StoredError::Version(Version(3))), "the end counts as a change");

    assert_eq!(damaged(|stored| stored.state = won(foreign)), Some(StoredError::State(Status::Confirmed)));
    let declined = State::Cancelled(CancelReason::AllDeclined);
    assert_eq!(damaged(|stored| stored.state = declined), Some(StoredError::State(Status::Cancelled)));
    let nobody = damaged(|stored| {
        stored.responses.clear();
        stored.state = declined;
    });
    assert_eq!(nobody, Some(StoredError::State(Status::Cancelled)));
    let all_declined = damaged(|stored| {
        stored.responses.remove(0);
        stored.state = won(stored.slots[0].id);
    });
    assert_eq!(all_declined, Some(StoredError::State(Status::Confirmed)));
    // What a store keeps beyond what this version writes.
    assert_eq!(damaged(|stored| stored.version = Version(i64::MAX)), None);
}

#[test]
fn a_stored_response_keeps_its_bounds() {
    let id: ResponseId = "rsp_00000000000000000000000001".parse().unwrap();
    let read = |fields| Response::from_stored(id, agent(1), NOW, fields);
    assert!(read(NewResponse::decline().with_message("x".repeat(MESSAGE_MAX))).is_ok());
    for (fields, param) in [
        (NewResponse::decline().with_message("x".repeat(MESSAGE_MAX + 1)), "message"),
        (NewResponse::new(Accept, None), "selected_slot_id"),
        (NewResponse::counter(None).with_counter_slots(vec![slot(1, 1, 1.0).span(); 21]), "counter_slots"),
    ] {
        let Err(StoredError::Response(of, error)) = read(fields) else { panic!("{param}") };
        assert_eq!((of, error.param.as_str()), (agent(1), param));
    }
}

fn any_slot() -> impl Strategy<Value = NewSlot> {
    (any_timestamp(), any_timestamp(), 0..=10_000_000_u32).prop_filter_map("not a span", |(one, other, weight)| {
        let span = Span::new(one.min(other), one.max(other)).ok()?;
        Some(NewSlot::new(span).with_weight(Weight::try_from(weight).ok()?))
    })
}

proptest! {
    /// Whatever the times, each operation returns a proposal that a store may keep, or an error.
    #[test]
    fn no_time_makes_a_proposal_panic(
        slots in proptest::collection::vec(any_slot(), 0..4), expires in proptest::option::of(any_timestamp()),
        times in proptest::array::uniform4(any_timestamp()), version in any::<i64>(),
    ) {
        let source = entropy();
        let [made, responded, resolved, ended] = times;
        let Ok(proposal) = Proposal::create(org(), new(slots, 2).with_expiry(expires), made, &source) else {
            return Ok(());
        };
        let stored = StoredProposal { version: Version(version), ..proposal.clone().into_stored() };
        let proposal = Proposal::from_stored(stored).unwrap_or(proposal);
        let accept = NewResponse::accept(proposal.slots()[0].id());
        let answered = proposal.respond(agent(1), accept, responded, &source).unwrap_or(proposal);
        let settled = match answered.verdict(resolved) {
            Ok(Verdict::Ranked(ranking)) => answered.confirmed(ranking.best().id(), event(), resolved).unwrap(),
            _ => answered,
        };
        let over = settled.expired(ended).or_else(|_| settled.cancelled(CancelReason::OrganizerCancelled, ended));
        let last = over.unwrap_or(settled);
        let _ = (last.reserves(), last.state_at(ended), last.score(&last.slots()[0]).as_f64());
        prop_assert_eq!(read_slots(&write_slots(last.slots())).unwrap(), last.slots());
        if version < i64::MAX - 3 {
            prop_assert_eq!(Proposal::from_stored(last.clone().into_stored()), Ok(last));
        }
    }

    /// A weight is read from any number or refused.
    #[test]
    fn no_number_makes_a_weight_panic(number in any::<f64>()) {
        let weight = Weight::parse("weight", number);
        prop_assert_eq!(weight.is_ok(), (0.0..=10.0).contains(&number));
        if let Ok(weight) = weight {
            prop_assert_eq!(Weight::try_from(weight.millionths()), Ok(weight));
            prop_assert!((weight.as_f64() - number).abs() <= 5e-7);
        }
    }
}
