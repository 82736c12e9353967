//! The style sheet of the calendar. Pages have no inline styles, so the positions of events are classes.

use super::{days::ROWS_MAX, layout::Place};

/// The largest number of events side by side on one day.
pub(crate) const COLUMNS_MAX: usize = 6;
/// The tracks of a day: each number of columns up to [`COLUMNS_MAX`] divides them evenly. `calendar.css` repeats the
/// number.
const TRACKS: usize = 60;

/// The heads of the days cover the top of the scroll box by multiples of this, in pixels, and by at most that many.
/// `calendar.js` has both numbers.
const COVER: usize = 16;
const COVERS_MAX: usize = 32;

/// The whole style sheet.
pub(crate) fn sheet() -> String {
    let mut sheet = include_str!("../../assets/calendar.css").to_owned();
    // On a phone, days are lists, in which nothing has a position. `calendar.css` has the same width.
    sheet.push_str("@media (min-width: 48rem) {\n");
    for row in 1..=ROWS_MAX {
        sheet.push_str(&format!(".r{row}{{grid-row-start:{row}}}\n"));
        sheet.push_str(&format!(".s{row}{{grid-row-end:span {row}}}\n"));
        sheet.push_str(&format!(".h{row}{{min-height:calc({row}*var(--row))}}\n"));
    }
    for covers in 1..=COVERS_MAX {
        sheet.push_str(&format!("#grid.u{covers}{{scroll-padding-top:{}px}}\n", covers * COVER));
    }
    for columns in 1..=COLUMNS_MAX {
        let width = TRACKS / columns;
        for column in 0..columns {
            let start = column * width + 1;
            sheet.push_str(&format!(".p{columns}-{column}{{grid-column:{start}/span {width}}}\n"));
        }
    }
    sheet.push_str("}\n");
    sheet
}

/// The classes of a place on a day.
pub(crate) fn classes(place: &Place) -> String {
    let Place { rows, column, columns, .. } = place;
    format!("r{} s{} p{columns}-{column}", rows.start + 1, rows.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::layout::arrange;

    #[test]
    fn every_place_has_its_classes() {
        let sheet = sheet();
        let defined = |class: &str| sheet.contains(&format!("\n.{class}{{"));
        for columns in 1..=COLUMNS_MAX {
            let events = vec![0..ROWS_MAX; columns];
            for place in arrange(&events, COLUMNS_MAX).places {
                assert!(classes(&place).split(' ').all(defined), "{place:?}");
            }
        }
        let last = Place { index: 0, rows: ROWS_MAX - 1..ROWS_MAX, column: 0, columns: 1 };
        assert!(classes(&last).split(' ').all(defined));
        assert!(defined("h46") && defined(&format!("h{ROWS_MAX}")));
    }

    #[test]
    fn positions_hold_only_where_days_are_columns() {
        let (wide, positions) = (include_str!("../../assets/calendar.css"), sheet());
        let (before, _) = positions.split_once("\n.r1{").unwrap();
        assert!(before.ends_with("@media (min-width: 48rem) {") && wide.contains("@media (min-width: 48rem) {"));
    }

    #[test]
    fn the_script_knows_how_far_heads_reach() {
        let script = include_str!("../../assets/calendar.js");
        assert!(script.contains(&format!("[{COVER}, {COVERS_MAX}]")));
        assert!(sheet().contains("\n#grid.u32{scroll-padding-top:512px}\n"));
    }

    #[test]
    fn the_columns_of_a_day_fill_it() {
        assert!((1..=COLUMNS_MAX).all(|columns| TRACKS / columns * columns == TRACKS));
        assert!(sheet().contains(&format!("repeat({TRACKS}, minmax(0, 1fr))")));
    }
}
