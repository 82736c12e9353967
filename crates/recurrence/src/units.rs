//! The periods of rules that are shorter than a day: hours, minutes and seconds.

use crate::rule::{Frequency, Rule};
use crate::sets::bits;
use crate::times::{Product, Times};

/// Periods that are shorter than a day.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Units {
    /// The length of a period: 3,600, 60 or 1 second.
    pub(crate) size: i64,
    /// The distance from one period to the next, in periods.
    pub(crate) interval: i64,
    /// The number of the first period, counted from 1970.
    pub(crate) origin: i64,
    /// The hours, minutes and seconds in which periods count. Parts smaller than a period are the first bit.
    pub(crate) within: Product,
}

impl Units {
    /// The periods of a rule that is shorter than a day, whose first start is at the second `time` of the day `origin`.
    pub(crate) fn of(rule: &Rule, origin: i64, time: i64) -> Option<Self> {
        let all = |bits: u32| u64::MAX >> (64 - bits);
        let named = |set: u64, bits: u32| if set == 0 { all(bits) } else { set };
        let hours = named(rule.hours.into(), 24);
        let (size, within) = match rule.frequency {
            Frequency::Hourly => (3_600, Product { hours, ..Product::START }),
            Frequency::Minutely => (60, Product { hours, minutes: named(rule.minutes, 60), ..Product::START }),
            Frequency::Secondly => {
                (1, Product { hours, minutes: named(rule.minutes, 60), seconds: named(rule.seconds, 60) })
            }
            _ => return None,
        };
        let origin = (origin * 86_400 + time).div_euclid(size);
        Some(Self { size, interval: rule.interval.into(), origin, within })
    }

    /// The times of a day, if they are the same every day and combine parts. Most rules that are shorter than a day are
    /// of this kind, and dates are found faster than periods.
    pub(crate) fn of_every_day(&self, times: &Times) -> Option<Product> {
        let Product { hours, minutes, seconds } = self.within;
        if times.positions.is_some() {
            return None;
        }
        let aligned = |parts: i64, set: u64| {
            // Every unit above has the same number of parts, so the same parts count in each of them.
            let divides = parts % self.interval == 0;
            let counts = |bit: &u32| i64::from(*bit) % self.interval == self.origin.rem_euclid(self.interval);
            divides.then(|| bits(set).filter(counts).fold(0, |set, bit| set | 1 << bit)).filter(|set| *set != 0)
        };
        Some(match self.size {
            3_600 => Product { hours: aligned(24, hours)?, ..times.product },
            60 => Product { hours, minutes: aligned(60, minutes)?, ..times.product },
            _ => Product { hours, minutes, seconds: aligned(60, seconds)? },
        })
    }

    /// Whether any period can count, whatever its day.
    pub(crate) fn can_count(&self) -> bool {
        // Days shift the remainder of a period by multiples of this.
        let divisor = greatest_common_divisor(self.interval, 86_400 / self.size);
        let remainder = self.origin.rem_euclid(divisor);
        let mut time = self.within.from(0);
        // Times repeat their remainders, so this looks at no more than a day.
        while let Some(at) = time {
            if (at / self.size).rem_euclid(divisor) == remainder {
                return true;
            }
            time = self.within.from(at + 1);
        }
        false
    }
}

fn greatest_common_divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
