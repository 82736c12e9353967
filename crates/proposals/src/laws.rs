//! Properties of every proposal.

mod machine;
mod placement;
mod storage;

use kalends_kernel::{Entropy, Metadata, SlotId};
use kalends_time::{SignedDuration, Span};
use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::testing::{
    Counting, NOW, after, agent, at, calendar, event, foreign_slot, made, new_proposal as new, org, settled, slot,
};
use crate::{Confidential, Remark};

const fn entropy() -> Counting {
    Counting::starting_at(1)
}

fn best(proposal: &Proposal) -> Option<SlotId> {
    match proposal.verdict(NOW) {
        Ok(Verdict::Ranked(ranking)) => Some(ranking.best().id),
        Ok(Verdict::AllDeclined) => None,
        Err(error) => panic!("{error}"),
    }
}

use ResponseKind::{Accept, Counter, Decline};

#[rstest]
#[case::the_accepted_one(&[(60, 1.0), (120, 1.0)], &[(1, Accept, Some(1))], Some(1))]
#[case::a_weight_can_outweigh_acceptances(&[(60, 1.0), (120, 3.5)], &[(1, Accept, Some(0)), (2, Accept, Some(0))], Some(1))]
#[case::counters_add_up(&[(60, 1.0), (120, 1.5)], &[(1, Counter, Some(0)), (2, Counter, Some(0))], Some(0))]
#[case::a_counter_without_a_slot_adds_nothing(&[(60, 1.0), (120, 1.1)], &[(1, Counter, None)], Some(1))]
#[case::a_decline_adds_nothing(&[(60, 1.0), (120, 1.1)], &[(1, Decline, Some(0)), (2, Counter, None)], Some(1))]
#[case::ties_go_to_the_earliest(&[(120, 1.0), (60, 1.0)], &[(1, Counter, None)], Some(1))]
#[case::sums_of_fractions_are_exact(&[(120, 0.9), (60, 0.0)], &[(1, Counter, Some(1)), (2, Counter, Some(1)), (3, Counter, Some(1))], Some(1))]
#[case::all_declined(&[(60, 1.0), (120, 10.0)], &[(1, Decline, None), (2, Decline, Some(1))], None)]
#[case::one_decline_does_not_cancel(&[(60, 1.0)], &[(1, Decline, None), (2, Counter, None)], Some(0))]
fn the_best_slot(
    #[case] slots: &[(i64, f64)],
    #[case] responses: &[(usize, ResponseKind, Option<usize>)],
    #[case] wins: Option<usize>,
) {
    let proposal = made(slots.iter().map(|(start, weight)| slot(*start, 30, *weight)).collect(), 4);
    assert_eq!(best(&after(&proposal, responses)), wins.map(|index| proposal.0.slots[index].id));
}

#[test]
fn an_invalid_proposal_is_refused_with_every_error() {
    let mut faulty = new(vec![slot(0, 30, 1.0), slot(10, 30, 1.0), slot(-5, 30, 1.0)], 2);
    faulty.participants.push(agent(1));
    faulty.expires_at = Some(NOW);
    let errors = Proposal::create(org(), faulty, NOW, &entropy()).unwrap_err();
    let params: Vec<String> = errors.iter().map(|error| error.param.clone()).collect();
    assert_eq!(params, ["participant_agent_ids[2]", "slots[0].start_time", "slots[2].start_time", "expires_at"]);
    let empty = Proposal::create(org(), new(Vec::new(), 0), NOW, &entropy()).unwrap_err();
    assert_eq!(empty.iter().map(|error| error.param.as_str()).collect::<Vec<_>>(), ["participant_agent_ids", "slots"]);
    for (slots, participants, made) in [(20, 50, true), (21, 50, false), (20, 51, false)] {
        let new = new(vec![slot(10, 30, 1.0); slots], participants);
        assert_eq!(Proposal::create(org(), new, NOW, &entropy()).is_ok(), made);
    }
}

