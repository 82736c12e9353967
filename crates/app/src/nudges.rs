//! Wakes the workers of this process.

use tokio::sync::Notify;

/// Wakes the workers of this process when there is work. Workers of other processes poll.
#[derive(Default)]
pub(crate) struct Nudges {
    pub(crate) fan_out: Notify,
    pub(crate) send: Notify,
    pub(crate) letters: Notify,
    pub(crate) sync: Notify,
    pub(crate) refresh: Notify,
    pub(crate) publish: Notify,
}
