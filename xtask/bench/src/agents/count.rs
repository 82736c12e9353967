//! What a client of the tools sends and reads.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use super::tokens;

/// The size of a number of calls: their arguments and the text of their results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) calls: usize,
    pub(crate) bytes: usize,
    pub(crate) tokens: usize,
}

impl Count {
    /// One call with these arguments, as JSON, and the text of its result.
    pub(crate) fn of_call(arguments: &str, result: &str) -> Self {
        let tokens = tokens::number(arguments) + tokens::number(result);
        Self { calls: 1, bytes: arguments.len() + result.len(), tokens }
    }

    /// A text that is read without a call.
    pub(crate) fn of_text(text: &str) -> Self {
        Self { calls: 0, bytes: text.len(), tokens: tokens::number(text) }
    }
}

impl Add for Count {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { calls: self.calls + other.calls, bytes: self.bytes + other.bytes, tokens: self.tokens + other.tokens }
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), Add::add)
    }
}
