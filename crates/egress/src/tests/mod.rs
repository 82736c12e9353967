//! The client against hostile addresses, names and servers. Nothing here leaves the machine: names are made up by
//! [`support::Names`], and where a test needs the public internet, 127.0.0.10 plays it.

mod bounds;
mod hostile;
mod lanes;
mod manners;
mod rebinding;
mod redirects;
mod support;
mod tls;

pub(crate) use support::Recorder;
