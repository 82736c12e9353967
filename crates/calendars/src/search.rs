//! Searching events by words.

use std::{
    borrow::Cow,
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use kalends_kernel::{CalendarId, EventId, FieldError, base64url, from_base64url};
use kalends_time::{Span, Timestamp};
use unicode_normalization::{UnicodeNormalization as _, char::canonical_combining_class};
use uuid::Uuid;

use crate::{EXPANDED_MAX, Event, Repeating, bytes::take};

/// The maximum number of characters of a search text.
pub const QUERY_MAX: usize = 200;
/// The maximum number of words of a search text.
pub const WORDS_MAX: usize = 10;
/// The maximum number of events that one search opens.
pub const SEARCHED_MAX: usize = 5_000;

/// The words of a search, without case and accents.
///
/// Titles are sealed at rest, so a search opens the events of a window and compares them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words(Vec<String>);

impl Words {
    /// Reads the words of a text, which whitespace separates.
    ///
    /// # Errors
    /// For the field `q`: the text has no word, more than [`WORDS_MAX`], or more than [`QUERY_MAX`] characters.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let error = |message| Err(FieldError::new("q", message));
        let characters = text.chars().count();
        if characters > QUERY_MAX {
            return error(format!("must have at most {QUERY_MAX} characters, got {characters}"));
        }
        let folded = folded(text);
        let count = folded.split_whitespace().count();
        if !(1..=WORDS_MAX).contains(&count) {
            return error(format!("must have 1 to {WORDS_MAX} words to search for, got {count}"));
        }
        // The longest word is the least likely to be found, so it is looked for first.
        let distinct: BTreeSet<(Reverse<usize>, &str)> =
            folded.split_whitespace().map(|word| (Reverse(word.len()), word)).collect();
        Ok(Self(distinct.into_iter().map(|(_, word)| word.to_owned()).collect()))
    }

    /// Whether each word is in the title, the description or the location of the event, also within a longer word.
    pub fn are_in(&self, event: &Event) -> bool {
        let texts = [Some(&event.title), event.description.as_ref(), event.location.as_ref()];
        let texts: Vec<Cow<'_, str>> = texts.into_iter().flatten().map(|text| folded(text)).collect();
        self.0.iter().all(|word| texts.iter().any(|text| text.contains(word.as_str())))
    }
}

/// A text without case and accents: `Größe` becomes `grosse`, and full-width letters become plain ones.
fn folded(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(text.to_ascii_lowercase())
        } else {
            Cow::Borrowed(text)
        };
    }
    let mut plain = String::with_capacity(text.len());
    for character in text.nfkd().flat_map(char::to_lowercase) {
        match character {
            accent if is_accent(accent) => {}
            'ß' => plain.push_str("ss"),
            'æ' => plain.push_str("ae"),
            'œ' => plain.push_str("oe"),
            // Unicode does not decompose these.
            'ø' => plain.push('o'),
            'ł' => plain.push('l'),
            'đ' => plain.push('d'),
            'ı' => plain.push('i'),
            'ς' => plain.push('σ'),
            other => plain.push(other),
        }
    }
    Cow::Owned(plain)
}

/// Whether it is a mark above or below a letter, or a Hebrew or Arabic vowel point. Marks that are letters to their
/// readers, such as the voicing of Japanese syllables, are none.
fn is_accent(character: char) -> bool {
    matches!(canonical_combining_class(character), 10..=35 | 200..)
}

/// A position in the order in which events are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SearchPosition {
    /// The calendar.
    pub calendar: CalendarId,
    /// The start of the event, or of the first occurrence of the series in the window.
    pub start: Timestamp,
    /// The event.
    pub id: EventId,
}

/// An event to search.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// A one-off event, an override or a series.
    pub event: Event,
    /// The first occurrence of a series in the window; `None` for other events.
    pub first: Option<Span>,
}

impl SearchPosition {
    /// The position of an event that is not a series.
    pub const fn of(event: &Event) -> Self {
        Self { calendar: event.calendar, start: event.times.span.start(), id: event.id }
    }
}

impl Candidate {
    /// An event that is not a series.
    pub const fn single(event: Event) -> Self {
        Self { event, first: None }
    }

    /// Its position.
    pub fn position(&self) -> SearchPosition {
        let position = SearchPosition::of(&self.event);
        SearchPosition { start: self.first.map_or(position.start, Span::start), ..position }
    }
}

/// Events to search, by their positions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Candidates {
    /// The events.
    pub data: Vec<Candidate>,
    /// Whether others may follow.
    pub more: bool,
}

/// Events of one kind that were read up to a limit.
#[derive(Debug)]
pub struct CandidateRows {
    /// The events, by position.
    pub rows: Vec<Candidate>,
    /// Whether the limit left some out. There is a row then.
    pub cut: bool,
}

