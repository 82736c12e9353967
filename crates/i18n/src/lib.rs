//! What public pages, and emails to guests, say in each language, and how they write dates and times.
//!
//! The texts are in `messages/`, one file for each language, in the format of Fluent. Dates, clocks and weeks follow the
//! Unicode Common Locale Data Repository (CLDR), which comes with ICU4X.
//!
//! ```
//! use kalends_i18n::Translator;
//! use kalends_time::CivilDate;
//!
//! let german = Translator::new("de".parse()?);
//! assert_eq!(german.date(CivilDate::new(2026, 3, 5).unwrap()), "Donnerstag, 5. März 2026");
//! assert_eq!(german.say("free-times").count(2).to_string(), "2 freie Termine");
//! # Ok::<(), kalends_kernel::LocaleError>(())
//! ```

mod calendar;
mod messages;

use std::sync::LazyLock;

use kalends_kernel::{Language, Locale};
use kalends_time::{CivilDate, CivilTime};

use crate::calendar::Calendar;
pub use crate::calendar::Week;
pub use crate::messages::Sentence;

/// A language's words, and a region's dates and times.
#[derive(Debug)]
pub struct Translator {
    locale: Locale,
    calendar: Calendar,
}

impl Translator {
    /// The translator of a locale.
    pub fn new(locale: Locale) -> Self {
        Self { locale, calendar: Calendar::of(locale) }
    }

