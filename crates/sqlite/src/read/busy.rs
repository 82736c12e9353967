//! What blocks time.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kalends_calendars::ports::{BusySource, BusyTimes};
use kalends_kernel::{AgentId, CalendarId, Instant, OrgId, Revision, Span, StoreError};

use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::calendar::BusySourceRow,
};

#[async_trait]
impl BusyTimes for SqliteStore {
    async fn sources_of_agents(&self, org: OrgId, agents: &[AgentId]) -> Result<Vec<BusySource>, StoreError> {
        let org_id = org.uuid();
        let found = match agents {
            // By far the most frequent question, in its plainest form.
            [agent] => {
                let agent = agent.uuid();
                sqlx::query_as!(
                    BusySourceRow,
                    "select c.id, c.agent_id, c.revision
                     from agents a join calendars c on c.org_id = a.org_id and c.agent_id = a.id
                     where a.org_id = ?1 and a.id = ?2 and a.status <> 'decommissioned' and c.deleted_at is null",
                    org_id,
                    agent
                )
                .fetch_all(self.readers())
                .await
            }
            several => {
                let distinct: BTreeSet<AgentId> = several.iter().copied().collect();
                let distinct: Vec<Hex> = distinct.into_iter().map(|agent| Hex(agent.uuid())).collect();
                let distinct = json::rows(&distinct).map_err(store_error)?;
                sqlx::query_as!(
                    BusySourceRow,
                    "select c.id, c.agent_id, c.revision
                     from json_each(?2) asked
                        cross join agents a on a.org_id = ?1 and a.id = unhex(asked.value)
                        cross join calendars c on c.org_id = ?1 and c.agent_id = a.id
                     where a.status <> 'decommissioned' and c.deleted_at is null",
                    org_id,
                    distinct
                )
                .fetch_all(self.readers())
                .await
            }
        };
        found.map_err(store_error)?.into_iter().map(BusySourceRow::read).collect()
    }

    async fn source_of_calendar(&self, org: OrgId, calendar: CalendarId) -> Result<Option<BusySource>, StoreError> {
        let (org_id, id) = (org.uuid(), calendar.uuid());
        sqlx::query_as!(
            BusySourceRow,
            "select c.id, c.agent_id, c.revision
             from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where c.org_id = ?1 and c.id = ?2 and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')",
            org_id,
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(BusySourceRow::read)
        .transpose()
    }

    async fn blocking_spans(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
    ) -> Result<Option<(Revision, Vec<Span>)>, StoreError> {
        let (org_id, id) = (org.uuid(), calendar.uuid());
        let (from, to) = (window.start().as_micros(), window.end().as_micros());
        // The driver costs by the row, so all spans come as one text. That they are not cancelled is said
        // twice, since only then the index by end serves.
        let found = sqlx::query!(
            r#"select c.revision,
                (select group_concat(e.start_at) || ';' || group_concat(e.end_at) from events e
                    where e.org_id = ?1 and e.calendar_id = ?2 and e.deleted_at is null
                        and e.status <> 'cancelled' and e.status in ('confirmed', 'tentative')
                        and e.end_at > ?3 and e.start_at < ?4
                ) as "spans: String"
             from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where c.org_id = ?1 and c.id = ?2 and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')"#,
            org_id,
            id,
            from,
            to
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?;
        let Some(found) = found else { return Ok(None) };
        let mut spans = unpack(found.spans.as_deref().unwrap_or_default()).ok_or_else(|| {
            StoreError::corrupt("events", "end_at", format_args!("an event of {calendar}"), "not after start_at")
        })?;
        // They come in the order of their ends, which is almost that of their starts.
        spans.sort();
        Ok(Some((Revision(found.revision), spans)))
    }
}

/// The spans of a text such as `3,4;5,8`: all starts, then all ends, which costs SQLite less than pairs.
fn unpack(text: &str) -> Option<Vec<Span>> {
    let Some((starts, ends)) = text.split_once(';') else { return text.is_empty().then(Vec::new) };
    let (mut starts, mut ends) = (starts.bytes().peekable(), ends.bytes().peekable());
    let mut spans = Vec::with_capacity(text.len() / 34 + 1);
    while starts.peek().is_some() {
        let (start, end) = (number(&mut starts, b',')?, number(&mut ends, b',')?);
        spans.push(Span::new(Instant::from_micros(start), Instant::from_micros(end)).ok()?);
    }
    ends.peek().is_none().then_some(spans)
}

/// The number up to `stop` or the end.
fn number(bytes: &mut impl Iterator<Item = u8>, stop: u8) -> Option<i64> {
    let (mut value, mut negative, mut digits) = (0i64, false, 0);
    for byte in bytes {
        match byte {
            b'0'..=b'9' => {
                value = value.checked_mul(10)?.checked_sub(i64::from(byte - b'0'))?;
                digits += 1;
            }
            b'-' if digits == 0 && !negative => negative = true,
            byte if byte == stop => break,
            _ => return None,
        }
    }
    // Summed downwards, since the least number has no positive counterpart.
    if digits == 0 {
        None
    } else if negative {
        Some(value)
    } else {
        value.checked_neg()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(text: &str) -> Option<Vec<(i64, i64)>> {
        let ends = |span: Span| (span.start().as_micros(), span.end().as_micros());
        unpack(text).map(|spans| spans.into_iter().map(ends).collect())
    }

    #[test]
    fn packed_spans_are_read() {
        assert_eq!(unpacked(""), Some(vec![]));
        assert_eq!(unpacked("3;5"), Some(vec![(3, 5)]));
        assert_eq!(unpacked("-9223372036854775808,0;9223372036854775807,1"), Some(vec![(i64::MIN, i64::MAX), (0, 1)]));
        for broken in ["3", "3;", "5;3", "3;5,4", "3,4;5", "a;b", "3;9223372036854775808", "3;5.0", "--3;5"] {
            assert_eq!(unpacked(broken), None, "{broken}");
        }
    }
}
