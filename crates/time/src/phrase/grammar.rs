//! The grammar: what the words of a text mean together, before it is known which time it is.

use super::unresolved::Unresolved;
use super::words::{Clock, MONTHS, Piece, Token, month, o_clock, weekday};
use crate::{CivilDate, SignedDuration, Timestamp};

/// Words that separate others.
const FILLERS: [&str; 4] = ["at", "on", "from", "the"];

/// Words after which a bare number is an hour.
const BEFORE_HOURS: [&str; 7] = ["at", "from", "between", "and", "to", "until", "till"];

/// The units of lengths of time.
const MINUTES: [&str; 4] = ["minute", "minutes", "min", "mins"];
const HOURS: [&str; 4] = ["hour", "hours", "hr", "hrs"];

/// A text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Phrase {
    pub(super) start: Point,
    /// The end of a range.
    pub(super) end: Option<Point>,
}

/// A day, a time of a day, or a moment. At least one field is set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) day: Option<Day>,
    /// A weekday; 0 is Monday.
    pub(super) weekday: Option<u8>,
    pub(super) clock: Option<Clock>,
    pub(super) part: Option<Part>,
    pub(super) moment: Option<Moment>,
    /// Whether its day is written before its clock.
    pub(super) day_first: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Day {
    /// That many days after today.
    Ahead(i64),
    /// That many months after today.
    MonthsAhead(i64),
    On(CivilDate),
    /// One of two dates.
    Either(CivilDate, CivilDate),
    /// A date of each year.
    Yearly {
        month: u32,
        day: u32,
    },
    /// The weekday of the point, such as `next Friday`.
    Which(Which),
    /// The weekday of the point in the week that is that many weeks after this one.
    OfWeek(i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    This,
    Next,
    Last,
    Coming,
}

/// A part of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Morning,
    Afternoon,
    Evening,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    At(Timestamp),
    /// That long after now.
    FromNow(SignedDuration),
}

/// A count with its unit.
#[derive(Debug, Clone, Copy)]
enum Amount {
    Minutes(i64),
    Days(i64),
    Months(i64),
}

impl Point {
    /// Whether it is a day without a time.
    pub(super) fn is_day(&self) -> bool {
        self.clock.is_none() && self.part.is_none() && self.moment.is_none()
    }

    /// Whether it is the midnight of today, which may be the beginning or the end of today.
    pub(super) fn is_midnight_of_today(&self) -> bool {
        self.clock == Some(Clock::Midnight) && self.day == Some(Day::Ahead(0))
    }

    fn add(&mut self, amount: Amount, sign: i64) -> Result<(), Unresolved> {
        match amount {
            Amount::Minutes(minutes) => {
                set(&mut self.moment, Moment::FromNow(SignedDuration::minutes(sign * minutes)), "times")
            }
            Amount::Days(days) => set(&mut self.day, Day::Ahead(sign * days), "days"),
            Amount::Months(months) => set(&mut self.day, Day::MonthsAhead(sign * months), "days"),
        }
    }
}

impl Part {
    fn named(word: &str) -> Option<Self> {
        match word {
            "morning" => Some(Self::Morning),
            "afternoon" => Some(Self::Afternoon),
            "evening" => Some(Self::Evening),
            _ => None,
        }
    }
}

/// Reads the words of a text.
///
/// # Errors
/// If they are not in the grammar.
pub(super) fn phrase(pieces: &[Piece]) -> Result<Phrase, Unresolved> {
    if pieces.is_empty() {
        return Err(Unresolved::Empty);
    }
    let mut parser = Parser { pieces, at: 0, after_between: false };
    let start = parser.point()?;
    let end = if parser.skip_separator() { Some(parser.point()?) } else { None };
    if parser.peek().is_some() {
        return Err(Unresolved::contradiction("has more than one range; send one, such as 2pm to 3pm"));
    }
    Ok(Phrase { start, end })
}

/// Sets what may be named once.
fn set<T>(slot: &mut Option<T>, value: T, plural: &str) -> Result<(), Unresolved> {
    match slot.replace(value) {
        Some(_) => Err(Unresolved::contradiction(format!("names two {plural}; send one of them"))),
        None => Ok(()),
    }
}

