//! The ways from one page of a list to the next.

use std::fmt;

use kalends_kernel::Page;

use crate::link::with;

/// Where in a list a page is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paging {
    /// The path of the list.
    pub path: String,
    /// The filter of the list, as names and values of the query.
    pub filter: Vec<(&'static str, String)>,
    /// The page of the list.
    pub page: Page,
    /// The number of entries on all pages.
    pub total: u64,
}

impl Paging {
    /// Whether the list has other entries than those of this page.
    pub(crate) fn is_needed(&self) -> bool {
        self.page.offset > 0 || self.next().is_some()
    }

    pub(crate) fn range(&self) -> String {
        let (first, total) = (u64::from(self.page.offset), self.total);
        if first >= total {
            let entries = if total == 1 { "entry" } else { "entries" };
            return format!("Nothing here: the list has {total} {entries}");
        }
        format!("{}–{} of {total}", first + 1, total.min(first + u64::from(self.page.limit)))
    }

    pub(crate) fn previous(&self) -> Option<String> {
        (self.page.offset > 0).then(|| self.at(self.page.offset.saturating_sub(self.page.limit)))
    }

    pub(crate) fn next(&self) -> Option<String> {
        let next = self.page.offset.saturating_add(self.page.limit);
        (u64::from(next) < self.total).then(|| self.at(next))
    }

    /// The query of this page of the list, with its question mark; empty for the first page without a filter.
    pub(crate) fn query(&self) -> String {
        self.query_at(self.page.offset)
    }

    fn at(&self, offset: u32) -> String {
        format!("{}{}", self.path, self.query_at(offset))
    }

    fn query_at(&self, offset: u32) -> String {
        let filter = self.filter.iter().map(|(name, value)| (*name, value as &dyn fmt::Display));
        let offset = (offset > 0).then_some(("offset", &offset as &dyn fmt::Display));
        with("", &filter.chain(offset).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::one_page(0, 2, false, "1–2 of 2", None, None)]
    #[case::exactly_one_page(0, 50, false, "1–50 of 50", None, None)]
    #[case::first(0, 51, true, "1–50 of 51", None, Some("/l?kind=a%26b&offset=50"))]
    #[case::last(50, 51, true, "51–51 of 51", Some("/l?kind=a%26b"), None)]
    #[case::between(20, 90, true, "21–70 of 90", Some("/l?kind=a%26b"), Some("/l?kind=a%26b&offset=70"))]
    #[case::behind(100, 51, true, "Nothing here: the list has 51 entries", Some("/l?kind=a%26b&offset=50"), None)]
    #[case::behind_one(50, 1, true, "Nothing here: the list has 1 entry", Some("/l?kind=a%26b"), None)]
    fn pages_lead_to_their_neighbours(
        #[case] offset: u32,
        #[case] total: u64,
        #[case] needed: bool,
        #[case] range: &str,
        #[case] previous: Option<&str>,
        #[case] next: Option<&str>,
    ) {
        let paging = Paging {
            path: "/l".to_owned(),
            filter: vec![("kind", "a&b".to_owned())],
            page: Page { limit: 50, offset },
            total,
        };
        assert_eq!((paging.is_needed(), &*paging.range()), (needed, range));
        assert_eq!(paging.query().contains("&offset="), offset > 0);
        assert_eq!((paging.previous().as_deref(), paging.next().as_deref()), (previous, next));
    }
}
