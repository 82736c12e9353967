//! The parameters in the address of a page.

use kalends_kernel::Locale;
use kalends_time::{CivilDate, Span, Timestamp, Zone};

use crate::time::Month;

/// The parameters of a page. An invalid language, month, day or zone counts as missing: the page can show something
/// sensible without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageQuery {
    /// `month=2026-03`
    pub month: Option<Month>,
    /// `day=2026-03-05`
    pub day: Option<CivilDate>,
    /// `tz=Europe/Berlin`
    pub zone: Option<Zone>,
    /// `lang=de`
    pub lang: Option<Locale>,
    /// `slot=2026-03-05T09:00:00Z`
    pub slot: Option<ChosenSlot>,
}

/// The slot that a visitor chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChosenSlot {
    /// The slot that begins then, if there is one.
    At(Timestamp),
    /// Not a time: [`crate::Notice::Nonsense`].
    Nonsense,
}

impl PageQuery {
    /// Reads the decoded parameters of a query. Unknown ones are ignored. If one is repeated, the first one counts.
    pub fn read<'a>(parameters: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut query = Self::default();
        for (name, value) in parameters {
            match name {
                "month" => query.month = query.month.or_else(|| value.parse().ok()),
                "day" => query.day = query.day.or_else(|| value.parse().ok()),
                "tz" => query.zone = query.zone.or_else(|| value.parse().ok()),
                "lang" => query.lang = query.lang.or_else(|| value.parse().ok()),
                "slot" => {
                    let slot = value.parse().map_or(ChosenSlot::Nonsense, ChosenSlot::At);
                    query.slot = query.slot.or(Some(slot));
                }
                _ => {}
            }
        }
        query
    }

    /// The month to show in the zone: the requested one, else the month of the requested day, else that of the first
    /// offer, else the first month. The result is always a month in which bookings may begin.
    pub fn month_to_show(&self, zone: Zone, bookable: Span, first_offer: Option<Span>) -> Month {
        let (first, last) = months(bookable, zone);
        let of_offer = first_offer.map(|offer| Month::at(offer.start(), zone));
        let month = self.month.or_else(|| self.day.and_then(Month::of)).or(of_offer).unwrap_or(first);
        month.clamp(first, last)
    }
}

/// The first and the last month in which a booking may begin.
pub(crate) fn months(bookable: Span, zone: Zone) -> (Month, Month) {
    let just_before_the_end = bookable.end() - kalends_time::SignedDuration::micros(1);
    (Month::at(bookable.start(), zone), Month::at(just_before_the_end, zone))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn span(from: &str, to: &str) -> Span {
        Span::new(from.parse().unwrap(), to.parse().unwrap()).unwrap()
    }

    #[test]
    fn invalid_parameters_count_as_missing() {
        let read = PageQuery::read([
            ("month", "March"),
            ("day", "2026-02-30"),
            ("tz", "Mars/Olympus"),
            ("lang", "<b>"),
            ("utm", "x"),
        ]);
        assert_eq!(read, PageQuery::default());
    }

    #[test]
    fn an_invalid_slot_differs_from_a_missing_one() {
        assert_eq!(PageQuery::read([("slot", "yesterday")]).slot, Some(ChosenSlot::Nonsense));
        let at = "2026-03-05T09:00:00Z";
        assert_eq!(PageQuery::read([("slot", at)]).slot, Some(ChosenSlot::At(at.parse().unwrap())));
        assert_eq!(PageQuery::read([("slot", at), ("slot", "x")]).slot, Some(ChosenSlot::At(at.parse().unwrap())));
    }

    #[rstest]
    #[case::first_of_the_window(&[], None, "2026-03")]
    #[case::month(&[("month", "2026-04"), ("day", "2026-03-05")], None, "2026-04")]
    #[case::month_of_the_day(&[("day", "2026-04-05")], None, "2026-04")]
    #[case::month_of_the_first_offer(&[], Some("2026-04-30T22:30:00Z"), "2026-05")]
    #[case::too_early(&[("month", "2025-01")], None, "2026-03")]
    #[case::too_late(&[("month", "2030-01")], None, "2026-05")]
    fn the_month_follows_from_query_and_offers(
        #[case] query: &[(&str, &str)],
        #[case] offer: Option<&str>,
        #[case] expected: &str,
    ) {
        let zone = "Europe/Berlin".parse().unwrap();
        // The window is from March to May in Berlin, and from February to April in UTC.
        let bookable = span("2026-02-28T23:00:00Z", "2026-04-30T23:00:00Z");
        let offer = offer.map(|at| span(at, "2026-04-30T23:00:00Z"));
        let read = PageQuery::read(query.iter().copied());
        assert_eq!(read.month_to_show(zone, bookable, offer).to_string(), expected);
    }

    #[test]
    fn a_window_that_ends_with_a_month_does_not_reach_the_next() {
        let bookable = span("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z");
        let (first, last) = months(bookable, Zone::UTC);
        assert_eq!((first.to_string(), last.to_string()), ("2026-03".into(), "2026-03".into()));
    }
}
