//! Sets of small numbers as bits, so that no part of a rule is on the heap.

/// A place in a sequence, counted from its start (1 is the first) or from its end (-1 is the last).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) from_end: bool,
    /// At least 1.
    pub(crate) number: u16,
}

/// A set of [`Place`]s whose numbers are at most 64 times `WORDS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Places<const WORDS: usize> {
    from_start: [u64; WORDS],
    from_end: [u64; WORDS],
}

impl<const WORDS: usize> Places<WORDS> {
    pub(crate) const NONE: Self = Self { from_start: [0; WORDS], from_end: [0; WORDS] };

    pub(crate) fn insert(&mut self, place: Place) {
        let side = if place.from_end { &mut self.from_end } else { &mut self.from_start };
        let index = usize::from(place.number.saturating_sub(1));
        if let Some(word) = side.get_mut(index / 64) {
            *word |= 1 << (index % 64);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.from_start.iter().chain(&self.from_end).all(|word| *word == 0)
    }

    /// Whether the item is in one of the places, given how many items are before and after it.
    pub(crate) fn holds(&self, before: usize, after: usize) -> bool {
        let has =
            |side: &[u64; WORDS], index: usize| side.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1);
        has(&self.from_start, before) || has(&self.from_end, after)
    }

    /// The places in order: 1, 2, ... and then ..., -2, -1.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Place> + '_ {
        let bits = |side: &[u64; WORDS], number: &u16| {
            let index = usize::from(*number - 1);
            side[index / 64] >> (index % 64) & 1 == 1
        };
        // No set here counts beyond 366.
        let most = u16::try_from(WORDS * 64).unwrap_or(u16::MAX);
        let starts = (1..=most).filter(move |number| bits(&self.from_start, number));
        let ends = (1..=most).rev().filter(move |number| bits(&self.from_end, number));
        let place = |from_end| move |number| Place { from_end, number };
        starts.map(place(false)).chain(ends.map(place(true)))
    }
}

impl Places<1> {
    /// The places counted from the start; bit 0 is the first.
    pub(crate) const fn forward(&self) -> u64 {
        self.from_start[0]
    }

    /// The places counted from the end; bit 0 is the last.
    pub(crate) const fn backward(&self) -> u64 {
        self.from_end[0]
    }
}

/// The numbers of the bits that are set, the lowest first.
pub(crate) fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lowest = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(lowest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_kept_in_order_and_once() {
        let mut places = Places::<6>::NONE;
        assert!(places.is_empty());
        for number in [-1, 366, 2, -366, 2, 65] {
            places.insert(Place { from_end: number < 0, number: i32::unsigned_abs(number).try_into().unwrap() });
        }
        let listed: Vec<(bool, u16)> = places.iter().map(|place| (place.from_end, place.number)).collect();
        assert_eq!(listed, [(false, 2), (false, 65), (false, 366), (true, 366), (true, 1)]);
        assert!(places.holds(1, 100) && places.holds(200, 0) && places.holds(7, 365));
        assert!(!places.holds(0, 1) && !places.holds(400, 400));
    }

    #[test]
    fn bits_come_lowest_first() {
        assert!(bits(0b1001_0010).eq([1, 4, 7]));
        assert_eq!(bits(0).count(), 0);
    }
}
