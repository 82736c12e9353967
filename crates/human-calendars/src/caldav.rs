//! CalDAV (RFC 4791).

use kalends_app::ports::{AskedCalendar, CaldavLogin, DiscoveryError, ProviderError, TheirBusy};
use kalends_bridge::{CaldavAccount, TheirCalendar};
use kalends_egress::Egress;
use kalends_time::Span;

/// Finds the calendars of an account.
pub(crate) async fn discover(
    _egress: &Egress,
    _login: &CaldavLogin,
) -> Result<(CaldavAccount, Vec<TheirCalendar>), DiscoveryError> {
    Err(DiscoveryError::NoServer)
}

/// Lists the calendars of an account.
pub(crate) async fn calendars(_egress: &Egress, _account: &CaldavAccount) -> Result<Vec<TheirCalendar>, ProviderError> {
    Ok(Vec::new())
}

/// The busy times of calendars.
pub(crate) async fn busy(
    _egress: &Egress,
    _account: &CaldavAccount,
    _calendars: &[AskedCalendar],
    _window: Span,
) -> Result<Vec<TheirBusy>, ProviderError> {
    Ok(Vec::new())
}
