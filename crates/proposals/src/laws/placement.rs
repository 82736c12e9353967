//! Minimums of acceptances, and the events of participants.

use std::collections::BTreeSet;

use kalends_kernel::{AgentId, CalendarId, EventId};

use super::*;

fn with_min_accepts(proposal: &Proposal, min_accepts: u32) -> Proposal {
    Proposal::from_stored(StoredProposal { min_accepts, ..proposal.clone().into_stored() }).unwrap()
}

/// A proposal of agent 0 to agents 1 and so on with [`Placement::All`] and two slots, the second on calendar 9.
fn for_all(participants: usize) -> Proposal {
    let slots = vec![slot(60, 30, 1.0), slot(90, 30, 1.0).with_calendar(calendar(9))];
    let new = new(slots, participants).with_placement(Placement::All);
    Proposal::create(org(), new, NOW, &entropy()).unwrap()
}

fn created(who: usize) -> CreatedEvent {
    CreatedEvent { agent: agent(who), event: format!("evt_{who:026}").parse().unwrap() }
}

#[rstest]
#[case::no_minimum(50, 0, Placement::Organizer, &[])]
#[case::of_everyone(3, 3, Placement::Organizer, &[])]
#[case::more_than_are_asked(3, 4, Placement::Organizer, &["min_accepts"])]
#[case::far_too_many(3, u32::MAX, Placement::Organizer, &["min_accepts"])]
#[case::twenty_places(19, 0, Placement::All, &[])]
#[case::a_place_too_many(20, 21, Placement::All, &["participant_agent_ids", "min_accepts"])]
fn acceptances_and_places_are_bounded(
    #[case] participants: usize,
    #[case] min_accepts: u32,
    #[case] placement: Placement,
    #[case] faults: &[&str],
) {
    let new = new(vec![slot(60, 30, 1.0)], participants).with_min_accepts(min_accepts).with_placement(placement);
    let found = Proposal::create(org(), new, NOW, &entropy()).err();
    let found: Vec<String> = found.iter().flat_map(|errors| errors.iter()).map(|error| error.param.clone()).collect();
    assert_eq!(found, faults);
}

#[test]
fn an_organizer_that_takes_part_has_one_place() {
    let participants = (0..20).map(agent).collect();
    let slots = vec![slot(60, 30, 1.0)];
    let new = NewProposal::new("Kick-off", agent(0), participants, calendar(1), slots).with_placement(Placement::All);
    let proposal = Proposal::create(org(), new, NOW, &entropy()).unwrap();
    assert_eq!(proposal.invited().collect::<Vec<_>>(), (1..20).map(agent).collect::<Vec<_>>());
}

#[test]
fn a_slot_with_too_few_acceptances_is_not_confirmed() {
    let new = new(vec![slot(60, 30, 9.0), slot(90, 30, 1.0)], 3).with_min_accepts(2).with_expiry(at(200));
    let proposal = Proposal::create(org(), new, NOW, &entropy()).unwrap();
    let [first, second] = [proposal.0.slots[0].id, proposal.0.slots[1].id];
    // A counter-proposal is no acceptance.
    let one = after(&proposal, &[(1, Accept, Some(1)), (2, Counter, Some(1))]);
    assert_eq!(one.verdict(NOW), Err(ProposalError::TooFewAccepts(2)));
    assert_eq!(one.confirmed(second, event(), NOW), Err(ProposalError::TooFewAccepts(2)));
    let two = after(&one, &[(3, Accept, Some(1))]);
    let Ok(Verdict::Ranked(ranking)) = two.verdict(NOW) else { panic!("accepted") };
    assert_eq!(ranking.slots().map(Slot::id).collect::<Vec<_>>(), [second], "the first has the higher score");
    assert_eq!(two.confirmed(first, event(), NOW), Err(ProposalError::TooFewAccepts(2)));
    assert!(two.confirmed(second, event(), NOW).is_ok());
    // Once every slot has begun, that is the reason.
    assert_eq!(one.verdict(at(90)), Err(ProposalError::NoSlotLeft));
    assert_eq!(two.verdict(at(90)), Err(ProposalError::NoSlotLeft));
    let declined = after(&proposal, &[(1, Decline, None)]);
    assert_eq!(declined.verdict(NOW), Ok(Verdict::AllDeclined));
}

