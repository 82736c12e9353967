//! The pages of the protocol's lists. A cursor names the list, and the entry with which the next page begins. Nothing
//! is kept between two pages.

use rmcp::{ErrorData, model::PaginatedRequestParams};
use serde::Deserialize;
use serde_json::Value;

/// The part of a message that names a page of a list.
#[derive(Deserialize)]
struct Listing {
    params: Asked,
}

#[derive(Deserialize)]
struct Asked {
    cursor: Value,
}

/// Whether the message names a page with something else than a text.
pub(super) fn is_wrong_in(message: &[u8]) -> bool {
    let name = br#""cursor""#;
    // Few messages ask for a page, and the others are not parsed once more.
    message.windows(name.len()).any(|part| part == name)
        && serde_json::from_slice::<Listing>(message)
            .is_ok_and(|Listing { params }| !params.cursor.is_string() && !params.cursor.is_null())
}

/// How a list is divided into pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pages {
    list: &'static str,
    size: u32,
}

impl Pages {
    /// Pages with at most `size` entries, at least 1. The cursors begin with the name of the list.
    pub(super) const fn of(list: &'static str, size: u32) -> Self {
        Self { list, size }
    }

    /// The most entries on a page.
    pub(super) const fn size(self) -> u32 {
        self.size
    }

    /// The number of entries before the page that is asked for.
    ///
    /// # Errors
    /// If the cursor is none that an answer of this list contains.
    pub(super) fn offset(self, asked: Option<PaginatedRequestParams>) -> Result<u32, ErrorData> {
        let Some(cursor) = asked.and_then(|asked| asked.cursor) else { return Ok(0) };
        let number = cursor.strip_prefix(self.list).and_then(|rest| rest.strip_prefix('.'));
        let offset: Option<u32> = number.and_then(|number| number.parse().ok());
        // A number can be written in several ways, and only one of them is a cursor.
        let known = offset.filter(|offset| self.begins_page(*offset) && self.cursor(*offset) == cursor);
        known.ok_or_else(|| self.unknown())
    }

    /// The cursor of the page after the one with this offset; `None` if the list of `total` entries ends with it.
    pub(super) fn next(self, offset: u32, total: u64) -> Option<String> {
        let next = offset.checked_add(self.size)?;
        (u64::from(next) < total).then(|| self.cursor(next))
    }

    /// The entries of the page that is asked for, and the cursor of the next one.
    ///
    /// # Errors
    /// Those of [`Self::offset`], and if the list ends before the page.
    pub(super) fn page<T>(
        self,
        asked: Option<PaginatedRequestParams>,
        all: Vec<T>,
    ) -> Result<(Vec<T>, Option<String>), ErrorData> {
        let offset = self.offset(asked)?;
        let total = all.len() as u64;
        if offset > 0 && u64::from(offset) >= total {
            return Err(self.unknown());
        }
        let page = all.into_iter().skip(offset as usize).take(self.size as usize).collect();
        Ok((page, self.next(offset, total)))
    }

    fn begins_page(self, offset: u32) -> bool {
        offset > 0 && offset.is_multiple_of(self.size)
    }

    fn cursor(self, offset: u32) -> String {
        format!("{}.{offset}", self.list)
    }

    fn unknown(self) -> ErrorData {
        let message = format!(
            "cursor: must be the nextCursor of an earlier answer to {}/list; leave it out for the first page",
            self.list
        );
        ErrorData::invalid_params(message, None)
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ErrorCode;
    use rstest::rstest;

    use super::*;

    const PAGES: Pages = Pages::of("tools", 2);

    fn asked(cursor: Option<&str>) -> Option<PaginatedRequestParams> {
        Some(PaginatedRequestParams::default().with_cursor(cursor.map(str::to_owned)))
    }

    #[rstest]
    #[case::nothing(0, 1)]
    #[case::one_page(2, 1)]
    #[case::a_rest(5, 3)]
    #[case::whole_pages(6, 3)]
    fn the_pages_are_the_list(#[case] total: u32, #[case] pages: usize) {
        let all: Vec<u32> = (0..total).collect();
        let (mut read, mut cursor, mut count) = (Vec::new(), None, 0);
        loop {
            let (page, next) = PAGES.page(asked(cursor.as_deref()), all.clone()).unwrap();
            assert!(page.len() <= 2);
            read.extend(page);
            count += 1;
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!((read, count), (all, pages));
    }

    #[rstest]
    #[case::number(r#"{"method":"tools/list","params":{"cursor":12345}}"#, true)]
    #[case::object(r#"{"params":{"_meta":{},"cursor":{}}}"#, true)]
    #[case::text(r#"{"params":{"cursor":"12345"}}"#, false)]
    #[case::null(r#"{"params":{"cursor":null}}"#, false)]
    #[case::none(r#"{"params":{}}"#, false)]
    #[case::of_a_tool(r#"{"params":{"name":"listMail","arguments":{"cursor":5}}}"#, false)]
    #[case::in_a_text(r#"{"params":{"name":"x","arguments":{"title":"\"cursor\":5"}}}"#, false)]
    fn a_cursor_is_a_text(#[case] message: &str, #[case] is_wrong: bool) {
        assert_eq!(is_wrong_in(message.as_bytes()), is_wrong);
    }

    #[test]
    fn a_list_begins_without_a_cursor() {
        assert_eq!(PAGES.offset(None), Ok(0));
        assert_eq!(PAGES.offset(asked(None)), Ok(0));
    }

    #[rstest]
    #[case::empty("")]
    #[case::of_another_list("prompts.2")]
    #[case::without_a_number("tools.")]
    #[case::the_first_page("tools.0")]
    #[case::within_a_page("tools.3")]
    #[case::another_spelling("tools.+2")]
    #[case::zeros("tools.02")]
    #[case::after_the_end("tools.6")]
    #[case::too_large("tools.99999999999")]
    fn other_cursors_are_refused(#[case] cursor: &str) {
        let error = PAGES.page(asked(Some(cursor)), vec![0; 6]).unwrap_err();
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
        assert!(error.message.contains("nextCursor") && error.message.contains("tools/list"), "{}", error.message);
    }

    #[test]
    fn the_last_page_has_no_next_one() {
        assert_eq!(PAGES.next(0, 3).as_deref(), Some("tools.2"));
        assert_eq!(PAGES.next(2, 3), None);
        assert_eq!(PAGES.next(u32::MAX, u64::MAX), None);
    }
}