/// The reader of the words. Each is read once, so that the time is linear.
struct Parser<'a> {
    pieces: &'a [Piece],
    /// The number of words that were read.
    at: usize,
    /// Whether `and` separates the ends of a range.
    after_between: bool,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Piece> {
        self.ahead(0)
    }

    fn ahead(&self, by: usize) -> Option<&'a Piece> {
        self.pieces.get(self.at + by)
    }

    /// The word that is that far ahead.
    fn word_ahead(&self, by: usize) -> &'a str {
        self.ahead(by).map_or("", |piece| piece.word.as_str())
    }

    /// Skips these words if they come next.
    fn take(&mut self, words: &[&str]) -> bool {
        let comes = words.iter().zip(0..).all(|(word, by)| self.word_ahead(by) == *word);
        self.at += if comes { words.len() } else { 0 };
        comes
    }

    fn at_separator(&self) -> bool {
        self.peek().is_some_and(|piece| match piece.word.as_str() {
            "to" | "until" | "till" => true,
            "and" => self.after_between,
            _ => piece.token == Token::Dash,
        })
    }

    fn skip_separator(&mut self) -> bool {
        let separates = self.at_separator();
        self.at += usize::from(separates);
        separates
    }

    fn point(&mut self) -> Result<Point, Unresolved> {
        let mut point = Point::default();
        while !self.at_separator()
            && let Some(piece) = self.peek()
        {
            self.at += 1;
            self.item(piece, &mut point)?;
            point.day_first |= point.clock.is_none() && (point.day.is_some() || point.weekday.is_some());
        }
        if point == Point::default() {
            return Err(Unresolved::incomplete("lacks a day or a time; send, for example, tomorrow from 2pm to 3pm"));
        }
        Ok(point)
    }

    /// Reads what begins with a word that was just read.
    fn item(&mut self, piece: &Piece, point: &mut Point) -> Result<(), Unresolved> {
        match piece.token {
            Token::Instant(at) => set(&mut point.moment, Moment::At(at), "times"),
            Token::Local(local) => {
                set(&mut point.day, Day::On(local.date), "days")?;
                point.day_first |= point.clock.is_none();
                set(&mut point.clock, Clock::At(local.time), "times")
            }
            Token::Date(date) => set(&mut point.day, Day::On(date), "days"),
            Token::EitherDate(one, other) => set(&mut point.day, Day::Either(one, other), "days"),
            Token::Clock(clock) => set(&mut point.clock, clock, "times"),
            Token::Number(number) => self.number(number, piece, point),
            Token::Ordinal(day) if self.month_ahead().is_some() => self.day_of_month(day, point),
            Token::Ordinal(_) => {
                Err(Unresolved::incomplete(format!("lacks a month: send, for example, {} March", piece.word)))
            }
            Token::Word | Token::Dash => self.word(&piece.word, point),
        }
    }

    fn number(&mut self, number: u32, piece: &Piece, point: &mut Point) -> Result<(), Unresolved> {
        if unit(self.word_ahead(0)).is_some() {
            self.at -= 1;
            return self.amount_from_now(point);
        }
        if self.month_ahead().is_some() {
            return self.day_of_month(number, point);
        }
        let before = self.at.checked_sub(2).and_then(|before| self.pieces.get(before));
        let after_hint =
            before.is_some_and(|before| before.token == Token::Dash || BEFORE_HOURS.contains(&before.word.as_str()));
        if !after_hint && !self.at_separator() {
            return Err(Unresolved::incomplete(format!(
                "has the number {}, which may be an hour or a day; send, for example, 14:00, 2pm or 5 March",
                piece.word
            )));
        }
        let hour = Clock::of_hour(number).ok_or_else(|| Unresolved::missing(&format!("hour {number}")))?;
        set(&mut point.clock, hour, "times")
    }

    fn word(&mut self, word: &str, point: &mut Point) -> Result<(), Unresolved> {
        match word {
            _ if FILLERS.contains(&word) => Ok(()),
            "between" => {
                self.after_between = true;
                Ok(())
            }
            "now" => point.add(Amount::Minutes(0), 1),
            "today" => point.add(Amount::Days(0), 1),
            "tomorrow" => point.add(Amount::Days(1), 1),
            "yesterday" => point.add(Amount::Days(1), -1),
            "day" if self.take(&["after", "tomorrow"]) => point.add(Amount::Days(2), 1),
            "day" if self.take(&["before", "yesterday"]) => point.add(Amount::Days(2), -1),
            "noon" | "midday" => set(&mut point.clock, Clock::At(o_clock(12)), "times"),
            "midnight" => set(&mut point.clock, Clock::Midnight, "times"),
            "tonight" => today_in(Part::Evening, point),
            "this" => self.which(Which::This, point),
            "next" => self.which(Which::Next, point),
            "last" => self.which(Which::Last, point),
            "coming" => self.which(Which::Coming, point),
            "in" => self.inside(point),
            "a" | "an" | "half" => {
                self.at -= 1;
                self.amount_from_now(point)
            }
            _ => named(word, point).or_else(|| self.month_first(word, point)).unwrap_or(Err(Unresolved::unknown(word))),
        }
    }

    /// Reads what follows `this`, `next`, `last` or `coming`.
    fn which(&mut self, which: Which, point: &mut Point) -> Result<(), Unresolved> {
        let word = self.word_ahead(0);
        let week = match which {
            Which::This => Some(0),
            Which::Next => Some(1),
            Which::Last => Some(-1),
            Which::Coming => None,
        };
        self.at += 1;
        match (weekday(word), week, Part::named(word)) {
            (Some(weekday), _, _) => {
                set(&mut point.weekday, weekday, "weekdays")?;
                set(&mut point.day, Day::Which(which), "days")
            }
            (None, Some(week), _) if word == "week" => set(&mut point.day, Day::OfWeek(week), "days"),
            (None, _, Some(part)) if which == Which::This => today_in(part, point),
            _ => Err(Unresolved::incomplete(
                "lacks a weekday after this, next, last or coming; send, for example, next Tuesday, or Tuesday next \
                 week",
            )),
        }
    }

    /// Reads what follows `in`: a part of the day or an amount.
    fn inside(&mut self, point: &mut Point) -> Result<(), Unresolved> {
        if self.word_ahead(0) == "the"
            && let Some(part) = Part::named(self.word_ahead(1))
        {
            self.at += 2;
            return set(&mut point.part, part, "parts of the day");
        }
        let amount = self.amount().ok_or_else(needs_amount)?;
        point.add(amount, 1)
    }

    fn amount_from_now(&mut self, point: &mut Point) -> Result<(), Unresolved> {
        let amount = self.amount().ok_or_else(needs_amount)?;
        if self.take(&["from", "now"]) {
            point.add(amount, 1)
        } else if self.take(&["ago"]) {
            point.add(amount, -1)
        } else {
            Err(needs_amount())
        }
    }

    /// Reads `3 days`, `an hour` or `half an hour`.
    fn amount(&mut self) -> Option<Amount> {
        if self.take(&["half", "an", "hour"]) {
            return Some(Amount::Minutes(30));
        }
        let first = self.peek()?;
        let count = match (first.token, first.word.as_str()) {
            (Token::Number(number), _) => number,
            (_, "a" | "an") => 1,
            _ => return None,
        };
        let of_one = unit(self.word_ahead(1))?;
        self.at += 2;
        let count = i64::from(count);
        Some(match of_one {
            Amount::Minutes(minutes) => Amount::Minutes(count * minutes),
            Amount::Days(days) => Amount::Days(count * days),
            Amount::Months(months) => Amount::Months(count * months),
        })
    }

    /// The month that comes next, or after `of`, and the number of its words.
    fn month_ahead(&self) -> Option<(u32, usize)> {
        let of = usize::from(self.word_ahead(0) == "of");
        Some((month(self.word_ahead(of))?, of + 1))
    }

    /// Reads the month and the year after a day.
    fn day_of_month(&mut self, day: u32, point: &mut Point) -> Result<(), Unresolved> {
        let (month, words) = self.month_ahead().ok_or_else(|| Unresolved::incomplete("lacks a month"))?;
        self.at += words;
        self.date(month, day, point)
    }

    /// Reads the day and the year after a month. `None` if the word is no month.
    fn month_first(&mut self, word: &str, point: &mut Point) -> Option<Result<(), Unresolved>> {
        let month = month(word)?;
        Some(match self.peek().map(|piece| piece.token) {
            Some(Token::Number(day) | Token::Ordinal(day)) => {
                self.at += 1;
                self.date(month, day, point)
            }
            _ => Err(Unresolved::incomplete(format!("lacks the day of {word}; send, for example, 5 {word}"))),
        })
    }

    /// A date of a month, with the year if it comes next.
    fn date(&mut self, month: u32, day: u32, point: &mut Point) -> Result<(), Unresolved> {
        let year = self.peek().and_then(|piece| match piece.token {
            Token::Number(year) if piece.word.len() == 4 => i32::try_from(year).ok(),
            _ => None,
        });
        self.at += usize::from(year.is_some());
        // A date without a year exists if it does in a leap year.
        let date =
            CivilDate::new(year.unwrap_or(LEAP_YEAR), month, day).ok_or_else(|| no_such_date(month, day, year))?;
        let day = if year.is_some() { Day::On(date) } else { Day::Yearly { month, day } };
        set(&mut point.day, day, "days")
    }
}