#[rstest]
#[case::longest("x".repeat(500), Some("ü".repeat(5_000)), &[])]
#[case::empty(String::new(), Some(String::new()), &["title"])]
#[case::blank(" ".to_owned(), None, &["title"])]
#[case::too_long("x".repeat(501), Some("ü".repeat(5_001)), &["title", "description"])]
#[case::nul("a\0".to_owned(), Some("\0".to_owned()), &["title", "description"])]
fn texts_of_a_proposal_are_bounded(
    #[case] title: String,
    #[case] description: Option<String>,
    #[case] faults: &[&str],
) {
    let new = NewProposal { title, description, ..new(vec![slot(60, 30, 1.0)], 1) };
    let found = Proposal::create(org(), new, NOW, &entropy()).err();
    let found: Vec<String> = found.iter().flat_map(|errors| errors.iter()).map(|error| error.param.clone()).collect();
    assert_eq!(found, faults);
}

#[rstest]
#[case::longest(20, "ü".repeat(2_000), &[])]
#[case::too_many(21, String::new(), &["counter_slots"])]
#[case::too_long(0, "x".repeat(2_001), &["message"])]
#[case::both(21, "x".repeat(2_001), &["counter_slots", "message"])]
fn responses_are_bounded(#[case] counter_slots: usize, #[case] message: String, #[case] faults: &[&str]) {
    let proposal = made(vec![slot(60, 30, 1.0)], 1);
    let counter_slots = vec![proposal.0.slots[0].span; counter_slots];
    let response = NewResponse::counter(None).with_counter_slots(counter_slots).with_message(message);
    let found = match proposal.respond(agent(1), response, NOW, &entropy()) {
        Ok(_) => Vec::new(),
        Err(ProposalError::Invalid(errors)) => errors.iter().map(|error| error.param.clone()).collect(),
        Err(error) => panic!("{error}"),
    };
    assert_eq!(found, faults);
}

#[test]
fn a_slot_of_another_proposal_is_not_confirmed() {
    let proposal = made(vec![slot(60, 30, 1.0)], 1);
    let foreign = foreign_slot();
    let Err(ProposalError::Invalid(errors)) = proposal.confirmed(foreign, event(), NOW) else { panic!("confirmed") };
    assert_eq!(errors.first().param, "slot_id");
}

#[test]
fn a_proposal_is_confirmed_and_cancelled_only_as_its_responses_say() {
    let proposal = made(vec![slot(60, 30, 1.0)], 2);
    let id = proposal.0.slots[0].id;
    let by = |proposal: &Proposal| {
        let state = |ended: Result<Proposal, ProposalError>| ended.map(|ended| ended.state().status());
        let declined = state(proposal.cancelled(CancelReason::AllDeclined, NOW));
        (state(proposal.confirmed(id, event(), NOW)), declined)
    };
    assert_eq!(by(&proposal), (Err(ProposalError::NoResponses), Err(ProposalError::NoResponses)));
    let declined = after(&proposal, &[(1, Decline, None)]);
    assert_eq!(by(&declined), (Err(ProposalError::AllDeclined), Ok(Status::Cancelled)));
    let countered = after(&declined, &[(2, Counter, None)]);
    assert_eq!(by(&countered), (Ok(Status::Confirmed), Err(ProposalError::NotAllDeclined)));
    for seen in [&proposal, &declined, &countered] {
        assert!(seen.cancelled(CancelReason::OrganizerCancelled, NOW).is_ok());
    }
}

#[test]
fn a_proposal_whose_slots_get_one_identifier_is_refused() {
    struct Zeros;
    impl Entropy for Zeros {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(0);
        }
    }
    let create = |slots| Proposal::create(org(), new(slots, 1), NOW, &Zeros);
    assert!(create(vec![slot(60, 30, 1.0)]).is_ok());
    let errors = create(vec![slot(60, 30, 1.0), slot(90, 30, 1.0)]).unwrap_err();
    assert_eq!(errors.first().param, "slots");
}

