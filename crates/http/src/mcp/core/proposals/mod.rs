//! Proposals: agents agree on one of several times.

mod create;
#[cfg(test)]
mod examples;
mod get;
mod respond;
mod shown;
mod slots;

pub(super) use self::{create::CreateProposal, get::GetProposal, respond::RespondToProposal};