impl CandidateRows {
    /// The position up to which it is complete; `None` if nothing was left out.
    pub fn complete_until(&self) -> Option<SearchPosition> {
        self.rows.last().filter(|_| self.cut).map(Candidate::position)
    }
}

impl Candidates {
    /// Two kinds in one order, up to where both are complete, and at most `limit`.
    pub fn merged(singles: CandidateRows, series: CandidateRows, limit: usize) -> Self {
        let complete = [singles.complete_until(), series.complete_until()].into_iter().flatten().min();
        let mut data: Vec<Candidate> = singles.rows.into_iter().chain(series.rows).collect();
        data.retain(|candidate| complete.is_none_or(|complete| candidate.position() <= complete));
        data.sort_by_key(Candidate::position);
        let more = complete.is_some() || data.len() > limit;
        data.truncate(limit);
        Self { data, more }
    }
}

/// The series with an occurrence that starts in the window, each with the first one, by position: those after `after`, up
/// to `until`.
pub fn series_to_search(
    repeating: &[Repeating],
    window: Span,
    after: Option<SearchPosition>,
    until: Option<SearchPosition>,
) -> Vec<(EventId, Span)> {
    let mut found: Vec<(SearchPosition, Span)> = repeating
        .iter()
        .filter_map(|series| {
            let first = first_in(series, window)?;
            Some((SearchPosition { calendar: series.calendar, start: first.start(), id: series.id }, first))
        })
        .filter(|(position, _)| after.is_none_or(|after| *position > after))
        .filter(|(position, _)| until.is_none_or(|until| *position <= until))
        .collect();
    found.sort_by_key(|(position, _)| *position);
    found.into_iter().map(|(position, first)| (position.id, first)).collect()
}

/// The series that were read, each with its first occurrence in the window, in their order.
pub fn with_first(series: Vec<Event>, firsts: &[(EventId, Span)]) -> Vec<Candidate> {
    let firsts: BTreeMap<EventId, Span> = firsts.iter().copied().collect();
    let first_of = |event: &Event| firsts.get(&event.id).copied();
    series.into_iter().map(|event| Candidate { first: first_of(&event), event }).collect()
}

/// The first occurrence that starts in the window.
fn first_in(series: &Repeating, window: Span) -> Option<Span> {
    series.occurrences(window).find(|span| span.start() >= window.start())
}

/// Whether a search with these words finds the series in the window, so that it need not name an override of it.
pub fn finds_series(words: &Words, series: &Event, window: Span) -> bool {
    series.repeating().is_some_and(|repeating| first_in(&repeating, window).is_some()) && words.are_in(series)
}

/// Where a search continues.
///
/// The text form is opaque to callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchToken {
    /// The window of the search.
    pub window: Span,
    /// The last event that was searched.
    pub after: SearchPosition,
}

/// The first byte of a token, which identifies the format.
const FORMAT: u8 = 1;

impl SearchToken {
    /// The text form.
    pub fn to_text(self) -> String {
        let Self { window, after } = self;
        let mut bytes = vec![FORMAT];
        bytes.extend(window.start().as_micros().to_be_bytes());
        bytes.extend(window.end().as_micros().to_be_bytes());
        bytes.extend(after.calendar.uuid().as_bytes());
        bytes.extend(after.start.as_micros().to_be_bytes());
        bytes.extend(after.id.uuid().as_bytes());
        base64url(&bytes)
    }

    /// Reads a text form; `None` if it is none that a search returns.
    pub fn read(text: &str) -> Option<Self> {
        let bytes = from_base64url(text)?;
        let (FORMAT, mut rest) = bytes.split_first().map(|(format, rest)| (*format, rest))? else { return None };
        let mut instant = || Some(Timestamp::from_micros(i64::from_be_bytes(take(&mut rest)?)));
        let (start, end) = (instant()?, instant()?);
        let calendar = CalendarId::from_uuid(Uuid::from_bytes(take(&mut rest)?));
        let at = Timestamp::from_micros(i64::from_be_bytes(take(&mut rest)?));
        let id = EventId::from_uuid(Uuid::from_bytes(take(&mut rest)?));
        let window = Span::new(start, end).ok()?;
        let served = start >= Timestamp::EPOCH && end <= Timestamp::HORIZON && window.length() <= EXPANDED_MAX;
        let served = served && window.contains(at);
        let token = Self { window, after: SearchPosition { calendar, start: at, id } };
        (rest.is_empty() && served).then_some(token)
    }
}