const LEAP_YEAR: i32 = 2000;

fn no_such_date(month: u32, day: u32, year: Option<i32>) -> Unresolved {
    let name = usize::try_from(month).ok().and_then(|month| MONTHS.get(month.checked_sub(1)?)).unwrap_or(&"");
    let year = year.map(|year| format!(" {year:04}")).unwrap_or_default();
    Unresolved::missing(&format!("{day} {name}{year}"))
}

/// Sets the weekday or the part of the day with that name. `None` if there is none.
fn named(word: &str, point: &mut Point) -> Option<Result<(), Unresolved>> {
    let of_week = weekday(word).map(|weekday| set(&mut point.weekday, weekday, "weekdays"));
    of_week.or_else(|| Part::named(word).map(|part| set(&mut point.part, part, "parts of the day")))
}

fn today_in(part: Part, point: &mut Point) -> Result<(), Unresolved> {
    point.add(Amount::Days(0), 1)?;
    set(&mut point.part, part, "parts of the day")
}

fn needs_amount() -> Unresolved {
    Unresolved::incomplete(
        "lacks a number of minutes, hours, days, weeks or months; send, for example, in 3 days, 2 hours from now or \
         an hour ago",
    )
}

/// One of a unit.
fn unit(word: &str) -> Option<Amount> {
    match word {
        _ if MINUTES.contains(&word) => Some(Amount::Minutes(1)),
        _ if HOURS.contains(&word) => Some(Amount::Minutes(60)),
        "day" | "days" => Some(Amount::Days(1)),
        "week" | "weeks" => Some(Amount::Days(7)),
        "month" | "months" => Some(Amount::Months(1)),
        _ => None,
    }
}
