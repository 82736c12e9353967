//! Values drawn from the bytes of an input.

use kalends_recurrence::{
    CivilDate, CivilDateTime, Frequency, Rule, RuleBuilder, RuleError, Until, Weekday, WeekdayNum,
};
use kalends_time::{SignedDuration, Timestamp, Zone};

use crate::zone;

/// The rest of an input. After its end, every value is 0.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl Bytes<'_> {
    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub(crate) fn number(&mut self) -> i64 {
        i64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One of the choices.
    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> Option<T> {
        choices.get(usize::from(self.byte()).checked_rem(choices.len())?).copied()
    }

    /// Up to eight bytes.
    fn list(&mut self) -> Vec<u8> {
        (0..self.byte() % 9).map(|_| self.byte()).collect()
    }

    /// Mostly a time of the supported years, else any.
    pub(crate) fn timestamp(&mut self) -> Timestamp {
        /// 2026-03-01T00:00:00Z.
        const NEAR: Timestamp = Timestamp::from_micros(1_772_323_200_000_000);
        match self.byte() % 8 {
            0 => Timestamp::from_micros(self.number()),
            1 => NEAR + SignedDuration::days(self.number() % 700_000),
            2 => NEAR + SignedDuration::seconds(self.number() % 100_000_000),
            _ => NEAR + SignedDuration::minutes(30 * (i64::from(self.byte()) * 16 + i64::from(self.byte()))),
        }
    }

    pub(crate) fn zone(&mut self) -> Zone {
        let names =
            ["UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "Pacific/Apia", "Africa/Casablanca"];
        self.one_of(&names).map_or(Zone::UTC, zone)
    }

    fn weekday(&mut self) -> Weekday {
        use Weekday::{Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday};
        self.one_of(&[Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday]).unwrap_or(Monday)
    }

    /// A rule from any parts. Each byte names a part, and the next ones are its values.
    pub(crate) fn rule(&mut self) -> Result<Rule, RuleError> {
        use Frequency::{Daily, Hourly, Minutely, Monthly, Secondly, Weekly, Yearly};
        let frequencies = [Daily, Weekly, Monthly, Yearly, Hourly, Minutely, Secondly];
        let mut builder = Rule::builder(self.one_of(&frequencies).unwrap_or(Daily));
        for _ in 0..self.byte() % 8 {
            builder = self.part(builder);
        }
        builder.build()
    }

    fn part(&mut self, builder: RuleBuilder) -> RuleBuilder {
        let signed = |bytes: Vec<u8>| bytes.into_iter().map(u8::cast_signed);
        let wide = |bytes: Vec<u8>| bytes.into_iter().map(|byte| 3 * i16::from(byte.cast_signed()));
        match self.byte() % 16 {
            0 => builder.interval(self.byte().into()),
            1 => builder.interval(u32::try_from(self.number() & 0xFFFF_FFFF).unwrap_or(0)),
            2 => builder.by_month(self.list()),
            3 => builder.by_week_number(signed(self.list())),
            4 => builder.by_year_day(wide(self.list())),
            5 => builder.by_month_day(signed(self.list())),
            6 => builder.by_day([self.weekday(), self.weekday()]),
            7 => builder.by_day([WeekdayNum::nth(self.byte().cast_signed(), self.weekday())]),
            8 => builder.by_hour(self.list()),
            9 => builder.by_minute(self.list()),
            10 => builder.by_second(self.list()),
            11 => builder.by_position(wide(self.list())),
            12 => builder.week_start(self.weekday()),
            13 => builder.count(u32::try_from(self.number() & 0xFFFF_FFFF).unwrap_or(0)),
            14 => builder.until(self.until()),
            _ => builder.without_end(),
        }
    }

    fn until(&mut self) -> Until {
        match self.byte() % 3 {
            0 => Until::Timestamp(self.timestamp()),
            1 => Until::Date(CivilDate::from_days(self.number())),
            _ => Until::Local(CivilDateTime::from_micros(self.number())),
        }
    }
}
