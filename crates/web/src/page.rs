//! The facts that every page of a booking page shows, and how they are shown to its reader.

use std::{fmt::Display, sync::OnceLock};

use kalends_bookings::{Colour, Question};
use kalends_i18n::{Sentence, Translator};
use kalends_kernel::Locale;
use kalends_time::{Timestamp, Zone};

use crate::link::{Path, with};
use crate::time::zone_label;

/// The public facts of a booking page.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// The path of the page that shows these facts: `/book/<slug>`, or the page that moves a booking. The page's links
    /// and forms lead there.
    pub path: &'a Path,
    /// The title of the booking page.
    pub title: &'a str,
    /// The host's description, as plain text with line breaks.
    pub description: Option<&'a str>,
    /// The host's name.
    pub host: Option<&'a str>,
    /// The duration in minutes.
    pub duration_minutes: u32,
    /// The zone of the page's availability rules.
    pub zone: Zone,
    /// Where bookings take place.
    pub location: Option<&'a str>,
    /// Whether bookings take place in a call. Its address is shown only to those who have booked.
    pub has_call: bool,
    /// The colour of the page's buttons.
    pub accent: Option<Colour>,
    /// Whether other sites may show the page in a frame. Links to pages that they may not show open in a window of their
    /// own.
    pub embedded: bool,
    /// What guests are asked.
    pub questions: &'a [Question],
    /// What is said above a preview, on which nothing can be booked; `None` for guests.
    pub preview: Option<&'a str>,
}

/// Who reads a page.
#[derive(Debug)]
pub struct Reader {
    locale: Locale,
    /// Built when the first page needs it.
    words: OnceLock<Translator>,
    /// The language in the address of the page, which its links keep.
    asked: Option<Locale>,
}

/// How times are shown to the visitor.
#[derive(Debug, Clone, Copy)]
pub struct DisplaySettings<'a> {
    /// The zone of all dates and times.
    pub zone: Zone,
    /// The reader, whose locale decides how they are written.
    pub reader: &'a Reader,
}

impl Page<'_> {
    /// The style sheet of the page's own colour.
    pub(crate) fn style(&self) -> Option<String> {
        self.accent.map(crate::accent::style)
    }
}

impl Reader {
    /// The reader of a page whose address asks for the language `asked`, or else for none. `accept_language` is the header
    /// of that name.
    pub fn new(asked: Option<Locale>, accept_language: Option<&str>) -> Self {
        let accepted = Locale::accepted(accept_language.unwrap_or_default());
        let locale = asked.map_or(accepted, |asked| asked.with_region_of(accepted));
        Self { locale, words: OnceLock::new(), asked }
    }

    /// A program, or a person about whom nothing is known.
    pub fn english() -> Self {
        Self { locale: Locale::DEFAULT, words: OnceLock::new(), asked: None }
    }

    /// The locale.
    pub fn locale(&self) -> Locale {
        self.locale
    }

    pub(crate) fn words(&self) -> &Translator {
        self.words.get_or_init(|| Translator::new(self.locale))
    }

    pub(crate) fn asked(&self) -> Option<Locale> {
        self.asked
    }

    /// The address of a page or a form in the same language. `address` has no query.
    pub(crate) fn keeps(&self, address: &impl Display) -> String {
        let asked = self.asked.as_ref().map(|asked| ("lang", asked as &dyn Display));
        with(&address.to_string(), &asked.into_iter().collect::<Vec<_>>())
    }
}

impl<'a> DisplaySettings<'a> {
    /// The message with that identifier.
    pub(crate) fn say(self, id: &'static str) -> Sentence {
        self.reader.words().say(id)
    }

    /// The address of a page that shows times in the same way.
    pub(crate) fn link(self, path: &Path, parameters: &[(&str, &dyn Display)]) -> String {
        link(path, parameters, self.zone, self.reader.asked)
    }

    pub(crate) fn time(self, at: Timestamp) -> String {
        self.reader.words().time(self.zone.to_civil(at).time)
    }

    pub(crate) fn date(self, at: Timestamp) -> String {
        self.reader.words().date(self.zone.to_civil(at).date)
    }

    pub(crate) fn day(self, at: Timestamp) -> String {
        self.reader.words().day(self.zone.to_civil(at).date)
    }

    pub(crate) fn duration(self, page: &Page<'_>) -> String {
        self.reader.words().duration(page.duration_minutes)
    }

    pub(crate) fn zone_at(self, at: Timestamp) -> String {
        zone_label(self.zone, at)
    }

    /// The end of a span that begins at `start`, with its date if the date differs.
    pub(crate) fn until(self, start: Timestamp, end: Timestamp) -> String {
        let (start, end) = (self.zone.to_civil(start), self.zone.to_civil(end));
        let words = self.reader.words();
        let time = words.time(end.time);
        if start.date == end.date { time } else { format!("{time}, {}", words.date(end.date)) }
    }
}

/// The address of a page that shows times in a zone, in the language `asked`.
pub(crate) fn link(path: &Path, parameters: &[(&str, &dyn Display)], zone: Zone, asked: Option<Locale>) -> String {
    let zone: (&str, &dyn Display) = ("tz", &zone);
    let asked = asked.as_ref().map(|asked| ("lang", asked as &dyn Display));
    path.with(&parameters.iter().copied().chain([zone]).chain(asked).collect::<Vec<_>>())
}
