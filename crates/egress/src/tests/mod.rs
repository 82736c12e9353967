//! The client against hostile addresses, names and servers. Nothing leaves the machine: [`support::Names`] invents the
//! names, and 127.0.0.10 plays the public internet.

mod bounds;
mod hostile;
mod lanes;
mod manners;
mod rebinding;
mod redirects;
mod support;
mod tls;

pub(crate) use support::Recorder;
