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

#[cfg(test)]
mod tests {
    use std::{
        future::ready,
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use super::*;

    const PAGE: Page = Page { limit: 10, offset: 20 };

    /// The total of a page with `got` rows. The rows carry `counted`, and a count returns `count`.
    fn total(got: usize, page: Page, counted: Option<i64>, count: i64) -> u64 {
        let total = pin!(total_of(got, page, counted, ready(Ok(count))));
        let Poll::Ready(total) = total.poll(&mut Context::from_waker(Waker::noop())) else { panic!("nothing waits") };
        total.unwrap()
    }

    #[test]
    fn a_page_that_ends_the_list_is_not_counted() {
        assert_eq!(total(3, PAGE, Some(99), 99), 23);
        assert_eq!(total(0, Page { offset: 0, ..PAGE }, None, 99), 0);
    }

    #[test]
    fn what_the_rows_carry_is_the_total() {
        assert_eq!(total(10, PAGE, Some(45), 99), 45);
        assert_eq!(total(10, PAGE, Some(-1), 99), 0);
    }

    /// Entries were removed after the page was read.
    #[test]
    fn the_rows_of_the_page_are_part_of_the_total() {
        assert_eq!(total(10, PAGE, None, 45), 45);
        assert_eq!(total(10, PAGE, None, 30), 30);
        assert_eq!(total(10, PAGE, None, 12), 30);
        assert_eq!(total(10, PAGE, None, -1), 30);
    }

    /// Entries were added after the page was read.
    #[test]
    fn a_page_without_rows_is_beyond_the_end() {
        assert_eq!(total(0, PAGE, None, 12), 12);
        assert_eq!(total(0, PAGE, None, 20), 20);
        assert_eq!(total(0, PAGE, None, 25), 20);
    }

    #[test]
    fn a_page_for_no_rows_says_nothing_about_the_end() {
        assert_eq!(total(0, Page { limit: 0, ..PAGE }, None, 25), 25);
    }
}