#[test]
fn participants_have_places_on_the_calendars_that_they_name() {
    let proposal = for_all(6);
    let [first, second] = [proposal.0.slots[0], proposal.0.slots[1]];
    let respond = |proposal: Proposal, who, response: NewResponse, on: Option<usize>| {
        proposal.respond(agent(who), response.with_calendar(on.map(calendar)), NOW, &Counting::starting_at(99)).unwrap()
    };
    let answered = respond(proposal, 1, NewResponse::accept(first.id), Some(11));
    let answered = respond(answered, 2, NewResponse::counter(Some(first.id)), Some(12));
    let answered = respond(answered, 3, NewResponse::decline(), Some(13));
    let answered = respond(answered, 4, NewResponse::accept(second.id), None);
    let answered = respond(answered, 5, NewResponse::accept(second.id), Some(9));
    let places = |slot| -> Vec<(AgentId, CalendarId, bool)> {
        let only = |who| (who == agent(6)).then(|| calendar(16));
        answered.places(slot, only).iter().map(|place| (place.agent, place.calendar, place.accepted)).collect()
    };
    let (one, two, six) =
        ((agent(1), calendar(11), true), (agent(2), calendar(12), false), (agent(6), calendar(16), false));
    assert_eq!(places(&first), [one, two, (agent(5), calendar(9), false), six]);
    // On the calendar of the second slot, the organizer's event comes first.
    assert_eq!(places(&second), [(one.0, one.1, false), two, six]);
    let on_the_same = answered.places(&first, |_| Some(calendar(11)));
    assert_eq!(on_the_same.len(), 3, "a calendar gets one event");
    let organizers = Proposal(StoredProposal { placement: Placement::Organizer, ..answered.0.clone() });
    assert_eq!(organizers.places(&first, |_| Some(calendar(16))), []);
}

