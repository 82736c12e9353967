//! Places the events of a day side by side.

use std::{cmp::Reverse, ops::Range};

/// Where an event of a day is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The index of the event.
    pub index: usize,
    /// The rows that it covers.
    pub rows: Range<usize>,
    /// Its column, from 0.
    pub column: usize,
    /// The number of columns into which its rows are divided.
    pub columns: usize,
}

/// The events of a day.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Arranged {
    /// The events that fit, by their first row; the longest first of those that begin in the same row.
    pub places: Vec<Place>,
    /// The indices of the events for which there is no column.
    pub hidden: Vec<usize>,
}

/// Divides a day into columns, so that no two events of one column share a row. `events` are the rows of each event,
/// and `most` is the largest number of columns, so that each stays wide enough to be read.
///
/// Events that share no row with others get the whole width.
pub(crate) fn arrange(events: &[Range<usize>], most: usize) -> Arranged {
    let mut events: Vec<(usize, Range<usize>)> = events.iter().cloned().enumerate().collect();
    events.sort_by_key(|(index, rows)| (rows.start, Reverse(rows.end), *index));
    let mut arranged = Arranged::default();
    // The events that reach into each other form a group. It begins at this place, and its columns end in these rows.
    let (mut begin, mut ends) = (0, Vec::<usize>::new());
    for (index, rows) in events {
        if ends.iter().all(|end| *end <= rows.start) {
            widen(&mut arranged.places, begin, ends.len());
            begin = arranged.places.len();
            ends.clear();
        }
        let column = ends.iter().position(|end| *end <= rows.start).unwrap_or(ends.len());
        if column >= most {
            arranged.hidden.push(index);
            continue;
        }
        match ends.get_mut(column) {
            Some(end) => *end = rows.end,
            None => ends.push(rows.end),
        }
        arranged.places.push(Place { index, rows, column, columns: 0 });
    }
    widen(&mut arranged.places, begin, ends.len());
    arranged
}

/// Lets the places from `begin` on know the number of columns of their group.
fn widen(places: &mut [Place], begin: usize, columns: usize) {
    places.iter_mut().skip(begin).for_each(|place| place.columns = columns);
}

#[cfg(test)]
mod tests {
    use kalends_time::testing::config;
    use proptest::{collection::vec, prelude::*};
    use rstest::rstest;

    use super::*;

    /// Each event as its index, its column and the number of columns.
    fn shown(events: &[Range<usize>], most: usize) -> (Vec<(usize, usize, usize)>, Vec<usize>) {
        let arranged = arrange(events, most);
        let places = arranged.places.iter().map(|place| (place.index, place.column, place.columns));
        (places.collect(), arranged.hidden)
    }

    #[rstest]
    #[case::none(&[], &[], &[])]
    #[case::one_after_the_other(&[20..22, 18..20], &[(1, 0, 1), (0, 0, 1)], &[])]
    #[case::at_the_same_time(&[18..20, 18..20], &[(0, 0, 2), (1, 1, 2)], &[])]
    #[case::the_longest_is_first(&[18..19, 18..22], &[(1, 0, 2), (0, 1, 2)], &[])]
    #[case::a_column_is_used_again(&[18..24, 18..20, 20..22], &[(0, 0, 2), (1, 1, 2), (2, 1, 2)], &[])]
    #[case::a_chain_is_one_group(&[0..4, 2..8, 6..9], &[(0, 0, 2), (1, 1, 2), (2, 0, 2)], &[])]
    #[case::groups_have_their_own_width(&[0..2, 0..2, 4..6], &[(0, 0, 2), (1, 1, 2), (2, 0, 1)], &[])]
    #[case::no_more_columns_than_fit(
        &[0..2, 0..2, 0..2, 0..2, 2..3],
        &[(0, 0, 3), (1, 1, 3), (2, 2, 3), (4, 0, 1)],
        &[3]
    )]
    fn events_are_side_by_side(
        #[case] events: &[Range<usize>],
        #[case] places: &[(usize, usize, usize)],
        #[case] hidden: &[usize],
    ) {
        assert_eq!(shown(events, 3), (places.to_vec(), hidden.to_vec()));
    }

    proptest! {
        #![proptest_config(config(256))]

        /// No two events in one column of a day share a row, columns that share a row are equally wide, and every
        /// event is either placed in its rows or hidden, exactly once.
        #[test]
        fn columns_of_a_day_keep_events_apart(
            events in vec((0..48_usize, 1..12_usize), 0..60), most in 1..7_usize,
        ) {
            let events: Vec<Range<usize>> = events.into_iter().map(|(start, rows)| start..start + rows).collect();
            let Arranged { places, hidden } = arrange(&events, most);
            let mut all: Vec<usize> = places.iter().map(|place| place.index).chain(hidden.iter().copied()).collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..events.len()).collect::<Vec<_>>());
            for (at, place) in places.iter().enumerate() {
                prop_assert_eq!(&place.rows, &events[place.index]);
                prop_assert!(place.column < place.columns && place.columns <= most);
                for other in &places[at + 1..] {
                    prop_assert!(place.rows.start <= other.rows.start, "places are in order");
                    if place.rows.start < other.rows.end && other.rows.start < place.rows.end {
                        prop_assert!(place.column != other.column);
                        prop_assert_eq!(place.columns, other.columns);
                    }
                }
            }
            // An event is hidden only if all columns are taken where it begins.
            for index in hidden {
                let start = events[index].start;
                let there = places.iter().filter(|place| place.rows.contains(&start)).count();
                prop_assert_eq!(there, most);
            }
        }
    }
}
