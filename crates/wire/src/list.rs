//! Pages of lists.

use kalends_kernel::{FieldErrors, Listed, Page};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// One page of a list.
///
/// A page takes at most 8 MiB ([`PAGE_BYTES_MAX`](kalends_kernel::PAGE_BYTES_MAX)). One that would take more ends early:
/// `limit` is then the number of its entries, `has_more` is true, and the next page begins at `offset` plus `limit`.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct List<T> {
    /// The entries of this page.
    pub data: Vec<T>,
    /// How many entries the filter matches, on all pages.
    pub total: u64,
    /// The most entries of a page; on a page that ended early, how many it has.
    pub limit: u32,
    /// How many entries were passed over.
    pub offset: u32,
    /// True on a page that ended early because it would have passed 8 MiB; absent on all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub has_more: Option<bool>,
}

impl<T> List<T> {
    /// The page that was asked for.
    pub fn new<S>(listed: Listed<S>, page: Page, convert: impl FnMut(S) -> T) -> Self {
        let (limit, has_more) = page.ended(listed.data.len(), listed.total);
        let Listed { data, total } = listed.map(convert);
        Self { data, total, limit, offset: page.offset, has_more }
    }

    /// The `offset` of the next page; `None` where this is the last one.
    pub fn next_offset(&self) -> Option<i64> {
        let next = u64::from(self.offset).checked_add(self.data.len().try_into().ok()?)?;
        (!self.data.is_empty() && next < self.total).then_some(next.try_into().ok()?)
    }
}

/// Which page of a list.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Paging {
    /// The most entries of the page: 1-200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<i64>,
    /// How many entries to pass over.
    #[param(minimum = 0, default = 0)]
    pub offset: Option<i64>,
}

impl Paging {
    /// Checks the bounds.
    ///
    /// # Errors
    /// Each parameter outside its bounds.
    pub fn parse(&self) -> Result<Page, FieldErrors> {
        Page::parse(self.limit, self.offset)
    }
}
