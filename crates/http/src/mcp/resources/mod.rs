//! Resources: what a client can show or attach without a call of a tool. Each is read by operations of the API, through
//! the same stack as HTTP. They decide access, limits, audit and errors.

mod address;
mod listing;
mod reading;

pub(super) use self::{
    listing::{list, templates},
    reading::read,
};
