//! The list of duties.

use std::{sync::Arc, time::Duration};

use kalends_app::{App, Done, Refusal};

use crate::Duty;

/// How many expired holds one batch ends.
const HOLDS_AT_ONCE: u32 = 512;
/// How many expired proposals one batch ends.
const PROPOSALS_AT_ONCE: u32 = 256;
/// How many expired approvals one batch ends.
const APPROVALS_AT_ONCE: u32 = 256;
/// How many events with due timers one batch looks at.
const TIMERS_AT_ONCE: u32 = 512;
/// How many claims one batch puts into effect.
const CLAIMS_AT_ONCE: u32 = 64;
/// How many rows of a kind one batch removes. It is small so that other writers do not wait long.
const PURGE_AT_ONCE: u32 = 500;
/// The pause between two batches of removed rows, so that other writers get their turn.
const PURGE_REST: Duration = Duration::from_millis(50);

/// The duties, in any order. Every node runs them all, but each due thing is done once.
pub const DUTIES: &[Duty] = &[
    // Holds stop blocking at the timestamp at which they expire. The period bounds how late their status and their
    // webhook message are.
    Duty {
        name: "expired_holds",
        failure: "cannot end expired holds",
        period: Duration::from_secs(1),
        rest: Duration::ZERO,
        run: |app| Box::pin(async move { app.expire_holds(HOLDS_AT_ONCE).await }),
    },
    Duty {
        name: "expired_proposals",
        failure: "cannot end expired proposals",
        period: Duration::from_secs(1),
        rest: Duration::ZERO,
        run: |app| Box::pin(async move { app.expire_proposals(PROPOSALS_AT_ONCE).await }),
    },
    // Approvals reserve nothing and cannot be decided from the timestamp at which they expire.
    Duty {
        name: "expired_approvals",
        failure: "cannot end expired approvals",
        period: Duration::from_secs(1),
        rest: Duration::ZERO,
        run: |app| Box::pin(async move { app.expire_approvals(APPROVALS_AT_ONCE).await }),
    },
    Duty {
        name: "timers",
        failure: "cannot send reminders, starts and ends",
        period: Duration::from_millis(250),
        rest: Duration::ZERO,
        run: |app| Box::pin(async move { app.announce_due(TIMERS_AT_ONCE).await }),
    },
    // Events that are due stay due until their batch, so that a large calendar delays nothing else.
    Duty {
        name: "timers_again",
        failure: "cannot apply new default reminders",
        period: Duration::from_secs(1),
        rest: Duration::ZERO,
        run: |app| Box::pin(async move { app.recompute_timers(TIMERS_AT_ONCE).await }),
    },
    Duty {
        name: "timers_of_old_events",
        failure: "cannot set timers for events that were created before timers existed",
        period: Duration::from_secs(60),
        rest: Duration::ZERO,
        run: |app| Box::pin(async move { app.seed_timers(TIMERS_AT_ONCE).await.map(Done::swept) }),
    },
    // Each event is indexed when it is written. During a rolling upgrade, nodes of the earlier release write events
    // without that.
    Duty {
        name: "metadata_index",
        failure: "cannot index the metadata of events of an earlier release",
        period: Duration::from_secs(5),
        rest: PURGE_REST,
        run: |app| Box::pin(async move { app.index_metadata(PURGE_AT_ONCE).await.map(Done::swept) }),
    },
    // The period is the longest time before a due claim takes effect.
    Duty {
        name: "claims",
        failure: "cannot put claims into effect",
        period: Duration::from_secs(1),
        rest: Duration::ZERO,
        run: |app| Box::pin(settle_claims(app)),
    },
    Duty {
        name: "purge",
        failure: "cannot purge expired rows",
        period: Duration::from_secs(15 * 60),
        rest: PURGE_REST,
        run: |app| Box::pin(purge(app)),
    },
    // For metrics only.
    Duty {
        name: "webhook_backlog",
        failure: "cannot measure the webhook queues",
        period: Duration::from_secs(10),
        rest: Duration::ZERO,
        run: |app| Box::pin(async move { app.measure_backlog().await.map(|_| Done::swept(true)) }),
    },
    Duty {
        name: "deleted_accounts",
        failure: "cannot remove deleted accounts",
        period: Duration::from_secs(2),
        rest: PURGE_REST,
        run: |app| Box::pin(async move { app.remove_deleted_accounts(PURGE_AT_ONCE).await.map(Done::swept) }),
    },
];

