//! Pages of lists: `limit` is 1-200 (default 50), `offset` starts at 0.

use crate::{FieldError, FieldErrors};

/// The number of entries on a page by default.
pub const LIMIT_DEFAULT: u32 = 50;
/// The maximum number of entries on a page.
pub const LIMIT_MAX: u32 = 200;
/// The maximum number of bytes of JSON on a page: 8 MiB. A page that would be larger is cut short and says so.
pub const PAGE_BYTES_MAX: usize = 8 << 20;

/// The page of a list to return.
///
/// ```
/// use kalends_kernel::Page;
///
/// assert_eq!(Page::default(), Page { limit: 50, offset: 0 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// The maximum number of entries to return.
    pub limit: u32,
    /// The number of entries to skip first.
    pub offset: u32,
}

impl Default for Page {
    fn default() -> Self {
        Self { limit: LIMIT_DEFAULT, offset: 0 }
    }
}

impl Page {
    /// Checks the two query parameters.
    ///
    /// # Errors
    /// Each parameter outside its bounds is one field error.
    ///
    /// ```
    /// use kalends_kernel::Page;
    ///
    /// assert_eq!(Page::parse(Some(20), Some(40)), Ok(Page { limit: 20, offset: 40 }));
    /// let refused = Page::parse(Some(201), None).map_err(|errors| errors.to_string());
    /// assert_eq!(refused, Err("limit: must be 1 to 200, got 201".to_owned()));
    /// ```
    pub fn parse(limit: Option<i64>, offset: Option<i64>) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        let limit = errors.take(match limit {
            None => Ok(LIMIT_DEFAULT),
            Some(limit) => u32::try_from(limit)
                .ok()
                .filter(|limit| (1..=LIMIT_MAX).contains(limit))
                .ok_or_else(|| FieldError::new("limit", format!("must be 1 to {LIMIT_MAX}, got {limit}"))),
        });
        let offset = errors.take(match offset {
            None => Ok(0),
            Some(offset) => u32::try_from(offset)
                .map_err(|_| FieldError::new("offset", format!("must be 0 to {}, got {offset}", u32::MAX))),
        });
        errors.finish()?;
        Ok(Self { limit: limit.unwrap_or(LIMIT_DEFAULT), offset: offset.unwrap_or(0) })
    }

    /// The total count if a page of `got` entries determines it, else `None`.
    ///
    /// ```
    /// use kalends_kernel::Page;
    ///
    /// let page = Page { limit: 10, offset: 20 };
    /// assert_eq!(page.total_if_known(3), Some(23));
    /// assert_eq!(page.total_if_known(10), None, "there may be more");
    /// ```
    pub fn total_if_known(self, got: usize) -> Option<u64> {
        let got = u32::try_from(got).unwrap_or(u32::MAX);
        (got < self.limit && (got > 0 || self.offset == 0)).then(|| u64::from(self.offset) + u64::from(got))
    }

    /// The `limit` and the `has_more` to report for a page of `got` entries from a list of `total` entries. A store
    /// ends a page early when its rows take more than [`PAGE_BYTES_MAX`]. The limit is then the number of entries on
    /// the page, and `has_more` is true. Otherwise the limit is unchanged, and `has_more` is `None`.
    ///
    /// ```
    /// use kalends_kernel::Page;
    ///
    /// let page = Page { limit: 10, offset: 0 };
    /// assert_eq!(page.ended(10, 50), (10, None));
    /// assert_eq!(page.ended(4, 50), (4, Some(true)), "the page was cut short");
    /// ```
    pub fn ended(self, got: usize, total: u64) -> (u32, Option<bool>) {
        let got = u32::try_from(got).unwrap_or(u32::MAX);
        let early = got > 0 && got < self.limit && u64::from(self.offset) + u64::from(got) < total;
        if early { (got, Some(true)) } else { (self.limit, None) }
    }
}

/// One page of a list, and the number of entries that the filter matches in total.
///
/// ```
/// use kalends_kernel::{Listed, Page};
///
/// let names = ["Ada", "Ben", "Cem"];
/// let page = Page { limit: 2, offset: 0 };
/// let listed = Listed { data: names[..2].to_vec(), total: 3 };
/// assert!(listed.data.len() <= page.limit as usize && listed.total == 3);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<T> {
    /// The entries of this page, in the list's order.
    pub data: Vec<T>,
    /// The number of entries that match, on all pages.
    pub total: u64,
}

impl<T> Listed<T> {
    /// The same page with every entry converted.
    ///
    /// ```
    /// use kalends_kernel::Listed;
    ///
    /// let rows = Listed { data: vec!["7", "9"], total: 12 };
    /// let numbers = rows.map(|text| text.len());
    /// assert_eq!(numbers, Listed { data: vec![1, 1], total: 12 });
    /// ```
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> Listed<U> {
        Listed { data: self.data.into_iter().map(convert).collect(), total: self.total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_and_offset_are_bounded() {
        assert_eq!(Page::parse(None, None), Ok(Page { limit: 50, offset: 0 }));
        assert_eq!(Page::parse(Some(200), Some(7)), Ok(Page { limit: 200, offset: 7 }));
        for (limit, offset, param) in [(0, 0, "limit"), (201, 0, "limit"), (-1, 0, "limit"), (1, -1, "offset")] {
            let errors = Page::parse(Some(limit), Some(offset)).unwrap_err();
            assert_eq!(errors.first().param, param);
        }
    }

    #[test]
    fn a_page_determines_the_total_only_if_it_ends_the_list() {
        let page = Page { limit: 10, offset: 20 };
        assert_eq!(page.total_if_known(3), Some(23));
        assert_eq!(page.total_if_known(10), None);
        assert_eq!(page.total_if_known(0), None, "the offset may be beyond the end");
        assert_eq!(Page { limit: 10, offset: 0 }.total_if_known(0), Some(0));
    }

    #[test]
    fn a_page_with_fewer_entries_than_match_has_more() {
        let page = Page { limit: 10, offset: 20 };
        assert_eq!(page.ended(10, 50), (10, None));
        assert_eq!(page.ended(4, 24), (10, None), "the list's last page");
        assert_eq!(page.ended(4, 25), (4, Some(true)));
        assert_eq!(page.ended(0, 5), (10, None), "an offset beyond the end");
    }
}
