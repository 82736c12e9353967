//! A week as a picture: the hours of each day as a bar. A table beside it says the same.

use std::fmt::Write as _;

use super::hours::{MIDNIGHT, OpenHours, WEEK, Week, week_text};
use crate::chart::Bar;

/// The units of the picture that a minute takes. It grows with the page.
const MINUTE: u64 = 2;
/// The space to the left of the bars, for the names of the days.
const LEFT: u64 = 300;
/// The space to the right of the bars, for half of the last name of an hour.
const RIGHT: u64 = 160;
/// The space that a day takes, and the height of its bar.
const ROW: u64 = 170;
const BAR: u64 = 110;
/// The space below the days, for the names of the hours.
const BELOW: u64 = 150;
/// The distance of a text from the line above it.
const APART: u64 = 120;
/// The hours that have a name and a line.
const NAMED: [(&str, u64); 5] = [("00", 0), ("06", 6), ("12", 12), ("18", 18), ("24", 24)];

/// The picture of a week.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WeekPicture<'a> {
    /// The hours of each day; `None` if every time is open.
    pub week: Option<&'a Week>,
}

/// A text of the picture, with the middle of its base line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Caption {
    pub x: u64,
    pub y: u64,
    pub text: &'static str,
}

impl WeekPicture<'_> {
    /// The width of the picture.
    pub(crate) fn width(&self) -> u64 {
        LEFT + u64::from(MIDNIGHT) * MINUTE + RIGHT
    }

    /// The height of the picture.
    pub(crate) fn height(&self) -> u64 {
        self.ground() + BELOW
    }

    /// The height at which the days end.
    fn ground(&self) -> u64 {
        rows().fold(0, |_, (top, _)| top + ROW)
    }

    /// What the picture shows, for people who do not see it.
    pub(crate) fn label(&self) -> String {
        let hours = self.week.map_or_else(|| "every time is open".to_owned(), week_text);
        format!("The working hours of a week: {hours}")
    }

    /// The hours of a day.
    fn on(&self, day: usize) -> Option<OpenHours> {
        match self.week {
            Some(week) => week.get(day).copied().flatten(),
            None => OpenHours::new(0, MIDNIGHT),
        }
    }

    /// The bars of the days that are open, from above.
    pub(crate) fn bars(&self) -> Vec<Bar> {
        let bar = |(day, (top, _)): (usize, (u64, _))| {
            let hours = self.on(day)?;
            let x = LEFT + u64::from(hours.start()) * MINUTE;
            let width = u64::from(hours.end() - hours.start()) * MINUTE;
            Some(Bar { look: "first", x, y: top + (ROW - BAR) / 2, width, height: BAR })
        };
        rows().enumerate().filter_map(bar).collect()
    }

    /// The lines of the named hours, as a path.
    pub(crate) fn lines(&self) -> String {
        NAMED.iter().fold(String::new(), |mut path, (_, hour)| {
            // Writing to a string does not fail.
            let _ = write!(path, "M{} 0V{}", column(*hour), self.ground());
            path
        })
    }

    /// The names of the days and the hours.
    pub(crate) fn captions(&self) -> Vec<Caption> {
        let days = rows().map(|(top, text)| Caption { x: LEFT / 2, y: top + APART, text });
        let hours = NAMED.iter().map(|(text, hour)| Caption { x: column(*hour), y: self.ground() + APART, text });
        days.chain(hours).collect()
    }
}

/// The upper edge of each day, and its name.
fn rows() -> impl Iterator<Item = (u64, &'static str)> {
    (0_u64..).map(|row| row * ROW).zip(WEEK.iter().map(|day| day.short))
}

const fn column(hour: u64) -> u64 {
    LEFT + hour * 60 * MINUTE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(start: u16, end: u16) -> Option<OpenHours> {
        Some(OpenHours::new(start, end).unwrap())
    }

    #[test]
    fn a_day_that_is_open_has_a_bar_in_its_row() {
        let week = [hours(0, MIDNIGHT), None, hours(540, 1_020), None, None, None, hours(1_439, MIDNIGHT)];
        let picture = WeekPicture { week: Some(&week) };
        let bars: Vec<_> = picture.bars().iter().map(|bar| (bar.x, bar.y, bar.width)).collect();
        assert_eq!(bars, [(300, 30, 2_880), (1_380, 370, 960), (3_178, 1_050, 2)]);
        assert_eq!((picture.width(), picture.height()), (3_340, 1_340));
        assert_eq!(picture.lines(), "M300 0V1190M1020 0V1190M1740 0V1190M2460 0V1190M3180 0V1190");
        let names: Vec<_> = picture.captions().iter().map(|caption| caption.text).collect();
        assert_eq!(names, ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "00", "06", "12", "18", "24"]);
    }

    #[test]
    fn without_hours_every_day_is_open() {
        let picture = WeekPicture { week: None };
        assert!(picture.bars().iter().all(|bar| (bar.x, bar.width) == (300, 2_880)));
        assert_eq!((picture.bars().len(), &*picture.label()), (7, "The working hours of a week: every time is open"));
        assert!(WeekPicture { week: Some(&[None; 7]) }.bars().is_empty());
    }
}