#[rstest]
#[case::none(&[], true)]
#[case::some(&[1, 3], true)]
#[case::in_another_order(&[3, 1], false)]
#[case::twice(&[1, 1], false)]
#[case::who_declined(&[2], false)]
#[case::the_organizer(&[0], false)]
#[case::a_stranger(&[7], false)]
fn only_invited_participants_get_events(#[case] whose: &[usize], #[case] accepted: bool) {
    let answered = after(&for_all(3), &[(1, Accept, Some(0)), (2, Decline, None)]);
    let (slot, events) = (answered.0.slots[0].id, whose.iter().copied().map(created).collect::<Vec<_>>());
    let confirmed = answered.confirmed_for(slot, event(), events.clone(), NOW);
    let stored = StoredProposal { participant_events: events.clone(), ..answered.into_stored() };
    let pending = Proposal::from_stored(stored.clone());
    assert_eq!(pending.is_ok(), whose.is_empty(), "a pending proposal has no events");
    let state = State::Confirmed { slot, event: event() };
    let read = Proposal::from_stored(StoredProposal { state, version: Version(9), ..stored });
    assert_eq!(read.is_ok(), accepted);
    match confirmed {
        Ok(confirmed) => {
            assert!(accepted);
            assert_eq!(confirmed.participant_events(), events);
        }
        Err(ProposalError::Invalid(errors)) => {
            assert!(!accepted);
            assert_eq!(errors.first().param, "participant_events");
            assert!(matches!(read, Err(StoredError::Event(_))));
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_event_of_one_placement_is_the_organizers() {
    let answered = after(&made(vec![slot(60, 30, 1.0)], 1), &[(1, Accept, Some(0))]);
    let id = answered.0.slots[0].id;
    assert!(answered.confirmed_for(id, event(), vec![created(1)], NOW).is_err());
    assert_eq!(answered.confirmed(id, event(), NOW).unwrap().participant_events(), []);
}

#[test]
fn a_confirmation_with_events_is_one_change() {
    let answered = after(&for_all(1), &[(1, Accept, Some(0))]);
    let confirmed = answered.confirmed_for(answered.0.slots[0].id, event(), vec![created(1)], NOW).unwrap();
    let Ok(Change::Update { proposal, .. }) = Change::update(&answered, confirmed.clone()) else { panic!("refused") };
    assert_eq!(proposal.participant_events(), [created(1)]);
    assert_eq!(Change::update(&confirmed, answered), Err(NotNext));
}

proptest! {
    /// With a minimum, the ranking is that of all slots without those that fewer responses accept.
    #[test]
    fn a_minimum_leaves_slots_out_of_the_ranking((proposal, responses) in settled(), min_accepts in 0..4_u32) {
        let all = after(&proposal, &responses);
        let min_accepts = min_accepts.min(u32::try_from(responses.len()).unwrap());
        let settled = with_min_accepts(&all, min_accepts);
        let accepts = |index: usize| {
            responses.iter().filter(|(_, kind, selected)| *kind == Accept && *selected == Some(index)).count()
        };
        let index = |slot: &Slot| all.0.slots.iter().position(|other| other.id == slot.id).unwrap();
        let enough = |slot: &Slot| accepts(index(slot)) >= usize::try_from(min_accepts).unwrap();
        match (all.verdict(NOW), settled.verdict(NOW)) {
            (Ok(Verdict::Ranked(every)), Ok(Verdict::Ranked(some))) => {
                let left: Vec<&Slot> = every.slots().filter(|slot| enough(slot)).collect();
                prop_assert_eq!(some.slots().collect::<Vec<_>>(), left);
                for slot in every.slots() {
                    prop_assert_eq!(settled.confirmed(slot.id, event(), NOW).is_ok(), enough(slot));
                }
            }
            (Ok(Verdict::Ranked(every)), Err(error)) => {
                prop_assert_eq!(error, ProposalError::TooFewAccepts(min_accepts));
                prop_assert!(!every.slots().any(enough));
            }
            (all, settled) => prop_assert_eq!(all, settled),
        }
    }

    /// Every invited participant with a calendar that nobody before it uses has a place, and nobody else has.
    #[test]
    fn no_calendar_has_two_places(
        (proposal, responses) in settled(), known in 0..8_usize,
        calendars in proptest::collection::vec(proptest::option::weighted(0.8, 1..6_usize), 8),
    ) {
        let all = StoredProposal { placement: Placement::All, ..proposal.into_stored() };
        let mut answered = Proposal::from_stored(all).unwrap();
        for (who, kind, selected) in responses.iter().take(known) {
            let response = NewResponse::new(*kind, selected.map(|index| answered.0.slots[index].id))
                .with_calendar(calendars[who % 8].map(calendar));
            answered = answered.respond(agent(*who), response, NOW, &Counting::starting_at(900)).unwrap();
        }
        let number = |who: AgentId| (1..=responses.len()).find(|number| agent(*number) == who).unwrap();
        let calendar_of = |who: AgentId| calendars[number(who) % 8].map(calendar);
        for slot in &answered.0.slots {
            let places = answered.places(slot, calendar_of);
            let mut used = BTreeSet::from([answered.calendar_of(slot)]);
            for (who, kind, _) in &responses {
                let declined = *who <= known && *kind == Decline;
                let free = calendar_of(agent(*who)).filter(|_| !declined).filter(|free| used.insert(*free));
                let place = places.iter().find(|place| place.agent == agent(*who));
                prop_assert_eq!(place.map(|place| place.calendar), free);
                let accepts = *who <= known && responses[*who - 1].1 == Accept
                    && responses[*who - 1].2.map(|index| answered.0.slots[index].id) == Some(slot.id);
                prop_assert_eq!(place.is_some_and(|place| place.accepted), accepts && place.is_some());
            }
            prop_assert!(places.len() < responses.len() + 1);
            // These are events that a confirmation takes.
            let event_of = |place: &Place| created(number(place.agent));
            let events: Vec<CreatedEvent> = places.iter().map(event_of).collect();
            let own: EventId = event();
            match answered.confirmed_for(slot.id, own, events.clone(), NOW) {
                Ok(confirmed) => {
                    prop_assert_eq!(confirmed.participant_events(), &events);
                    prop_assert_eq!(Proposal::from_stored(confirmed.clone().into_stored()), Ok(confirmed));
                }
                Err(error) => prop_assert!(
                    matches!(error, ProposalError::NoResponses | ProposalError::AllDeclined), "{}", error
                ),
            }
        }
    }
}
