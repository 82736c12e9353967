//! Sets of small numbers as bits, so that no part of a rule is on the heap.

/// A place in a sequence, counted from its start (1 is the first) or from its end (-1 is the last).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) from_end: bool,
    /// At least 1.
    pub(crate) number: u16,
}

/// A set of [`Place`]s whose numbers are at most 64 times `WORDS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Places<const WORDS: usize> {
    from_start: [u64; WORDS],
    from_end: [u64; WORDS],
}

impl Place {
    /// The place of a number: negative numbers count from the end. `None` for 0.
    pub(crate) fn numbered(number: i64) -> Option<Self> {
        let magnitude = u16::try_from(number.unsigned_abs()).ok().filter(|magnitude| *magnitude > 0)?;
        Some(Self { from_end: number < 0, number: magnitude })
    }

    pub(crate) fn signed(self) -> i16 {
        // No set here counts beyond 384.
        let number = i16::try_from(self.number).unwrap_or(i16::MAX);
        if self.from_end { -number } else { number }
    }
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

    /// The first index from `from` on, of `count` items, that is in one of the places.
    pub(crate) fn index_from(&self, from: u32, count: u32) -> Option<u32> {
        let forward = next_bit(&self.from_start, from).filter(|index| *index < count);
        // Bit n counted from the end is the index count - 1 - n, so the first index is the last bit.
        let backward = (from < count).then(|| last_bit(&self.from_end, count - 1 - from)).flatten();
        let backward = backward.map(|bit| count - 1 - bit);
        forward.into_iter().chain(backward).min()
    }

    /// The last index up to and including `to`, of `count` items, that is in one of the places.
    pub(crate) fn index_to(&self, to: u32, count: u32) -> Option<u32> {
        let to = to.min(count.checked_sub(1)?);
        let forward = last_bit(&self.from_start, to);
        let backward = next_bit(&self.from_end, count - 1 - to).filter(|bit| *bit < count).map(|bit| count - 1 - bit);
        forward.into_iter().chain(backward).max()
    }

    /// The places counted from the start, in words; bit 0 of the first is place 1.
    pub(crate) const fn words_from_start(&self) -> &[u64; WORDS] {
        &self.from_start
    }

    /// The places counted from the end, in words; bit 0 of the first is the last place.
    pub(crate) const fn words_from_end(&self) -> &[u64; WORDS] {
        &self.from_end
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

/// The first bit that is set from `from` on.
pub(crate) fn next_bit(words: &[u64], from: u32) -> Option<u32> {
    let first = usize::try_from(from / 64).unwrap_or(usize::MAX);
    let mut mask = u64::MAX << (from % 64);
    for (index, word) in words.iter().enumerate().skip(first) {
        if word & mask != 0 {
            return Some(word_start(index) + (word & mask).trailing_zeros());
        }
        mask = u64::MAX;
    }
    None
}

/// The last bit that is set up to and including `to`.
pub(crate) fn last_bit(words: &[u64], to: u32) -> Option<u32> {
    let last = usize::try_from(to / 64).unwrap_or(usize::MAX);
    let mut mask = u64::MAX >> (63 - to % 64);
    if last >= words.len() {
        mask = u64::MAX;
    }
    for (index, word) in words.iter().enumerate().take(last.saturating_add(1)).rev() {
        if word & mask != 0 {
            return Some(word_start(index) + 63 - (word & mask).leading_zeros());
        }
        mask = u64::MAX;
    }
    None
}

/// The number of bits that are set before `before`.
pub(crate) fn bits_before(words: &[u64], before: u32) -> u32 {
    let whole = usize::try_from(before / 64).unwrap_or(usize::MAX).min(words.len());
    let (whole, rest) = words.split_at(whole);
    let partial = rest.first().map_or(0, |word| (word & !(u64::MAX << (before % 64))).count_ones());
    whole.iter().map(|word| word.count_ones()).sum::<u32>() + partial
}

/// The bit that is set after `index` others.
pub(crate) fn nth_bit(words: &[u64], index: u32) -> Option<u32> {
    let mut left = index;
    for (at, word) in words.iter().enumerate() {
        let count = word.count_ones();
        if left < count {
            // `left` is less than 64.
            return bits(*word).nth(usize::try_from(left).unwrap_or(usize::MAX)).map(|bit| word_start(at) + bit);
        }
        left -= count;
    }
    None
}

/// The number of the first bit of a word. No set here has more than a few words.
fn word_start(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(0) * 64
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

    /// Compares the searches with a plain list, for a few sets and every index.
    #[test]
    fn searches_agree_with_a_list() {
        for numbers in [&[][..], &[1], &[-1], &[3, 64, 65, -2, -70], &[1, 2, 3, -1, -2, -3], &[100, -100, 300]] {
            let mut places = Places::<6>::NONE;
            numbers.iter().filter_map(|number| Place::numbered(*number)).for_each(|place| places.insert(place));
            for count in [1, 2, 5, 63, 64, 65, 128, 366] {
                let chosen: Vec<u32> =
                    (0..count).filter(|at| places.holds(*at as usize, (count - 1 - at) as usize)).collect();
                for at in 0..count + 2 {
                    assert_eq!(places.index_from(at, count), chosen.iter().copied().find(|index| *index >= at));
                    assert_eq!(places.index_to(at, count), chosen.iter().copied().rfind(|index| *index <= at));
                }
            }
            assert_eq!(places.index_to(0, 0), None);
            let words = places.words_from_start();
            let set: Vec<u32> = (0..384).filter(|bit| words[*bit as usize / 64] >> (bit % 64) & 1 == 1).collect();
            for at in 0..400 {
                assert_eq!(next_bit(words, at), set.iter().copied().find(|bit| *bit >= at));
                assert_eq!(last_bit(words, at), set.iter().copied().rfind(|bit| *bit <= at));
                let before = set.iter().filter(|bit| **bit < at).count();
                assert_eq!(usize::try_from(bits_before(words, at)).unwrap(), before);
                assert_eq!(nth_bit(words, at), set.get(at as usize).copied());
            }
        }
    }

    #[test]
    fn bits_come_lowest_first() {
        assert!(bits(0b1001_0010).eq([1, 4, 7]));
        assert_eq!(bits(0).count(), 0);
    }
}
