//! Sorting by time, faster than by comparisons alone.

use kalends_time::Timestamp;

/// Fewer values than this are sorted by comparisons.
const FEW: usize = 256;

/// Sorts `values` by their times.
///
/// The time from the first to the last is cut into about as many buckets as there are values. Each value goes into its
/// bucket, and each bucket is sorted. Takes *O*(*n*) if the times are spread evenly, and *O*(*n* log *n*) at the worst,
/// when they are all in one bucket.
pub(crate) fn sort_by_time<T: Copy>(values: Vec<T>, time: impl Fn(&T) -> Timestamp) -> Vec<T> {
    let mut values = values;
    let key = |value: &T| time(value).as_micros();
    let ends = values.iter().map(key).fold(None, |ends: Option<(i64, i64)>, at| {
        Some(ends.map_or((at, at), |(first, last)| (first.min(at), last.max(at))))
    });
    let (Some((first, last)), true) = (ends, values.len() >= FEW) else {
        values.sort_unstable_by_key(key);
        return values;
    };
    // Two values a bucket on average, so that the buckets fit into the cache.
    let buckets = (values.len() / 2).next_power_of_two();
    let reach = u64::BITS - last.abs_diff(first).leading_zeros();
    let shift = reach.saturating_sub(buckets.trailing_zeros());
    // Never the fallback: the shift leaves as many bits as there are buckets.
    let bucket = |value: &T| usize::try_from(key(value).abs_diff(first) >> shift).unwrap_or(0);

    // The start of each bucket. While values are placed, it moves to the start of the next one.
    let mut starts = vec![0_usize; buckets + 1];
    for value in &values {
        starts[bucket(value) + 1] += 1;
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    let mut placed = values.clone();
    for value in &values {
        let next = &mut starts[bucket(value)];
        placed[*next] = *value;
        *next += 1;
    }
    let mut from = 0;
    for until in starts {
        if until - from > 1 {
            placed[from..until].sort_unstable_by_key(key);
        }
        from = until;
    }
    placed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The sort by buckets agrees with the sort of the standard library.
        #[test]
        fn agrees_with_a_sort(
            near in prop::collection::vec(-1_000..1_000i64, 0..600),
            far in prop::collection::vec(any::<i64>(), 0..300),
            wide: bool,
        ) {
            let mut values: Vec<i64> = if wide { near.into_iter().chain(far).collect() } else { near };
            let sorted = sort_by_time(values.clone(), |micros| Timestamp::from_micros(*micros));
            values.sort_unstable();
            prop_assert_eq!(sorted, values);
        }
    }

    #[test]
    fn all_at_one_time_and_at_both_ends_of_time() {
        let same = vec![7; 1_000];
        assert_eq!(sort_by_time(same.clone(), |micros| Timestamp::from_micros(*micros)), same);
        let ends: Vec<i64> = (0..1_000).map(|index| if index % 2 == 0 { i64::MAX } else { i64::MIN }).collect();
        let sorted = sort_by_time(ends, |micros| Timestamp::from_micros(*micros));
        assert!(sorted.is_sorted() && sorted[499] == i64::MIN && sorted[500] == i64::MAX);
    }
}
