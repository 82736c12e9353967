//! Strategies for property-based tests of code that uses this crate, and a plain model. They come with the feature
//! `testing`.
//!
//! - [`operations`] draws a history of a proposal: responses, confirmations, cancellations and expiries at different times,
//!   many of which are refused. [`applied`] applies an operation to a real [`Proposal`](crate::Proposal), and [`Model`]
//!   applies it to a list of responses and a state.
//! - [`settled`] draws a proposal to which every participant responds, with few different times and weights, so that ties
//!   are frequent.
//! - The identifiers, times and slots of these are functions of small numbers: [`agent`], [`calendar`], [`at`], [`slot`].
//!
//! The strategies are those of the `proptest` that [`kalends_time::testing`] re-exports.
//!
//! ```
//! use kalends_proposals::State;
//! use kalends_proposals::testing::{Counting, Model, applied, at, histories};
//! use kalends_time::testing::config;
//! use kalends_time::testing::proptest::prelude::*;
//!
//! proptest! {
//!     #![proptest_config(config(64))]
//!
//!     # /*
//!     #[test]
//!     # */
//!     fn a_proposal_is_in_the_state_of_its_model((mut proposal, operations) in histories()) {
//!         let (mut model, entropy) = (Model::of(&proposal), Counting::starting_at(5_000));
//!         for (operation, minute) in operations {
//!             let next = applied(&proposal, operation, at(minute), &entropy);
//!             prop_assert_eq!(next.is_ok(), model.apply(operation, at(minute)).is_ok());
//!             proposal = next.unwrap_or(proposal);
//!             // The model does not rank slots.
//!             if let State::Confirmed { slot, event } = proposal.state() {
//!                 model.confirm(slot, event);
//!             }
//!             prop_assert_eq!(proposal.state().status(), model.status());
//!         }
//!     }
//! }
//! # a_proposal_is_in_the_state_of_its_model();
//! ```

mod fixtures;
mod model;
mod settled;

pub use fixtures::{
    Counting, NOW, PARTICIPANTS, STARTS, agent, at, calendar, event, foreign_slot, kinds, made, new_proposal, org, slot,
};
pub use model::{Model, Operation, Refused, applied, histories, operations};
pub use settled::{Given, after, settled};
