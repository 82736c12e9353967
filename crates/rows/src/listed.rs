//! The total of a list.

use kalends_kernel::{Page, StoreError};

/// The number of entries of a list, given that its `page` has `got` rows. It is derived from the page if that ends the
/// list. Otherwise it is what the rows carry as `counted`, or what `count` returns.
///
/// # Errors
/// Those of `count`.
pub async fn total_of(
    got: usize,
    page: Page,
    counted: Option<i64>,
    count: impl Future<Output = Result<i64, StoreError>>,
) -> Result<u64, StoreError> {
    if let Some(known) = page.total_if_known(got) {
        return Ok(known);
    }
    if let Some(counted) = counted {
        return Ok(u64::try_from(counted).unwrap_or(0));
    }
    let counted = u64::try_from(count.await?).unwrap_or(0);
    let (offset, got) = (u64::from(page.offset), u64::try_from(got).unwrap_or(u64::MAX));
    // The rows were read before they were counted. So a page with rows is part of what is counted, and a page without
    // rows is beyond the end.
    Ok(match got {
        0 if page.limit > 0 => counted.min(offset),
        0 => counted,
        got => counted.max(offset.saturating_add(got)),
    })
}