#[test]
fn a_change_is_one_step_from_what_was_read() {
    let seen = made(vec![slot(60, 30, 1.0)], 2);
    let answered = after(&seen, &[(1, Accept, Some(0))]);
    let confirmed = answered.confirmed(seen.0.slots[0].id, event(), NOW).unwrap();
    // The last response and the end are one change.
    for (next, responds) in [(&answered, true), (&confirmed, true)] {
        let Ok(Change::Update { proposal, seen: version, response }) = Change::update(&seen, next.clone()) else {
            panic!("refused")
        };
        assert_eq!((&*proposal, version, response.is_some()), (next, seen.0.version, responds));
    }
    let Ok(Change::Update { response: None, .. }) = Change::update(&answered, confirmed.clone()) else { panic!() };
    let twice = after(&answered, &[(2, Decline, None)]);
    let renamed = Proposal(StoredProposal { title: "Other".to_owned(), ..answered.0.clone() });
    for (seen, next) in [(&seen, &seen), (&answered, &seen), (&seen, &twice), (&seen, &renamed), (&confirmed, &twice)] {
        assert_eq!(Change::update(seen, next.clone()), Err(NotNext));
    }
}

#[test]
fn a_slot_that_has_begun_is_not_confirmed() {
    let offered = new(vec![slot(60, 30, 9.0), slot(90, 30, 1.0)], 2).with_expiry(at(200));
    let proposal = Proposal::create(org(), offered, NOW, &entropy()).unwrap();
    let [first, second] = [proposal.0.slots[0].id, proposal.0.slots[1].id];
    let accepted = after(&proposal, &[(1, Accept, Some(0)), (2, Accept, Some(0))]);
    let wins = |now| {
        accepted.verdict(now).map(|verdict| match verdict {
            Verdict::Ranked(ranking) => ranking.best().id,
            Verdict::AllDeclined => panic!("nobody declines"),
        })
    };
    let micro = SignedDuration::micros(1);
    for (now, best) in [(at(60) - micro, Ok(first)), (at(60), Ok(second)), (at(90) - micro, Ok(second))] {
        assert_eq!(wins(now), best);
    }
    assert_eq!(wins(at(90)), Err(ProposalError::NoSlotLeft));
    assert_eq!(accepted.confirmed(first, event(), at(60)), Err(ProposalError::NoSlotLeft));
    // If everybody declines, no slot needs to be left.
    let declined = after(&proposal, &[(1, Decline, None)]);
    assert_eq!(declined.verdict(at(150)), Ok(Verdict::AllDeclined));
}

#[test]
fn a_proposal_expires_by_default_when_its_last_slot_starts() {
    let proposal = made(vec![slot(60, 300, 1.0), slot(120, 30, 1.0), slot(90, 30, 1.0)], 1);
    assert_eq!(proposal.0.expires_at, at(120));
    assert_eq!(proposal.state_at(at(120) - SignedDuration::micros(1)), State::Pending);
    assert_eq!(proposal.state_at(at(120)), State::Expired);
    assert_eq!(proposal.expired(at(119)), Err(ProposalError::NotExpired(at(120))));
    assert_eq!(proposal.expired(at(120)).unwrap().state(), State::Expired);
}

