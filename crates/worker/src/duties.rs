//! The list of duties.

use std::{sync::Arc, time::Duration};

use kalends_app::{App, Done, Refusal};

use crate::Duty;

/// How many holds that are over are ended at once.
const HOLDS_AT_ONCE: u32 = 512;
/// How many proposals that are over are ended at once.
const PROPOSALS_AT_ONCE: u32 = 256;
/// How many events are looked at at once because something is due.
const TIMERS_AT_ONCE: u32 = 512;
/// How many claims take effect at once.
const CLAIMS_AT_ONCE: u32 = 64;
/// How many rows of a kind are removed at once, so that nobody waits long behind them.
const PURGE_AT_ONCE: u32 = 500;
/// How long others come first between two batches of rows that are removed.
const PURGE_REST: Duration = Duration::from_millis(50);

/// Every duty that is done once for all nodes, in any order.
pub const DUTIES: &[Duty] = &[
    // They block nothing from the instant at which they expire; this is how late their status and their
    // announcement may be.
    Duty {
        name: "expired_holds",
        failure: "expired holds cannot be ended",
        period: Duration::from_secs(1),
        rest: Duration::ZERO,
        run: |app| Box::pin(async move { app.expire_holds(HOLDS_AT_ONCE).await }),
    },
    Duty {
        name: "expired_proposals",
        failure: "proposals that are over cannot be ended",
        period: Duration::from_secs(1),
        rest: Duration::ZERO,
        run: |app| Box::pin(async move { app.expire_proposals(PROPOSALS_AT_ONCE).await }),
    },
    Duty {
        name: "timers",
        failure: "reminders, starts and ends cannot be told",
        period: Duration::from_millis(250),
        rest: Duration::ZERO,
        run: |app| Box::pin(async move { app.tell_due(TIMERS_AT_ONCE).await }),
    },
    // What is due stays due meanwhile, so that a large calendar keeps nobody waiting.
    Duty {
        name: "timers_again",
        failure: "new default reminders cannot be heeded",
        period: Duration::from_secs(1),
        rest: Duration::ZERO,
        run: |app| Box::pin(async move { app.look_again(TIMERS_AT_ONCE).await }),
    },
    Duty {
        name: "timers_of_old_events",
        failure: "events that are older than timers cannot get theirs",
        period: Duration::from_secs(60),
        rest: Duration::ZERO,
        run: |app| Box::pin(async move { app.seed_timers(TIMERS_AT_ONCE).await.map(Done::swept) }),
    },
    // How late a human becomes the owner at most.
    Duty {
        name: "claims",
        failure: "claims cannot take effect",
        period: Duration::from_secs(1),
        rest: Duration::ZERO,
        run: |app| Box::pin(settle_claims(app)),
    },
    Duty {
        name: "purge",
        failure: "what is kept no longer cannot be removed",
        period: Duration::from_secs(15 * 60),
        rest: PURGE_REST,
        run: |app| Box::pin(purge(app)),
    },
    // For the metrics alone.
    Duty {
        name: "webhook_backlog",
        failure: "the queues of webhooks cannot be measured",
        period: Duration::from_secs(10),
        rest: Duration::ZERO,
        run: |app| Box::pin(async move { app.measure_backlog().await.map(|_| Done::swept(true)) }),
    },
    Duty {
        name: "deleted_accounts",
        failure: "deleted accounts cannot be removed",
        period: Duration::from_secs(2),
        rest: PURGE_REST,
        run: |app| Box::pin(async move { app.remove_deleted_accounts(PURGE_AT_ONCE).await.map(Done::swept) }),
    },
];

/// Lets claims take effect whose hold is over. What is more waits for the next tick: a claim that cannot take effect
/// stays due.
async fn settle_claims(app: Arc<App>) -> Result<Done, Refusal> {
    let found = app.settle_claims(CLAIMS_AT_ONCE).await?;
    Ok(Done { found, ..Done::swept(true) })
}

/// Removes a batch of each kind of what is kept no longer: entries of the audit log; counts, answers, sessions, tokens for
/// passwords and attempts to sign in or to connect that have expired; claims and connection links that have ended; timers of
/// calendars that were deleted; reservations of proposals that are over; webhook deliveries; imported events that were
/// deleted.
async fn purge(app: Arc<App>) -> Result<Done, Refusal> {
    let entries = app.purge_audit(PURGE_AT_ONCE).await?;
    let counts = app.forget_allowances(PURGE_AT_ONCE).await?;
    let answers = app.forget_answers(PURGE_AT_ONCE).await?;
    let sessions = app.forget_sessions(PURGE_AT_ONCE).await?;
    let resets = app.forget_resets(PURGE_AT_ONCE).await?;
    let claims = app.forget_claims(PURGE_AT_ONCE).await?;
    let attempts = app.forget_attempts(PURGE_AT_ONCE).await?;
    let links = app.forget_links(PURGE_AT_ONCE).await?;
    let timers = app.forget_timers(PURGE_AT_ONCE).await?;
    let reservations = app.forget_reservations(PURGE_AT_ONCE).await?;
    let deliveries = app.forget_deliveries(PURGE_AT_ONCE).await?;
    let imported = app.purge_imported_events(PURGE_AT_ONCE).await?;
    let people = answers && sessions && resets && claims && attempts && links;
    Ok(Done::swept(entries && counts && people && timers && reservations && deliveries && imported))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_duty_has_a_name_of_its_own_and_says_what_fails() {
        let names: BTreeSet<&str> = DUTIES.iter().map(|duty| duty.name).collect();
        assert_eq!(names.len(), DUTIES.len());
        assert!(DUTIES.iter().all(|duty| !duty.failure.is_empty() && !duty.period.is_zero()));
    }

    #[test]
    fn each_duty_is_documented_with_how_often_it_looks() {
        let documented = include_str!("../../../docs/running.md");
        for duty in DUTIES {
            let seconds = duty.period.as_secs_f64();
            let often = if seconds < 120.0 { format!("{seconds} s") } else { format!("{} min", seconds / 60.0) };
            assert!(documented.contains(&format!("| `{}` | {often} |", duty.name)), "{}: {often}", duty.name);
        }
    }
}
