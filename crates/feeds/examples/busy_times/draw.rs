//! Random choices that are reproducible from a seed.

/// The generator splitmix64.
#[derive(Debug, Clone)]
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `least` to `most`, inclusive.
    pub(crate) fn between(&mut self, least: i64, most: i64) -> i64 {
        let range = u64::try_from(most - least + 1).unwrap();
        least + i64::try_from(self.next() % range).unwrap()
    }

    /// `true` with a probability of one in `odds`.
    pub(crate) fn one_in(&mut self, odds: i64) -> bool {
        self.between(1, odds) == 1
    }

    /// One of the choices.
    pub(crate) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.between(0, i64::try_from(choices.len()).unwrap() - 1)).unwrap()]
    }

    /// `wanted` and up to `more` others between `least` and `most`, ascending.
    pub(crate) fn list_with(&mut self, wanted: i64, more: i64, least: i64, most: i64) -> Vec<i64> {
        let mut list: Vec<i64> = (0..self.between(0, more)).map(|_| self.between(least, most)).collect();
        list.push(wanted);
        list.retain(|number| *number != 0);
        list.sort_unstable();
        list.dedup();
        list
    }
}
