//! The ports that read, one module each.
//!
//! A list takes one statement: it reads the page, and counts all matches unless the page already implies the count.
//! Only a page beyond the end has no row that carries the count, and needs a second statement.

mod account_data;
mod agents;
mod answers;
mod approvals;
mod audit;
mod backups;
mod bookings;
mod bookings_of_pages;
mod bridge;
mod busy;
mod calendars;
mod change_feed;
mod changes;
mod claims;
mod event_metadata;
mod events;
mod feeds;
mod filter;
mod glances;
mod holds;
mod human;
mod instances;
mod names;
mod organization_lists;
mod organizations;
mod people;
mod principals;
mod proposals;
mod publications;
mod readiness;
mod rules;
mod runs;
mod scoped_keys;
mod search;
mod second_factors;
mod sessions;
mod subscriptions;
mod timers;
mod usage;
mod user_tokens;
mod webhooks;

use kalends_kernel::{Listed, Page, StoreError};

use crate::error::store_error;
use crate::rows::total_of;

/// A page of a list with its total: derived from the page, returned with its rows, or counted by `count`.
async fn listed<T>(
    data: Vec<T>,
    page: Page,
    counted: Option<i64>,
    count: impl Future<Output = Result<i64, sqlx::Error>>,
) -> Result<Listed<T>, StoreError> {
    let fetched = data.len();
    listed_of(data, fetched, page, counted, count).await
}

/// Does the same as [`listed`] for a page that may have fewer rows than the statement returned, because they take too
/// many bytes.
async fn listed_of<T>(
    data: Vec<T>,
    fetched: usize,
    page: Page,
    counted: Option<i64>,
    count: impl Future<Output = Result<i64, sqlx::Error>>,
) -> Result<Listed<T>, StoreError> {
    let count = async { count.await.map_err(store_error) };
    let total = total_of(fetched, page, counted, count).await?;
    Ok(Listed { data, total })
}