/// Puts due claims into effect, one batch per tick. A claim that cannot take effect stays due, so this does not loop
/// until none is left.
async fn settle_claims(app: Arc<App>) -> Result<Done, Refusal> {
    let found = app.settle_claims(CLAIMS_AT_ONCE).await?;
    Ok(Done { found, ..Done::swept(true) })
}

/// Removes a batch of each kind of expired row: audit log entries; counts, answers, sessions, password tokens, invitations
/// of members, and attempts to sign in or to connect; ended claims and connection links; timers of deleted calendars; reservations of
/// ended proposals; webhook deliveries and messages; records of emails; records of events that moved to another
/// calendar; deleted imported events; entries of change feeds; the writes of runs; decided
/// and expired approvals; codes, refresh tokens and unused clients of connectors. It also revokes
/// the keys of connectors that nobody refreshed in time.
async fn purge(app: Arc<App>) -> Result<Done, Refusal> {
    let entries = app.purge_audit(PURGE_AT_ONCE).await?;
    let counts = app.forget_allowances(PURGE_AT_ONCE).await?;
    let answers = app.forget_answers(PURGE_AT_ONCE).await?;
    let sessions = app.forget_sessions(PURGE_AT_ONCE).await?;
    let tokens = app.forget_user_tokens(PURGE_AT_ONCE).await?;
    let invitations = app.forget_invitations(PURGE_AT_ONCE).await?;
    let claims = app.forget_claims(PURGE_AT_ONCE).await?;
    let attempts = app.forget_attempts(PURGE_AT_ONCE).await?;
    let links = app.forget_links(PURGE_AT_ONCE).await?;
    let timers = app.forget_timers(PURGE_AT_ONCE).await?;
    let reservations = app.forget_reservations(PURGE_AT_ONCE).await?;
    let deliveries = app.forget_deliveries(PURGE_AT_ONCE).await?;
    let mail = app.forget_mail(PURGE_AT_ONCE).await?;
    let moved = app.purge_moved_events(PURGE_AT_ONCE).await?;
    let imported = app.purge_imported_events(PURGE_AT_ONCE).await?;
    let changes = app.purge_changes(PURGE_AT_ONCE).await?;
    let runs = app.purge_run_writes(PURGE_AT_ONCE).await?;
    let approvals = app.purge_approvals(PURGE_AT_ONCE).await?;
    let connectors = app.forget_connectors(PURGE_AT_ONCE).await?;
    let grants = app.end_lapsed_grants(PURGE_AT_ONCE).await?;
    let people = answers && sessions && tokens && invitations && claims && attempts && links && connectors && grants;
    let schedule = timers && reservations && moved && imported && changes && runs && approvals;
    Ok(Done::swept(entries && counts && people && schedule && deliveries && mail))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_duty_has_a_unique_name_and_a_failure_message() {
        let names: BTreeSet<&str> = DUTIES.iter().map(|duty| duty.name).collect();
        assert_eq!(names.len(), DUTIES.len());
        assert!(DUTIES.iter().all(|duty| !duty.failure.is_empty() && !duty.period.is_zero()));
    }

    #[test]
    fn each_duty_is_documented_with_its_period() {
        let documented = include_str!("../../../docs/run/background.md");
        for duty in DUTIES {
            let seconds = duty.period.as_secs_f64();
            let often = if seconds < 120.0 { format!("{seconds} s") } else { format!("{} min", seconds / 60.0) };
            assert!(documented.contains(&format!("| `{}` | {often} |", duty.name)), "{}: {often}", duty.name);
        }
    }
}
