//! Extractors for handlers. Every rejection is an [`ApiError`](crate::error::ApiError).

mod body;
mod bounds;
mod caller;
mod from_provider;
mod if_match;
mod if_none_match;
mod message;
mod parameters;
mod path;
mod places;
mod query;
mod shape;
mod unknown;
mod waiting;

pub(crate) use body::{
    AlreadyRead, File, JsonBody, NoBody, OptionalBody, Sender, max_of as body_max_of, read as read_body, read_up_to,
    read_whole,
};
pub(crate) use bounds::Bounds;
pub(crate) use caller::{Anonymous, Caller};
pub(crate) use from_provider::FromProvider;
pub(crate) use if_match::Precondition;
pub(crate) use if_none_match::has;
pub(crate) use message::{Message, read_message};
pub(crate) use path::PathOf;
pub(crate) use query::{QueryOf, check_query_beside_form};
pub(crate) use unknown::{nearest, shorten, unknown_parameter};
pub(crate) use waiting::Waiting;
