//! The state machine of a proposal, compared with a model.

use super::*;
use crate::testing::{Model, Operation, PARTICIPANTS, applied, histories};

proptest! {
    /// After any operations, accepted or refused, a proposal is what its model is, ends at most once, and can be
    /// stored.
    #[test]
    fn a_proposal_is_what_its_model_is((mut proposal, operations) in histories()) {
        let mut model = Model::of(&proposal);
        let source = Counting::starting_at(5_000);
        let mut changes = 0;
        for (operation, minute) in operations {
            let done = applied(&proposal, operation, at(minute), &source);
            let expected = model.apply(operation, at(minute));
            prop_assert_eq!(done.as_ref().map(drop).map_err(|error| error.clone().into()), expected);
            if let Ok(next) = done {
                if let (Operation::Resolve, State::Confirmed { slot, .. }) = (operation, next.state()) {
                    model.confirm(slot, event());
                }
                changes += 1;
                prop_assert_eq!(proposal.state(), State::Pending, "it ends once");
                let response = next.responses().get(proposal.responses().len()).cloned();
                let expected = (proposal.version(), response);
                let Ok(Change::Update { seen, response, .. }) = Change::update(&proposal, next.clone()) else {
                    return Err(TestCaseError::fail("no change"));
                };
                prop_assert_eq!((seen, response), expected);
                proposal = next;
            }
            // Nothing but the state, the responses and the version changes.
            prop_assert_eq!(proposal.state(), model.state());
            prop_assert_eq!(proposal.state_at(at(minute)).status(), model.status_at(at(minute)));
            let responded: Vec<_> = proposal.responses().iter().map(|given| (given.agent(), given.kind())).collect();
            prop_assert_eq!(responded, model.responses());
            prop_assert_eq!(proposal.is_answered(), model.responses().len() == PARTICIPANTS);
            prop_assert_eq!(proposal.version().0, 1 + changes);
            // What a store keeps of it is accepted.
            prop_assert_eq!(Proposal::from_stored(proposal.clone().into_stored()), Ok(proposal.clone()));
        }
    }
}