#[test]
fn errors_come_in_the_documented_order() {
    let proposal = made(vec![slot(60, 30, 1.0)], 2);
    let foreign = foreign_slot();
    let respond = |proposal: &Proposal, who, kind, selected, now| {
        proposal.respond(agent(who), NewResponse::new(kind, selected), now, &entropy()).map(drop)
    };
    let late = at(60);
    assert_eq!(respond(&proposal, 3, Accept, None, late), Err(ProposalError::NotParticipant));
    assert_eq!(respond(&proposal, 0, Decline, None, NOW), Err(ProposalError::NotParticipant));
    assert_eq!(respond(&proposal, 1, Accept, None, late), Err(ProposalError::NotPending(Status::Expired)));
    let responded = after(&proposal, &[(1, Decline, None)]);
    assert_eq!(respond(&responded, 1, Accept, None, NOW), Err(ProposalError::Duplicate(agent(1))));
    for (kind, selected) in
        [(Accept, None), (Accept, Some(foreign)), (Counter, Some(foreign)), (Decline, Some(foreign))]
    {
        let Err(ProposalError::Invalid(errors)) = respond(&responded, 2, kind, selected, NOW) else {
            panic!("{kind:?} of {selected:?}")
        };
        assert_eq!(errors.first().param, "selected_slot_id");
    }
    assert_eq!(proposal.verdict(NOW), Err(ProposalError::NoResponses));
}

#[test]
fn reserved_times_are_grouped_by_calendar() {
    let mut new = new(vec![slot(60, 30, 1.0), slot(70, 30, 1.0), slot(90, 30, 1.0)], 1);
    new.slots[2].calendar = Some(calendar(2));
    assert!(Proposal::create(org(), new.clone(), NOW, &entropy()).unwrap().reserves().is_empty());
    new.hold_slots = true;
    let proposal = Proposal::create(org(), new, NOW, &entropy()).unwrap();
    let spans: Vec<Span> = proposal.0.slots.iter().map(|slot| slot.span).collect();
    let expected = [(calendar(1), spans[..2].to_vec()), (calendar(2), spans[2..].to_vec())];
    assert_eq!(proposal.reserves(), TakenSpans::from(expected));
}

