//! Parses the search into values of the domain.

use kalends_calendars::{EXPANDED_MAX, SearchToken, Words};
use kalends_kernel::{EARLIEST_TIME, FieldError, FieldErrors, Page};
use kalends_time::{Span, Timestamp};

use super::{FirstOccurrence, SearchEvents};
use crate::fields::instant;

/// A checked search, with identifiers as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedSearch {
    /// The words.
    pub words: Words,
    /// Only events that start in this window.
    pub window: Span,
    /// Only events of this calendar.
    pub calendar: Option<String>,
    /// Only events of this agent's calendars.
    pub agent: Option<String>,
    /// Where to continue; `None` to begin.
    pub cursor: Option<SearchToken>,
    /// The maximum number of events in the answer.
    pub limit: u32,
}

impl SearchEvents {
    /// Checks every parameter.
    ///
    /// # Errors
    /// Lists every invalid parameter.
    pub fn parse(&self, now: Timestamp) -> Result<WantedSearch, FieldErrors> {
        let mut errors = FieldErrors::default();
        let words = errors.take(Words::parse(&self.q));
        let cursor = errors.take(self.cursor.as_deref().map(cursor).transpose());
        let mut bound = |param: &str, text: Option<&str>| text.and_then(|text| errors.take(instant(param, text)));
        let start_after = bound("start_after", self.start_after.as_deref());
        let start_before = bound("start_before", self.start_before.as_deref());
        let page = errors.take_all(Page::parse(self.limit, None));
        let (Some(words), Some(cursor), Some(page)) = (words, cursor, page) else { return Err(errors) };
        errors.finish()?;
        let window = match cursor {
            Some(SearchToken { window, .. }) => window,
            None => window(start_after, start_before, now)?,
        };
        let (calendar, agent) = (self.calendar_id.clone(), self.agent_id.clone());
        Ok(WantedSearch { words, window, calendar, agent, cursor, limit: page.limit })
    }
}

fn cursor(text: &str) -> Result<SearchToken, FieldError> {
    let message = "must be the next of an earlier answer of this search; leave it out to begin";
    SearchToken::read(text).ok_or_else(|| FieldError::new("cursor", message))
}

/// The window of a search: at most [`EXPANDED_MAX`], within the years that requests may name.
fn window(after: Option<Timestamp>, before: Option<Timestamp>, now: Timestamp) -> Result<Span, FieldError> {
    let (after, before) = match (after, before) {
        (Some(after), Some(before)) => (after, before),
        (Some(after), None) => (after, (after + EXPANDED_MAX).min(Timestamp::HORIZON)),
        (None, Some(before)) => ((before - EXPANDED_MAX).max(EARLIEST_TIME), before),
        (None, None) => (now, (now + EXPANDED_MAX).min(Timestamp::HORIZON)),
    };
    let window = Span::new(after, before)
        .map_err(|_| FieldError::new("start_before", format!("must be after start_after ({after}), got {before}")))?;
    if window.length() > EXPANDED_MAX {
        let days = EXPANDED_MAX.as_seconds() / 86_400;
        let message = format!("must be at most {days} days after start_after, got {before}; search in parts");
        return Err(FieldError::new("start_before", message));
    }
    Ok(window)
}

impl From<Span> for FirstOccurrence {
    fn from(span: Span) -> Self {
        Self { start_time: span.start(), end_time: span.end() }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const NOW: &str = "2026-03-02T08:00:00Z";

    fn search(fields: &[(&str, &str)]) -> Result<WantedSearch, FieldErrors> {
        let mut search = SearchEvents { q: "dentist".to_owned(), ..SearchEvents::default() };
        for (name, value) in fields {
            let value = (*value).to_owned();
            match *name {
                "q" => search.q = value,
                "start_after" => search.start_after = Some(value),
                "start_before" => search.start_before = Some(value),
                "limit" => search.limit = value.parse().ok(),
                _ => search.cursor = Some(value),
            }
        }
        search.parse(NOW.parse().unwrap())
    }

    #[rstest]
    #[case::from_now(&[], "2026-03-02T08:00:00Z", "2027-03-03T08:00:00Z")]
    #[case::from_a_time(&[("start_after", "2026-01-01T00:00:00Z")], "2026-01-01T00:00:00Z", "2027-01-02T00:00:00Z")]
    #[case::up_to_a_time(&[("start_before", "2026-01-01T00:00:00Z")], "2024-12-31T00:00:00Z", "2026-01-01T00:00:00Z")]
    #[case::the_first_times(&[("start_before", "1970-01-02T00:00:00Z")], "1970-01-01T00:00:00Z", "1970-01-02T00:00:00Z")]
    #[case::the_last_times(&[("start_after", "2099-12-31T00:00:00Z")], "2099-12-31T00:00:00Z", "2100-01-01T00:00:00Z")]
    fn a_search_has_a_window(#[case] fields: &[(&str, &str)], #[case] from: &str, #[case] to: &str) {
        let window = search(fields).unwrap().window;
        assert_eq!((window.start(), window.end()), (from.parse().unwrap(), to.parse().unwrap()));
    }

    #[rstest]
    #[case::no_word(&[("q", " \t")], &["q"])]
    #[case::too_many_words(&[("q", "a b c d e f g h i j k")], &["q"])]
    #[case::several(&[("q", ""), ("start_after", "today"), ("limit", "0")], &["q", "start_after", "limit"])]
    #[case::no_cursor(&[("cursor", "abc")], &["cursor"])]
    #[case::backwards(&[("start_after", NOW), ("start_before", NOW)], &["start_before"])]
    #[case::long(&[("start_after", NOW), ("start_before", "2027-03-03T08:00:01Z")], &["start_before"])]
    fn invalid_parameters_are_named(#[case] fields: &[(&str, &str)], #[case] params: &[&str]) {
        let errors = search(fields).unwrap_err();
        assert_eq!(errors.iter().map(|error| error.param.as_str()).collect::<Vec<_>>(), params);
    }
}