    /// The translator of [`Locale::DEFAULT`], for pages and emails that are written in English only.
    pub fn english() -> &'static Self {
        static ENGLISH: LazyLock<Translator> = LazyLock::new(|| Translator::new(Locale::DEFAULT));
        &ENGLISH
    }

    /// The locale.
    pub fn locale(&self) -> Locale {
        self.locale
    }

    /// The language.
    pub fn language(&self) -> Language {
        self.locale.language()
    }

    /// The message with that identifier.
    pub fn say(&self, id: &'static str) -> Sentence {
        Sentence::new(self.language(), id)
    }

    /// A date with its year, such as `Thursday, 5 March 2026`.
    pub fn date(&self, date: CivilDate) -> String {
        self.calendar.date(date)
    }

    /// A date without its year, such as `Thursday 5 March`.
    pub fn day(&self, date: CivilDate) -> String {
        self.calendar.day(date)
    }

    /// The month of a date, such as `March 2026`.
    pub fn month(&self, date: CivilDate) -> String {
        self.calendar.month(date)
    }

    /// A time of day to the minute, such as `09:00` or `9:00 AM`.
    pub fn time(&self, time: CivilTime) -> String {
        self.calendar.time(time)
    }

    /// The week, from its first day.
    pub fn week(&self) -> Week {
        self.calendar.week()
    }

    /// The number of days from the first day of the week to that of the date: 0-6.
    pub fn day_of_week(&self, date: CivilDate) -> u8 {
        self.calendar.day_of_week(date)
    }

    /// A duration, such as `1 hour 30 minutes`.
    pub fn duration(&self, minutes: u32) -> String {
        let (hours, minutes) = (minutes / 60, minutes % 60);
        let in_hours = self.say("hours").count(hours);
        let in_minutes = self.say("minutes").count(minutes);
        let sentence = match (hours, minutes) {
            (0, _) => in_minutes,
            (_, 0) => in_hours,
            _ => self.say("hours-and-minutes").with("hours", in_hours).with("minutes", in_minutes),
        };
        sentence.to_string()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn in_locale(tag: &str) -> Translator {
        Translator::new(tag.parse().unwrap())
    }

    /// By CLDR 48. The space before AM does not break.
    #[rstest]
    #[case("en-GB", "Thursday, 5 March 2026", "Thursday 5 March", "March 2026", "09:05", "21:05")]
    #[case("en", "Thursday, March 5, 2026", "Thursday, March 5", "March 2026", "9:05\u{202f}AM", "9:05\u{202f}PM")]
    #[case("en-IT", "Thursday, 5 March 2026", "Thursday 5 March", "March 2026", "09:05", "21:05")]
    #[case("de-AT", "Donnerstag, 5. März 2026", "Donnerstag, 5. März", "März 2026", "09:05", "21:05")]
    #[case("fr", "jeudi 5 mars 2026", "jeudi 5 mars", "mars 2026", "09:05", "21:05")]
    #[case("fr-CA", "jeudi 5 mars 2026", "jeudi 5 mars", "mars 2026", "09 h 05", "21 h 05")]
    #[case("es", "jueves, 5 de marzo de 2026", "jueves, 5 de marzo", "marzo de 2026", "09:05", "21:05")]
    #[case("pt", "quinta-feira, 5 de março de 2026", "quinta-feira, 5 de março", "março de 2026", "09:05", "21:05")]
    #[case("ja", "2026年3月5日木曜日", "3月5日木曜日", "2026年3月", "9:05", "21:05")]
    fn dates_and_times_follow_the_locale(
        #[case] tag: &str,
        #[case] date: &str,
        #[case] day: &str,
        #[case] month: &str,
        #[case] morning: &str,
        #[case] evening: &str,
    ) {
        let words = in_locale(tag);
        let fifth = CivilDate::new(2026, 3, 5).unwrap();
        let time = |hour| words.time(CivilTime::new(hour, 5, 59).unwrap());
        let written = [words.date(fifth), words.day(fifth), words.month(fifth), time(9), time(21)];
        assert_eq!(written, [date, day, month, morning, evening]);
    }

    #[rstest]
    #[case("en-GB", "Monday", "Mon")]
    #[case("en-US", "Sunday", "Sun")]
    #[case("en-AE", "Monday", "Mon")]
    #[case("en-EG", "Saturday", "Sat")]
    #[case("de", "Montag", "Mo")]
    #[case("fr-FR", "lundi", "lun.")]
    #[case("fr-CA", "dimanche", "dim.")]
    #[case("es", "lunes", "lun")]
    #[case("es-MX", "domingo", "dom")]
    #[case("pt-BR", "domingo", "dom.")]
    #[case("ja", "日曜日", "日")]
    fn weeks_begin_as_the_region_has_it(#[case] tag: &str, #[case] first: &str, #[case] short: &str) {
        let words = in_locale(tag);
        let week = words.week();
        assert_eq!((week[0].1.as_str(), week[0].0.as_str()), (first, short));
        // 1 to 7 March 2026 are a week from Sunday to Saturday.
        for day in 1..=7 {
            let date = CivilDate::new(2026, 3, day).unwrap();
            let name = &week[usize::from(words.day_of_week(date))].1;
            assert!(words.day(date).contains(name.as_str()), "{name}: {}", words.day(date));
        }
    }

    /// The calendar is Gregorian and its digits are those of ASCII, also where others are usual.
    #[test]
    fn every_region_has_dates_and_times() {
        let letters = || 'A'..='Z';
        let pairs = letters().flat_map(|first| letters().map(move |second| format!("{first}{second}")));
        let regions: Vec<String> = pairs.chain(["419", "001", "150", "000", "999"].map(str::to_owned)).collect();
        let (date, time) = (CivilDate::new(2026, 3, 25).unwrap(), CivilTime::new(10, 45, 0).unwrap());
        for language in Language::ALL {
            for region in &regions {
                let words = in_locale(&format!("{}-{region}", language.code()));
                let (whole, day, month) = (words.date(date), words.day(date), words.month(date));
                assert!(whole.contains("2026") && whole.contains("25"), "{language:?}-{region}: {whole}");
                assert!(day.contains("25") && month.contains("2026"), "{language:?}-{region}: {day}, {month}");
                let time = words.time(time);
                assert!(time.contains("10") && time.contains("45"), "{language:?}-{region}: {time}");
                assert!(words.week().iter().all(|(short, name)| !short.is_empty() && !name.is_empty()));
            }
        }
    }

    #[rstest]
    #[case("en", 1, "1 minute")]
    #[case("en", 30, "30 minutes")]
    #[case("en", 60, "1 hour")]
    #[case("en", 61, "1 hour 1 minute")]
    #[case("en", 480, "8 hours")]
    #[case("de", 90, "1 Stunde 30 Minuten")]
    #[case("ja", 90, "1時間30分")]
    fn durations_are_written_out(#[case] tag: &str, #[case] minutes: u32, #[case] label: &str) {
        assert_eq!(in_locale(tag).duration(minutes), label);
    }
}