#[test]
fn documents_round_trip() {
    let metadata = Metadata::parse("metadata", serde_json::json!({ "a": [1, "ü"] })).unwrap();
    let mut new = new(vec![slot(60, 30, 0.3), slot(90, 30, 10.0)], 1);
    new.slots[1].calendar = Some(calendar(7));
    new.metadata = metadata.clone();
    new.description = Some("about\nit".to_owned());
    let proposal = Proposal::create(org(), new, NOW, &entropy()).unwrap();
    assert_eq!(read_slots(&write_slots(&proposal.0.slots)).unwrap(), proposal.0.slots);
    let read = Confidential::read(&Confidential::write(&proposal)).unwrap();
    assert_eq!(read, (proposal.0.title.clone(), proposal.0.description.clone(), metadata));
    let counter =
        NewResponse::counter(None).with_counter_slots(vec![proposal.0.slots[0].span]).with_message("later?".to_owned());
    let responded = proposal.respond(agent(1), counter.clone(), NOW, &entropy()).unwrap();
    let read = Remark::read(&Remark::write(&responded.responses()[0])).unwrap();
    assert_eq!(read, (counter.message, counter.counter_slots));
    assert!(Confidential::read(b"").is_err());
    assert!(Remark::read(br#"{"message":null,"counter_slots":[[2,1]]}"#).is_err());
    assert!(read_slots(r#"[{"id":"nothing"}]"#).is_err());
}

#[test]
fn a_state_follows_from_its_status_and_details() {
    let won = State::Confirmed { slot: "slt_00000000000000000000000009".parse().unwrap(), event: event() };
    let cancelled = CancelReason::ALL.iter().map(|reason| State::Cancelled(*reason));
    for state in cancelled.chain([State::Pending, won, State::Expired]) {
        let (slot, reason) = state.details();
        assert_eq!(State::of(state.status(), slot, reason), Some(state));
        let others = Status::ALL.iter().filter(|status| **status != state.status());
        let details = slot.is_some() || reason.is_some();
        assert!(!details || others.clone().all(|status| State::of(*status, slot, reason).is_none()));
    }
    assert_eq!(State::of(Status::Confirmed, None, None), None);
    assert_eq!(State::of(Status::Cancelled, None, None), None);
}

proptest! {
    /// The best slot has the highest score and starts first among equals, and the ranking has every slot once.
    #[test]
    fn the_winner_has_the_highest_score_and_starts_first_among_equals((proposal, responses) in settled()) {
        let settled = after(&proposal, &responses);
        prop_assert!(settled.is_answered());
        match settled.verdict(NOW).unwrap() {
            Verdict::AllDeclined => prop_assert!(responses.iter().all(|(_, kind, _)| *kind == Decline)),
            Verdict::Ranked(ranking) => {
                prop_assert!(responses.iter().any(|(_, kind, _)| *kind != Decline));
                let highest = settled.0.slots.iter().map(|slot| settled.score(slot)).max().unwrap();
                prop_assert_eq!(settled.score(ranking.best()), highest);
                let equals = settled.0.slots.iter().filter(|slot| settled.score(slot) == highest);
                let first = equals.map(|slot| slot.span.start()).min().unwrap();
                prop_assert_eq!(ranking.best().span.start(), first);
                // Every slot is ranked once, none above a better one.
                let ranked: Vec<&Slot> = ranking.slots().collect();
                prop_assert!(ranked.windows(2).all(|pair| settled.score(pair[0]) >= settled.score(pair[1])));
                let mut ids: Vec<SlotId> = ranked.iter().map(|slot| slot.id).collect();
                ids.sort();
                let mut all: Vec<SlotId> = settled.0.slots.iter().map(|slot| slot.id).collect();
                all.sort();
                prop_assert_eq!(ids, all);
                // The same with floating-point numbers, up to rounding.
                let sum = |slot: &Slot| {
                    let adds = |kind| match kind { Accept => 1.0, Counter => 0.3, Decline => 0.0 };
                    let of = settled.0.responses.iter().filter(|response| response.selected() == Some(slot.id));
                    slot.weight.as_f64() + of.map(|response| adds(response.kind())).sum::<f64>()
                };
                let most = settled.0.slots.iter().map(sum).fold(0.0, f64::max);
                prop_assert!((sum(ranking.best()) - most).abs() < 1e-9);
                prop_assert!((settled.score(ranking.best()).as_f64() - most).abs() < 1e-9);
            }
        }
    }

    /// The order of the responses does not change the verdict.
    #[test]
    fn the_order_of_responses_never_matters(
        (proposal, responses, shuffled) in settled().prop_flat_map(|(proposal, responses)| {
            (Just(proposal), Just(responses.clone()), Just(responses).prop_shuffle())
        }),
    ) {
        prop_assert_eq!(after(&proposal, &responses).verdict(NOW), after(&proposal, &shuffled).verdict(NOW));
    }

    /// Only slots that have not begun are ranked and can be confirmed.
    #[test]
    fn only_future_slots_are_ranked((proposal, responses) in settled(), minute in 0..250_i64) {
        let settled = after(&proposal, &responses);
        let now = at(minute);
        let ahead = settled.0.slots.iter().filter(|slot| slot.span.start() > now).count();
        match settled.verdict(now) {
            Ok(Verdict::Ranked(ranking)) => {
                prop_assert!(ranking.slots().all(|slot| slot.span.start() > now));
                prop_assert_eq!(ranking.slots().count(), ahead);
                prop_assert!(settled.confirmed(ranking.best().id, event(), now).is_ok());
            }
            Ok(Verdict::AllDeclined) => prop_assert!(responses.iter().all(|(_, kind, _)| *kind == Decline)),
            Err(error) => prop_assert_eq!((error, ahead), (ProposalError::NoSlotLeft, 0)),
        }
        for slot in settled.0.slots.iter().filter(|slot| slot.span.start() <= now) {
            prop_assert_eq!(settled.confirmed(slot.id, event(), now), Err(ProposalError::NoSlotLeft));
        }
    }
}
