//! Rows of a statement, bounded by their size in bytes.

use futures::{Stream, TryStreamExt as _};

/// The rows that a page keeps, and how many rows the statement returned.
#[derive(Debug, PartialEq, Eq)]
pub struct RowsWithin<T> {
    /// The first rows, as many as fit.
    pub rows: Vec<T>,
    /// How many rows there were, including those that did not fit.
    pub fetched: usize,
}

/// Collects rows until they take `most` bytes, measured by `weigh`. The row that crosses the bound is the last one
/// kept.
///
/// The remaining rows are read and dropped one at a time, so that the connection stays in step with the database.
///
/// # Errors
/// The first error of the statement.
pub async fn rows_within<T, E>(
    rows: impl Stream<Item = Result<T, E>>,
    weigh: impl Fn(&T) -> usize,
    most: usize,
) -> Result<RowsWithin<T>, E> {
    let mut rows = std::pin::pin!(rows);
    let mut within = RowsWithin { rows: Vec::new(), fetched: 0 };
    let mut weight = 0;
    while let Some(row) = rows.try_next().await? {
        within.fetched += 1;
        if weight < most {
            weight += weigh(&row);
            within.rows.push(row);
        }
    }
    Ok(within)
}

/// Approximately how many bytes a sealed text takes once opened. Sealed texts are base64.
pub const fn sealed_weight(sealed: &str) -> usize {
    sealed.len() / 4 * 3
}

#[cfg(test)]
mod tests {
    use futures::{executor::block_on, stream};

    use super::*;

    #[test]
    fn rows_are_kept_up_to_the_bound_and_all_are_counted() {
        let cases = [
            (vec![], 10, vec![]),
            (vec![4, 4], 10, vec![4, 4]),
            (vec![4, 4, 4, 4], 10, vec![4, 4, 4]),
            (vec![99, 1], 10, vec![99]),
        ];
        for (weights, most, kept) in cases {
            let fetched = weights.len();
            let rows = stream::iter(weights.into_iter().map(Ok::<usize, ()>));
            let within = block_on(rows_within(rows, |weight| *weight, most));
            assert_eq!(within, Ok(RowsWithin { rows: kept, fetched }));
        }
        let broken = stream::iter([Ok(1), Err("broken")]);
        assert_eq!(block_on(rows_within(broken, |_| 1, 10)), Err("broken"));
    }
}
