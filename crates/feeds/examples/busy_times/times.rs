//! Civil times, and the forms in which feeds write them.

use kalends_time::{CivilDate, CivilDateTime, CivilTime, Timestamp, Zone};

pub(crate) const MINUTE: i64 = 60;
pub(crate) const DAY: i64 = 86_400;

/// A civil time, in seconds since 1970-01-01T00:00 on the same clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Local(pub(crate) i64);

impl Local {
    pub(crate) fn new(date: CivilDate, minutes: i64) -> Self {
        Self(date.as_days() * DAY + minutes * MINUTE)
    }

    #[must_use]
    pub(crate) const fn plus(self, seconds: i64) -> Self {
        Self(self.0 + seconds)
    }

    pub(crate) fn date(self) -> CivilDate {
        CivilDate::from_days(self.0.div_euclid(DAY))
    }

    fn year_month_day(self) -> (i64, i64, i64) {
        let (year, month, day) = self.date().year_month_day();
        (year.into(), month.into(), day.into())
    }

    pub(crate) fn month(self) -> i64 {
        self.year_month_day().1
    }

    pub(crate) fn day(self) -> i64 {
        self.year_month_day().2
    }

    fn first_of_month(self) -> CivilDate {
        self.date().plus_days(1 - self.day())
    }

    pub(crate) fn days_of_month(self) -> i64 {
        let next = Self::new(self.first_of_month().plus_days(31), 0).first_of_month();
        next.as_days() - self.first_of_month().as_days()
    }

    pub(crate) fn day_of_year(self) -> i64 {
        let year = i32::try_from(self.year_month_day().0).unwrap();
        self.date().as_days() - CivilDate::new(year, 1, 1).unwrap().as_days() + 1
    }

    /// The weekday. Monday is 0.
    pub(crate) fn weekday(self) -> i64 {
        self.date().weekday().into()
    }

    pub(crate) fn weekday_index(self) -> usize {
        self.date().weekday().into()
    }

    pub(crate) const fn hour(self) -> i64 {
        self.0.rem_euclid(DAY) / 3_600
    }

    pub(crate) const fn minute(self) -> i64 {
        self.0.rem_euclid(3_600) / 60
    }

    /// `YYYYMMDD`
    pub(crate) fn date_text(self) -> String {
        self.date().to_string().replace('-', "")
    }

    /// `YYYYMMDDTHHMMSS`
    pub(crate) fn text(self) -> String {
        format!("{}T{:02}{:02}{:02}", self.date_text(), self.hour(), self.minute(), self.0.rem_euclid(60))
    }

    fn civil(self) -> CivilDateTime {
        CivilDateTime { date: self.date(), time: CivilTime::from_micros(self.0.rem_euclid(DAY) * 1_000_000).unwrap() }
    }

    fn of(civil: CivilDateTime) -> Self {
        Self(civil.date.as_days() * DAY + civil.time.as_micros() / 1_000_000)
    }
}

/// The zones of dates and times that name none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Defaults {
    pub(crate) dates: Zone,
    pub(crate) times: Zone,
}

/// How an event writes its times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    /// Whole days, in the calendar's zone.
    Date,
    Utc,
    /// Without a zone, which means the calendar's.
    Floating,
    /// With this `TZID`, and the known zone with the same clocks; `None` if there is none.
    Zoned(&'static str, Option<Zone>),
}

impl Form {
    pub(crate) fn is_date(&self) -> bool {
        *self == Self::Date
    }

    fn zone(&self, defaults: Defaults) -> Option<Zone> {
        match self {
            Self::Utc => Some(Zone::UTC),
            Self::Date => Some(defaults.dates),
            Self::Floating => Some(defaults.times),
            Self::Zoned(_, zone) => *zone,
        }
    }

    /// The civil time in UTC. Approximate if no known zone has these clocks.
    pub(crate) fn utc(&self, local: Local, defaults: Defaults) -> Local {
        let zone = self.zone(defaults).unwrap_or(Zone::UTC);
        Local(zone.to_timestamp(local.civil()).unwrap().as_unix_seconds())
    }

    /// A property line with a time: name, parameters and value.
    pub(crate) fn property(&self, name: &str, local: Local) -> String {
        match self {
            Self::Date => format!("{name};VALUE=DATE:{}", local.date_text()),
            Self::Utc => format!("{name}:{}Z", local.text()),
            Self::Floating => format!("{name}:{}", local.text()),
            Self::Zoned(zone, _) => format!("{name};TZID={zone}:{}", local.text()),
        }
    }

    /// A property line with an instant, by the wall clock. In UTC if no known zone has these clocks.
    pub(crate) fn property_at(&self, name: &str, at: Timestamp, defaults: Defaults) -> String {
        match self.zone(defaults) {
            Some(zone) => self.property(name, Local::of(zone.to_civil(at))),
            None => utc_property(name, at),
        }
    }

    /// The civil time at an instant. In UTC if no known zone has these clocks.
    pub(crate) fn shows(&self, at: Timestamp, defaults: Defaults) -> Local {
        Local::of(self.zone(defaults).unwrap_or(Zone::UTC).to_civil(at))
    }
}

pub(crate) fn utc_property(name: &str, at: Timestamp) -> String {
    Form::Utc.property(name, Local(at.as_unix_seconds()))
}
