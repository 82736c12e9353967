//! The times within one period: hours, minutes and seconds as bit sets, and the positions chosen from them.

use crate::sets::{Places, bits_before, last_bit, next_bit, nth_bit};

/// A set of times within a day, an hour or a minute, in seconds from its beginning: every combination of an hour, a
/// minute and a second. It is never empty.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Product {
    /// Bit 0 is the first hour. The other parts are alike.
    pub(crate) hours: u64,
    pub(crate) minutes: u64,
    pub(crate) seconds: u64,
}

impl Product {
    /// The first second, and nothing else.
    pub(crate) const START: Self = Self { hours: 1, minutes: 1, seconds: 1 };

    pub(crate) const fn count(&self) -> u32 {
        self.hours.count_ones() * self.minutes.count_ones() * self.seconds.count_ones()
    }

    /// The time after `index` others.
    pub(crate) fn nth(&self, index: u32) -> Option<i64> {
        let (minutes, seconds) = (self.minutes.count_ones(), self.seconds.count_ones());
        let hour = nth_bit(&[self.hours], index / (minutes * seconds))?;
        let minute = nth_bit(&[self.minutes], index / seconds % minutes)?;
        let second = nth_bit(&[self.seconds], index % seconds)?;
        Some(joined(hour, minute, second))
    }

    /// The number of times before `time`.
    pub(crate) fn rank(&self, time: i64) -> u32 {
        let (hour, minute, second) = parts(time);
        let (minutes, seconds) = (self.minutes.count_ones(), self.seconds.count_ones());
        let mut rank = bits_before(&[self.hours], hour) * minutes * seconds;
        if has(self.hours, hour) {
            rank += bits_before(&[self.minutes], minute) * seconds;
            if has(self.minutes, minute) {
                rank += bits_before(&[self.seconds], second);
            }
        }
        rank
    }

    /// The first time from `time` on.
    #[inline]
    pub(crate) fn from(&self, time: i64) -> Option<i64> {
        let (hour, minute, second) = parts(time);
        let next = next_bit(&[self.hours], hour)?;
        let (first_minute, first_second) = (self.minutes.trailing_zeros(), self.seconds.trailing_zeros());
        if next > hour {
            return Some(joined(next, first_minute, first_second));
        }
        match next_bit(&[self.minutes], minute) {
            Some(next) if next > minute => return Some(joined(hour, next, first_second)),
            Some(_) => {
                if let Some(second) = next_bit(&[self.seconds], second) {
                    return Some(joined(hour, minute, second));
                }
                if let Some(next) = next_bit(&[self.minutes], minute + 1) {
                    return Some(joined(hour, next, first_second));
                }
            }
            None => {}
        }
        next_bit(&[self.hours], hour + 1).map(|next| joined(next, first_minute, first_second))
    }

    /// The last time up to and including `time`.
    pub(crate) fn to(&self, time: i64) -> Option<i64> {
        let (hour, minute, second) = parts(time);
        let last = last_bit(&[self.hours], hour)?;
        let (last_minute, last_second) = (63 - self.minutes.leading_zeros(), 63 - self.seconds.leading_zeros());
        if last < hour {
            return Some(joined(last, last_minute, last_second));
        }
        match last_bit(&[self.minutes], minute) {
            Some(last) if last < minute => return Some(joined(hour, last, last_second)),
            Some(_) => {
                if let Some(second) = last_bit(&[self.seconds], second) {
                    return Some(joined(hour, minute, second));
                }
                let before = minute.checked_sub(1).and_then(|minute| last_bit(&[self.minutes], minute));
                if let Some(last) = before {
                    return Some(joined(hour, last, last_second));
                }
            }
            None => {}
        }
        let before = hour.checked_sub(1).and_then(|hour| last_bit(&[self.hours], hour));
        before.map(|last| joined(last, last_minute, last_second))
    }
}

/// The times of a product that are in a place of `BYSETPOS`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) product: Product,
    /// `None` keeps all.
    pub(crate) positions: Option<Places<6>>,
}

impl Times {
    /// The first time from `time` on.
    #[inline]
    pub(crate) fn from(&self, time: i64) -> Option<i64> {
        match &self.positions {
            None => self.product.from(time),
            Some(positions) => self.product.nth(positions.index_from(self.product.rank(time), self.product.count())?),
        }
    }

    /// The last time up to and including `time`.
    pub(crate) fn to(&self, time: i64) -> Option<i64> {
        match &self.positions {
            None => self.product.to(time),
            Some(positions) => {
                let up_to = self.product.rank(time + 1).checked_sub(1)?;
                self.product.nth(positions.index_to(up_to, self.product.count())?)
            }
        }
    }
}

pub(crate) fn has(set: u64, bit: u32) -> bool {
    bit < 64 && set >> bit & 1 == 1
}

/// The hour, minute and second of a time within a day.
fn parts(time: i64) -> (u32, u32, u32) {
    let seconds = u32::try_from(time.max(0)).unwrap_or(u32::MAX);
    (seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

fn joined(hour: u32, minute: u32, second: u32) -> i64 {
    i64::from(hour) * 3_600 + i64::from(minute) * 60 + i64::from(second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::Place;

    fn listed(product: &Product) -> Vec<i64> {
        let holds = |time: &i64| {
            let (hour, minute, second) = parts(*time);
            has(product.hours, hour) && has(product.minutes, minute) && has(product.seconds, second)
        };
        (0..86_400).filter(holds).collect()
    }

    #[test]
    fn searches_agree_with_a_list() {
        let products = [
            Product::START,
            Product { hours: 1 << 9 | 1 << 17, minutes: 1 | 1 << 30, seconds: 1 << 59 },
            Product { hours: 1 << 23, minutes: 1 << 59, seconds: 1 << 58 | 1 << 59 },
            Product { hours: 0x00FF_F000, minutes: 1 << 7, seconds: 1 | 1 << 1 },
        ];
        let mut positions = Places::NONE;
        [1, 4, -2, -3].into_iter().filter_map(Place::numbered).for_each(|place| positions.insert(place));
        for product in products {
            let all = listed(&product);
            assert_eq!(product.count() as usize, all.len());
            let chosen: Vec<i64> = all
                .iter()
                .enumerate()
                .filter(|(index, _)| positions.holds(*index, all.len() - 1 - index))
                .map(|(_, time)| *time)
                .collect();
            let times = Times { product, positions: Some(positions) };
            for time in (0..86_400).step_by(7).chain(all.iter().flat_map(|time| [time - 1, *time, time + 1])) {
                if !(0..86_400).contains(&time) {
                    continue;
                }
                assert_eq!(product.from(time), all.iter().copied().find(|other| *other >= time));
                assert_eq!(product.to(time), all.iter().copied().rfind(|other| *other <= time));
                assert_eq!(product.rank(time) as usize, all.iter().filter(|other| **other < time).count());
                assert_eq!(times.from(time), chosen.iter().copied().find(|other| *other >= time));
                assert_eq!(times.to(time), chosen.iter().copied().rfind(|other| *other <= time));
            }
            for (index, time) in all.iter().enumerate() {
                assert_eq!(product.nth(u32::try_from(index).unwrap()), Some(*time));
            }
            assert_eq!(product.nth(product.count()), None);
        }
    }
}
