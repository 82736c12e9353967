//! Dates and times as RFC 5545 writes them (sections 3.3.4 and 3.3.5).

use kalends_time::{CivilDate, CivilDateTime, SignedDuration, Timestamp};

const SECOND: i64 = 1_000_000;

/// Formats `20260301T090000Z`. Fractions of a second are cut off.
pub(super) fn utc(instant: Timestamp) -> String {
    let mut text = local(CivilDateTime::ahead_of_utc(instant, SignedDuration::ZERO));
    text.push('Z');
    text
}

/// Formats `20260301T090000`.
pub(super) fn local(at: CivilDateTime) -> String {
    let mut text = date(at.date);
    let seconds = at.time.as_micros() / SECOND;
    text.push('T');
    digits(&mut text, seconds / 3_600, 2);
    digits(&mut text, seconds / 60 % 60, 2);
    digits(&mut text, seconds % 60, 2);
    text
}

/// Formats `20260301`.
pub(super) fn date(date: CivilDate) -> String {
    let (year, month, day) = date.year_month_day();
    let mut text = String::with_capacity(16);
    digits(&mut text, year.into(), 4);
    digits(&mut text, month.into(), 2);
    digits(&mut text, day.into(), 2);
    text
}

/// Formats `+0100`, with seconds if there are any (section 3.3.14).
pub(super) fn offset(ahead: SignedDuration) -> String {
    let seconds = ahead.as_seconds();
    let mut text = String::with_capacity(7);
    text.push(if seconds < 0 { '-' } else { '+' });
    let seconds = seconds.abs();
    digits(&mut text, seconds / 3_600, 2);
    digits(&mut text, seconds / 60 % 60, 2);
    if seconds % 60 != 0 {
        digits(&mut text, seconds % 60, 2);
    }
    text
}

/// The first whole second that is not before `instant`, so that an end is never written too early.
pub(super) fn rounded_up(instant: Timestamp) -> Timestamp {
    let below = instant.as_micros().rem_euclid(SECOND);
    if below == 0 { instant } else { instant + SignedDuration::micros(SECOND - below) }
}

/// Appends the last `width` digits of a value. Negative values do not occur and are written as zero.
fn digits(text: &mut String, value: i64, width: u32) {
    let value = u64::try_from(value).unwrap_or(0);
    for place in (0..width).rev() {
        let digit = value / 10_u64.pow(place) % 10;
        text.push(char::from(b'0' + u8::try_from(digit).unwrap_or(0)));
    }
}
