//! Pages of lists.

use kalends_kernel::{FieldErrors, Listed, Page};
use serde::{Deserialize, Serialize};

use crate::derives::{IntoParams, ToSchema};

/// One page of a list.
///
/// A page is at most 8 MiB. A page that would be larger ends
/// early: `limit` is then the number of entries on it, `has_more` is true, and the next page begins at `offset` plus
/// `limit`.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct List<T> {
    /// The entries of this page.
    pub data: Vec<T>,
    /// The number of entries that match the filter, over all pages.
    pub total: u64,
    /// The maximum number of entries per page. On a page that ended early, the number of entries on it.
    pub limit: u32,
    /// The number of entries that were skipped.
    pub offset: u32,
    /// True if the page ended early because it would have exceeded 8 MiB. Otherwise absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub has_more: Option<bool>,
}

impl<T> List<T> {
    /// Builds the requested page.
    pub fn new<S>(listed: Listed<S>, page: Page, convert: impl FnMut(S) -> T) -> Self {
        let (limit, has_more) = page.ended(listed.data.len(), listed.total);
        let Listed { data, total } = listed.map(convert);
        Self { data, total, limit, offset: page.offset, has_more }
    }

    /// The `offset` of the next page, or `None` on the last page.
    pub fn next_offset(&self) -> Option<i64> {
        let next = u64::from(self.offset).checked_add(self.data.len().try_into().ok()?)?;
        (!self.data.is_empty() && next < self.total).then_some(next.try_into().ok()?)
    }
}

/// The position of the next page, in lists that are read from a cursor.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct CursorPagination {
    /// The `cursor` of the next page. Null on the last page.
    pub next_cursor: Option<String>,
}

/// Selects a page of a list.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Paging {
    /// The maximum number of entries per page, 1-200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<i64>,
    /// The number of entries to skip.
    #[param(minimum = 0, default = 0)]
    pub offset: Option<i64>,
}

impl Paging {
    /// Checks the bounds.
    ///
    /// # Errors
    /// Lists each parameter that is out of bounds.
    pub fn parse(&self) -> Result<Page, FieldErrors> {
        Page::parse(self.limit, self.offset)
    }
}
