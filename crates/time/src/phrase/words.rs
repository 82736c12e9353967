//! The words of a text, and what each means by itself.

use std::ops::RangeInclusive;

use super::unresolved::{LENGTH_MAX, Unresolved};
use crate::{CivilDate, CivilDateTime, CivilTime, MissingDay, Timestamp};

/// The days of the week, from Monday on.
pub(super) const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const NUMBERS: [&str; 12] =
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// The length of the shortest form of a weekday or a month.
const SHORT: usize = 3;

/// The time from a clock in the morning to the same one in the afternoon, in microseconds.
const HALF_A_DAY: i64 = 12 * 3_600 * 1_000_000;

/// A word in small letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) word: String,
    pub(super) token: Token,
}

/// What a word means by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// A word of the grammar, or an unknown one.
    Word,
    Dash,
    Number(u32),
    /// `5th`
    Ordinal(u32),
    Clock(Clock),
    Date(CivilDate),
    /// `03/04/2026`, read with the day first and with the month first.
    EitherDate(CivilDate, CivilDate),
    /// `2026-03-05T14:00`
    Local(CivilDateTime),
    Instant(Timestamp),
}

/// A time of day as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    At(CivilTime),
    /// The same, as only a clock with 24 hours shows it.
    Of24(CivilTime),
    /// The time in the morning; it may also be the one 12 hours later.
    Either(CivilTime),
    /// `midnight` as a word. That of today may be either of its ends.
    Midnight,
}

impl Clock {
    /// A bare hour; `None` if no clock shows it.
    pub(super) fn of_hour(hour: u32) -> Option<Self> {
        match hour {
            1..=12 => CivilTime::new(hour % 12, 0, 0).map(Self::Either),
            _ => CivilTime::new(hour, 0, 0).map(Self::Of24),
        }
    }

    /// The times that it may be.
    pub(super) fn times(self) -> Vec<CivilTime> {
        match self {
            Self::At(time) | Self::Of24(time) => vec![time],
            Self::Midnight => vec![CivilTime::MIDNIGHT],
            Self::Either(time) => {
                let later = CivilTime::from_micros(time.as_micros() + HALF_A_DAY);
                std::iter::once(time).chain(later).collect()
            }
        }
    }
}

impl Piece {
    fn of(word: &str) -> Result<Self, Unresolved> {
        // A number is spelled in digits, so that `two pm` is read as `2pm`.
        let counted = NUMBERS.iter().zip(1..).find(|(name, _)| **name == word);
        let word = counted.map_or_else(|| word.to_owned(), |(_, number)| number.to_string());
        Ok(Self { token: Token::of(&word)?, word })
    }

    fn may_take_a_half(&self) -> bool {
        self.word.starts_with(|first: char| first.is_ascii_digit())
            && matches!(self.token, Token::Number(_) | Token::Clock(_))
    }
}

/// The words of a text, in small letters.
///
/// # Errors
/// If it is too long, or a date or a time of day does not exist.
pub(super) fn words(text: &str) -> Result<Vec<Piece>, Unresolved> {
    if text.chars().count() > LENGTH_MAX {
        return Err(Unresolved::TooLong);
    }
    let text = text.to_lowercase().replace(['–', '—'], "-").replace("a.m.", "am").replace("p.m.", "pm");
    let text = text.trim().trim_end_matches('.');
    if let Ok(instant) = text.parse() {
        return Ok(vec![Piece { word: text.to_owned(), token: Token::Instant(instant) }]);
    }
    let mut pieces: Vec<Piece> = Vec::new();
    let words = text.split(|letter: char| letter.is_whitespace() || letter == ',');
    for word in words.flat_map(around_dash).filter(|word| !word.is_empty()) {
        let half_of = pieces.pop_if(|last| matches!(word, "am" | "pm") && last.may_take_a_half());
        let joined = half_of.map_or_else(|| word.to_owned(), |clock| clock.word + word);
        pieces.push(Piece::of(&joined)?);
    }
    Ok(pieces)
}

/// A word with one dash as the word before it, the dash, and the word after it. Dates have two dashes.
fn around_dash(word: &str) -> Vec<&str> {
    match word.split_once('-') {
        Some((before, after)) if !after.contains('-') => vec![before, "-", after],
        _ => vec![word],
    }
}

/// The weekday with that name, or whose name begins so; 0 is Monday.
pub(super) fn weekday(word: &str) -> Option<u8> {
    position(&WEEKDAYS, word).and_then(|at| u8::try_from(at).ok())
}

/// The month with that name, or whose name begins so; 1 is January.
pub(super) fn month(word: &str) -> Option<u32> {
    position(&MONTHS, word).and_then(|at| u32::try_from(at + 1).ok())
}

fn position(names: &[&str], word: &str) -> Option<usize> {
    let begins = |name: &&str| name.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    names.iter().position(begins).filter(|_| word.len() >= SHORT)
}

