//! What handlers take out of a request. Every rejection is an [`ApiError`](crate::error::ApiError).

mod body;
mod caller;
mod from_provider;
mod if_match;
mod if_none_match;
mod path;
mod query;
mod shape;
mod unknown;

pub(crate) use body::{AlreadyRead, File, JsonBody, JsonMessage, NoBody, max_of as body_max_of, read as read_body};
pub(crate) use caller::{Anonymous, Caller};
pub(crate) use from_provider::FromProvider;
pub(crate) use if_match::Precondition;
pub(crate) use if_none_match::has;
pub(crate) use path::PathOf;
pub(crate) use query::QueryOf;
pub(crate) use unknown::unknown_parameter;
