//! Rows of a statement within a bound of bytes.

use futures::{Stream, TryStreamExt as _};

/// The rows that a page keeps, and how many the statement gave.
#[derive(Debug, PartialEq, Eq)]
pub struct RowsWithin<T> {
    /// The first rows, as many as fit.
    pub rows: Vec<T>,
    /// How many rows there were, the ones that did not fit included.
    pub given: usize,
}

/// Collects rows until they take `most` bytes, as `weigh` weighs them: the row that passes the bound is the last one kept.
///
/// The rest is read and dropped, one row at a time, so that the connection stays in step with the database.
///
/// # Errors
/// The first error of the statement.
pub async fn rows_within<T, E>(
    rows: impl Stream<Item = Result<T, E>>,
    weigh: impl Fn(&T) -> usize,
    most: usize,
) -> Result<RowsWithin<T>, E> {
    let mut rows = std::pin::pin!(rows);
    let mut within = RowsWithin { rows: Vec::new(), given: 0 };
    let mut weight = 0;
    while let Some(row) = rows.try_next().await? {
        within.given += 1;
        if weight < most {
            weight += weigh(&row);
            within.rows.push(row);
        }
    }
    Ok(within)
}

/// About how many bytes a sealed text takes when it is opened: sealed texts are base64.
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
            let given = weights.len();
            let rows = stream::iter(weights.into_iter().map(Ok::<usize, ()>));
            let within = block_on(rows_within(rows, |weight| *weight, most));
            assert_eq!(within, Ok(RowsWithin { rows: kept, given }));
        }
        let broken = stream::iter([Ok(1), Err("broken")]);
        assert_eq!(block_on(rows_within(broken, |_| 1, 10)), Err("broken"));
    }
}