impl Token {
    fn of(word: &str) -> Result<Self, Unresolved> {
        if word == "-" {
            return Ok(Self::Dash);
        }
        if !word.starts_with(|first: char| first.is_ascii_digit()) {
            return Ok(Self::Word);
        }
        if let Some(instant) = instant(word) {
            return Ok(Self::Instant(instant));
        }
        if MissingDay::at_start_of(word).is_some() {
            return Err(Unresolved::missing(word));
        }
        if let Ok(date) = word.parse() {
            return Ok(Self::Date(date));
        }
        if let Some((date, time)) = word.split_once('t')
            && let Ok(date) = date.parse::<CivilDate>()
        {
            return local(date, time).ok_or_else(|| Unresolved::missing(word));
        }
        if word.contains('/') {
            return slashed(word);
        }
        if let Some(clock) = clock(word)? {
            return Ok(Self::Clock(clock));
        }
        if let Some(number) = number(word, 1..=6) {
            return Ok(Self::Number(number));
        }
        let ordinal = ["st", "nd", "rd", "th"].into_iter().find_map(|ending| word.strip_suffix(ending));
        Ok(ordinal.and_then(|day| number(day, 1..=2)).map_or(Self::Word, Self::Ordinal))
    }
}

/// RFC 3339, also without the seconds.
fn instant(word: &str) -> Option<Timestamp> {
    const MINUTE_ENDS: usize = "2026-03-05t14:00".len();
    let with_seconds = || {
        let (time, offset) = word.split_at_checked(MINUTE_ENDS)?;
        format!("{time}:00{offset}").parse::<Timestamp>().ok()
    };
    word.parse().ok().or_else(with_seconds)
}

fn local(date: CivilDate, time: &str) -> Option<Token> {
    let digits = digits(time).filter(|_| time.get(2..3) == Some(":"))?;
    time_of(digits).map(|time| Token::Local(date.at(time)))
}

/// `03/04/2026`, which begins with the day or the month, or `2026/03/04`.
fn slashed(word: &str) -> Result<Token, Unresolved> {
    let parts: Option<Vec<u32>> = word.split('/').map(|part| number(part, 1..=4)).collect();
    let Some([one, two, three]) = parts.as_deref() else { return Ok(Token::Word) };
    let of = |year: u32, month, day| CivilDate::new(i32::try_from(year).ok()?, month, day);
    let token = match word.find('/') {
        Some(4) => of(*one, *two, *three).map(Token::Date),
        // A year of two digits may be a day.
        _ if *three < 1_000 => return Ok(Token::Word),
        _ => match (of(*three, *two, *one), of(*three, *one, *two)) {
            (Some(day_first), Some(month_first)) if day_first != month_first => {
                Some(Token::EitherDate(day_first, month_first))
            }
            (day_first, month_first) => day_first.or(month_first).map(Token::Date),
        },
    };
    token.ok_or_else(|| Unresolved::missing(word))
}

/// `14:00`, `14:00:30.5`, `2:30`, `2pm` or `2:30pm`. `None` if it has another form.
fn clock(word: &str) -> Result<Option<Clock>, Unresolved> {
    let half = [("am", 0), ("pm", 12)].into_iter().find_map(|(name, later)| Some((word.strip_suffix(name)?, later)));
    let (text, later) = half.map_or((word, None), |(text, later)| (text, Some(later)));
    if later.is_none() && !text.contains(':') {
        return Ok(None);
    }
    let Some(digits) = digits(text) else { return Ok(None) };
    let hour = digits.hour;
    let of = |hour| time_of(Digits { hour, ..digits });
    let clock = match later {
        Some(later) if (1..=12).contains(&hour) => of(hour % 12 + later).map(Clock::At),
        Some(_) => None,
        None if text.find(':') == Some(1) && hour > 0 => of(hour).map(Clock::Either),
        None if hour == 0 || hour > 12 => of(hour).map(Clock::Of24),
        None => of(hour).map(Clock::At),
    };
    clock.map(Some).ok_or_else(|| Unresolved::missing(word))
}

/// What a clock shows. It may not exist.
#[derive(Debug, Clone, Copy)]
struct Digits {
    hour: u32,
    minute: u32,
    second: u32,
    micros: u32,
}

/// `14`, `14:00`, `14:00:30` or `14:00:30.5`.
fn digits(text: &str) -> Option<Digits> {
    let mut parts = text.split(':');
    let hour = number(parts.next()?, 1..=2)?;
    let minute = parts.next().map_or(Some(0), |minute| number(minute, 2..=2))?;
    let (second, micros) = parts.next().map_or(Some((0, 0)), seconds)?;
    parts.next().is_none().then_some(Digits { hour, minute, second, micros })
}

/// Seconds, and their fraction in microseconds. Further digits are cut off.
fn seconds(text: &str) -> Option<(u32, u32)> {
    let Some((second, fraction)) = text.split_once('.') else { return Some((number(text, 2..=2)?, 0)) };
    number(fraction, 1..=9)?;
    let micros = format!("{fraction:0<6}");
    Some((number(second, 2..=2)?, number(micros.get(..6)?, 6..=6)?))
}

fn time_of(Digits { hour, minute, second, micros }: Digits) -> Option<CivilTime> {
    CivilTime::from_micros(CivilTime::new(hour, minute, second)?.as_micros() + i64::from(micros))
}

/// The full hour, from 0 to 23.
pub(super) fn o_clock(hour: u32) -> CivilTime {
    CivilTime::new(hour, 0, 0).unwrap_or(CivilTime::MIDNIGHT)
}

/// A number with that many digits, at most 9.
fn number(text: &str, digits: RangeInclusive<usize>) -> Option<u32> {
    let fits = digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.parse().ok())?
}
