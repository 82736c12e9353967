//! Figures and the table that shows them.

use crate::load::Round;

/// The result of a case over all rounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figure {
    pub(crate) per_second: f64,
    /// Microseconds.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) processor: f64,
    pub(crate) body_bytes: usize,
}

impl Figure {
    /// The medians of the rounds.
    pub(crate) fn of(rounds: &[Round]) -> Self {
        let over = |value: fn(&Round) -> f64| median(&mut rounds.iter().map(value).collect::<Vec<_>>());
        Self {
            per_second: over(|round| round.per_second),
            p50: over(|round| f64::from(round.p50)),
            p99: over(|round| f64::from(round.p99)),
            processor: over(|round| round.processor),
            body_bytes: rounds.last().map_or(0, |round| round.body_bytes),
        }
    }
}

/// The median, or 0 if there are no values.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Rows of text under headings. The first column is aligned left, the others right.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(headings: &[&str]) -> Self {
        Self { rows: vec![headings.iter().map(|heading| (*heading).to_owned()).collect()] }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(crate) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                match column {
                    0 => line.push_str(&format!("{cell:<width$}")),
                    _ => line.push_str(&format!("  {cell:>width$}")),
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&["case", "requests/s"]);
        table.row(vec!["GET event".into(), "12".into()]);
        assert_eq!(table.render(), "case       requests/s\nGET event          12\n");
    }

    #[test]
    fn the_median_is_the_middle_value() {
        assert!((median(&mut [3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!(median(&mut []).abs() < f64::EPSILON);
    }
}
