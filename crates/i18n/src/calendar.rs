//! Dates, times of day and weeks, as a locale writes them.

use std::fmt;

use icu_calendar::{
    Date, Gregorian,
    types::{RataDie, Weekday},
    week::{WeekInformation, WeekPreferences},
};
use icu_datetime::{
    DateTimeFormatterPreferences, FixedCalendarDateTimeFormatter, NoCalendarFormatter,
    fieldsets::{E, MDE, T, YM, YMDE},
    input::Time,
};
use icu_locale_core::Locale as Tag;
// Only its feature `sync` is used.
use icu_provider as _;
use kalends_kernel::{Language, Locale};
use kalends_time::{CivilDate, CivilTime};

/// The days of a week in their order, each with its short and its full name.
pub type Week = [(String, String); 7];

/// The number of 1970-01-01, counted from the first day of the year 1 as 1.
const EPOCH: i64 = 719_163;

type Dates<Fields> = FixedCalendarDateTimeFormatter<Gregorian, Fields>;

/// The formats of a locale. The calendar is always Gregorian.
pub(crate) struct Calendar {
    date: Dates<YMDE>,
    day: Dates<MDE>,
    month: Dates<YM>,
    short_weekday: Dates<E>,
    weekday: Dates<E>,
    time: NoCalendarFormatter<T>,
    first_weekday: Weekday,
}

impl Calendar {
    pub(crate) fn of(locale: Locale) -> Self {
        let tags = [locale, Locale::of(locale.language()), Locale::of(Language::English)];
        #[expect(clippy::expect_used, reason = "the data of our languages is compiled in, and a test reads all of it")]
        tags.into_iter().find_map(Self::read).expect("the formats of English are compiled in")
    }

    /// The formats, if the data has them.
    fn read(locale: Locale) -> Option<Self> {
        let tag: Tag = locale.to_string().parse().ok()?;
        let formats = DateTimeFormatterPreferences::from(&tag);
        // ICU4X 2.4 does not load the digits for the months of Brazil. Portugal writes months in the same way.
        let months = match locale.language() {
            Language::Portuguese => DateTimeFormatterPreferences::from(&"pt-PT".parse::<Tag>().ok()?),
            _ => formats,
        };
        Some(Self {
            date: Dates::try_new(formats, YMDE::long()).ok()?,
            day: Dates::try_new(formats, MDE::long()).ok()?,
            month: Dates::try_new(months, YM::long()).ok()?,
            short_weekday: Dates::try_new(formats, E::short()).ok()?,
            weekday: Dates::try_new(formats, E::long()).ok()?,
            time: NoCalendarFormatter::try_new(formats, T::hm()).ok()?,
            first_weekday: WeekInformation::try_new(WeekPreferences::from(&tag)).ok()?.first_weekday,
        })
    }

    pub(crate) fn date(&self, date: CivilDate) -> String {
        self.date.format(&gregorian(date)).to_string()
    }

    pub(crate) fn day(&self, date: CivilDate) -> String {
        self.day.format(&gregorian(date)).to_string()
    }

    pub(crate) fn month(&self, date: CivilDate) -> String {
        self.month.format(&gregorian(date)).to_string()
    }

    pub(crate) fn time(&self, time: CivilTime) -> String {
        let (hour, minute, _) = time.hour_minute_second();
        let small = |part: u32| u8::try_from(part).unwrap_or_default();
        // An hour and a minute of a day are always a time.
        let time = Time::try_new(small(hour), small(minute), 0, 0).unwrap_or(Time::start_of_day());
        self.time.format(&time).to_string()
    }

    pub(crate) fn week(&self) -> Week {
        // 1970-01-01 was a Thursday, so the day that is four days later was a Monday.
        let monday = CivilDate::from_days(4);
        std::array::from_fn(|place| {
            let day = i64::from(self.first_day()) + i64::try_from(place).unwrap_or_default();
            let date = gregorian(monday.plus_days(day));
            (self.short_weekday.format(&date).to_string(), self.weekday.format(&date).to_string())
        })
    }

    pub(crate) fn day_of_week(&self, date: CivilDate) -> u8 {
        (date.weekday() + 7 - self.first_day()) % 7
    }

    /// The first day of the week, counted from Monday.
    fn first_day(&self) -> u8 {
        match self.first_weekday {
            Weekday::Monday => 0,
            Weekday::Tuesday => 1,
            Weekday::Wednesday => 2,
            Weekday::Thursday => 3,
            Weekday::Friday => 4,
            Weekday::Saturday => 5,
            Weekday::Sunday => 6,
        }
    }
}

fn gregorian(date: CivilDate) -> Date<Gregorian> {
    Date::from_rata_die(RataDie::new(EPOCH + date.as_days()), Gregorian)
}

impl fmt::Debug for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calendar").field("first_weekday", &self.first_weekday).finish_non_exhaustive()
    }
}
