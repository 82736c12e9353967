//! Where a browser says that a request comes from.

use http::{HeaderMap, HeaderName, header};
use kalends_accounts::Provenance;

/// The browser's statement of where a request comes from. A repeated or unreadable header counts as a foreign origin.
pub(crate) fn provenance(headers: &HeaderMap) -> Provenance<'_> {
    let single_value = |name: HeaderName| {
        let mut values = headers.get_all(name).iter();
        let first = values.next()?;
        Some(first.to_str().ok().filter(|_| values.next().is_none()).unwrap_or("unreadable"))
    };
    Provenance {
        origin: single_value(header::ORIGIN),
        sec_fetch_site: single_value(HeaderName::from_static("sec-fetch-site")),
    }
}
