//! The rows that statements return, and how they become domain values. A value that no version of the program writes
//! is an error that names the table, the column and the row.

mod agent;
mod answer;
mod booking;
mod bridge;
mod calendar;
mod claim;
mod data_key;
mod event;
mod organization;
mod principal;
mod proposal;
mod rules;
mod scoped_key;
mod session;
mod subscription;
mod user;
mod webhook;

use std::fmt::Display;

use kalends_calendars::Reminders;
use kalends_kernel::StoreError;

pub(crate) use agent::{AgentRow, agent_row};
pub(crate) use answer::{AnswerRow, located_answer};
pub(crate) use booking::{BookingPageRow, BookingRow, constraints_json};
pub(crate) use bridge::{ConnectionRow, ExternalCalendarRow, GrantRow, LinkRow, ReadingRow, packed};
pub(crate) use calendar::{CalendarRow, calendar_row};
pub(crate) use claim::ClaimRow;
pub(crate) use data_key::{DataKeyRow, state_name};
pub(crate) use event::{EventRow, RepeatingRow, event_row};
pub(crate) use organization::{CodeRow, OrganizationRow, limits};
pub(crate) use principal::PrincipalRow;
pub(crate) use proposal::{ProposalRow, proposal_row};
pub(crate) use rules::{RulesRow, read_rules};
pub(crate) use scoped_key::ScopedKeyRow;
pub(crate) use session::SessionRow;
pub(crate) use subscription::{ItemRow, NeighbourRow, SubscriptionRow};
pub(crate) use user::{OwnerRow, UserRow};
pub(crate) use webhook::{DeliveryRow, WebhookRow};

/// The table and row of a corrupt value.
pub(crate) struct Located<I> {
    pub(crate) table: &'static str,
    pub(crate) id: I,
}

impl<I: Display> Located<I> {
    pub(crate) fn corrupt(&self, column: &'static str, detail: impl Display) -> StoreError {
        StoreError::corrupt(self.table, column, &self.id, detail)
    }

    /// The domain value of a name.
    pub(crate) fn named<T>(
        &self,
        column: &'static str,
        name: &str,
        from_name: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, StoreError> {
        from_name(name).ok_or_else(|| self.corrupt(column, format!("unknown name {name:?}")))
    }

    pub(crate) fn reminders(&self, column: &'static str, text: Option<&str>) -> Result<Option<Reminders>, StoreError> {
        let Some(text) = text else { return Ok(None) };
        let minutes: Vec<i64> = serde_json::from_str(text).map_err(|error| self.corrupt(column, error))?;
        Reminders::parse(column, &minutes).map(Some).map_err(|error| self.corrupt(column, error.message))
    }

    /// The 32 bytes of a hash.
    pub(crate) fn hash(&self, column: &'static str, bytes: &[u8]) -> Result<[u8; 32], StoreError> {
        bytes.try_into().map_err(|_| self.corrupt(column, format!("must be 32 bytes, got {}", bytes.len())))
    }
}