#[cfg(test)]
mod tests {
    use kalends_time::SignedDuration;
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::case_and_accents("CAFÉ Übung", "cafe ubung")]
    #[case::a_letter_and_its_mark("Cafe\u{301}", "cafe")]
    #[case::sharp_s("Größe GRÖSSE ẞ", "grosse grosse ss")]
    #[case::ligatures("Æsop œuvre ﬁn", "aesop oeuvre fin")]
    #[case::strokes("Łódź Øresund Đorđe", "lodz oresund dorde")]
    #[case::turkish("İstanbul ılık", "istanbul ilik")]
    #[case::greek("ΟΔΟΣ Ὀδός", "οδοσ οδοσ")]
    #[case::full_width("ＦＵＬＬ　ｗｉｄｔｈ", "full width")]
    #[case::vietnamese("Nguyễn", "nguyen")]
    #[case::hebrew("שָׁלוֹם", "שלום")]
    #[case::voicing_is_kept("がか", "か\u{3099}か")]
    #[case::hangul_is_kept("한국", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}")]
    #[case::vowel_signs_are_kept("हिन्दी", "हिन्दी")]
    #[case::plain("plain text 7", "plain text 7")]
    fn texts_are_folded(#[case] text: &str, #[case] plain: &str) {
        assert_eq!(folded(text), plain);
        assert_eq!(folded(&folded(text)), plain);
    }

    #[rstest]
    #[case::words("Zahn  arzt\tzahn", Some(2))]
    #[case::the_most("1 2 3 4 5 6 7 8 9 10", Some(10))]
    #[case::too_many("1 2 3 4 5 6 7 8 9 10 11", None)]
    #[case::repeated("a A á b a a a a a a", Some(2))]
    #[case::too_many_repeated("a a a a a a a a a a a", None)]
    #[case::none(" \u{3000} ", None)]
    fn words_are_bounded(#[case] text: &str, #[case] count: Option<usize>) {
        assert_eq!(Words::parse(text).ok().map(|words| words.0.len()), count);
        assert!(Words::parse(&"ü".repeat(QUERY_MAX)).is_ok());
        assert!(Words::parse(&"ü".repeat(QUERY_MAX + 1)).is_err());
    }

    proptest! {
        /// A text has each of its own parts, in any case and with or without accents.
        #[test]
        fn a_text_has_its_own_parts(text in "[a-zA-Z0-9 ÄÖÜßéèñçøł語]{0,40}", from in 0..40_usize, length in 1..10_usize) {
            let plain = folded(&text).into_owned();
            let part: String = text.chars().skip(from).take(length).collect();
            for part in [part.clone(), part.to_lowercase(), part.to_uppercase(), folded(&part).into_owned()] {
                prop_assert!(plain.contains(&*folded(&part)), "{:?} in {:?}", part, plain);
            }
        }

        /// A cursor is read as written, and no other text is one.
        #[test]
        fn cursors_round_trip(start in 0..4_000_000_000_i64, days in 1..=366_i64, ids in any::<[u128; 2]>(), cut in 0..200_usize) {
            let start = Timestamp::from_micros(start * 1_000_000);
            let end = (start + SignedDuration::days(days)).min(Timestamp::HORIZON);
            let window = Span::new(start, end).unwrap();
            let (calendar, id) = (CalendarId::from_uuid(Uuid::from_u128(ids[0])), EventId::from_uuid(Uuid::from_u128(ids[1])));
            let token = SearchToken { window, after: SearchPosition { calendar, start, id } };
            let text = token.to_text();
            prop_assert_eq!(SearchToken::read(&text), Some(token));
            if let Some(shorter) = text.get(..cut).filter(|shorter| *shorter != text) {
                prop_assert_eq!(SearchToken::read(shorter), None);
            }
        }
    }

    #[test]
    fn every_character_is_folded_at_once_and_in_any_case() {
        for character in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
            let plain = folded(character.encode_utf8(&mut [0; 4])).into_owned();
            assert_eq!(folded(&plain), plain, "{character:?}");
            assert_eq!(folded(&character.to_lowercase().to_string()), plain, "{character:?}");
        }
    }

    #[test]
    fn a_cursor_with_a_longer_window_is_refused() {
        let start = Timestamp::EPOCH;
        let after =
            SearchPosition { calendar: CalendarId::from_uuid(Uuid::nil()), start, id: EventId::from_uuid(Uuid::nil()) };
        let (micro, longest) = (SignedDuration::micros(1), start + EXPANDED_MAX);
        let read = |window| SearchToken::read(&SearchToken { window, after }.to_text());
        assert!(read(Span::new(start, longest).unwrap()).is_some());
        assert!(read(Span::new(start, longest + micro).unwrap()).is_none());
        let early = Span::new(start - micro, start).unwrap();
        assert!(read(early).is_none());
    }
}
