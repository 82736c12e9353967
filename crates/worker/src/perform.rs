//! The loop that performs a duty.

use std::{sync::Arc, time::Duration};

use kalends_app::App;
use kalends_time::SignedDuration;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use tracing::Instrument as _;

use crate::Duty;

/// Performs `duty` forever.
pub(crate) async fn perform(duty: &'static Duty, app: Arc<App>) {
    let mut ticks = interval(duty.period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut failing = false;
    loop {
        let due = ticks.tick().await;
        let late = due.elapsed();
        failing = run(duty, &app, failing, late).instrument(tracing::error_span!("turn", worker = duty.name)).await;
    }
}

/// Does what is due, batch by batch, and returns whether that failed. The next tick retries a failure.
async fn run(duty: &'static Duty, app: &Arc<App>, failing: bool, late: Duration) -> bool {
    let mut began_late = Some(late);
    loop {
        let began = Instant::now();
        let outcome = (duty.run)(Arc::clone(app)).await;
        kalends_metrics::DUTY_RUN_SECONDS.with_label_values(&[duty.name]).observe(began.elapsed().as_secs_f64());
        let label = if outcome.is_ok() { "done" } else { "failed" };
        kalends_metrics::DUTY_RUNS.with_label_values(&[duty.name, label]).inc();
        let done = match outcome {
            Ok(done) => done,
            Err(error) => {
                // Logged once, not at every tick.
                if !failing {
                    let error: &dyn std::error::Error = &error;
                    tracing::error!(duty = duty.name, error, "{}", duty.failure);
                }
                return true;
            }
        };
        let found = u64::try_from(done.found).unwrap_or(u64::MAX);
        kalends_metrics::DUTY_THINGS.with_label_values(&[duty.name]).inc_by(found);
        let lateness = kalends_metrics::DUTY_LATENESS.with_label_values(&[duty.name]);
        done.late.iter().for_each(|late| lateness.observe(seconds(*late).as_secs_f64()));
        if let Some(began_late) = began_late.take()
            && done.late.is_empty()
        {
            // If the use case does not report when its work fell due, it fell due with the tick.
            lateness.observe(began_late.as_secs_f64());
        }
        if done.all {
            break;
        }
        sleep(duty.rest).await;
    }
    if failing {
        tracing::info!(duty = duty.name, "works again");
    }
    false
}

fn seconds(late: SignedDuration) -> Duration {
    Duration::from_micros(u64::try_from(late.as_micros()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    };

    use kalends_app::{Done, Refusal};
    use tokio_util::{sync::CancellationToken, task::TaskTracker};

    use super::*;
    use crate::tests::app;

    /// The outcomes of the scripted duty, the last one first.
    static SCRIPT: Mutex<Vec<Result<Done, Refusal>>> = Mutex::new(Vec::new());
    static SCRIPTED: Duty = Duty {
        name: "scripted",
        failure: "the script cannot go on",
        period: Duration::from_secs(60),
        rest: Duration::ZERO,
        run: |_| Box::pin(async { SCRIPT.lock().unwrap().pop().unwrap() }),
    };

    #[tokio::test]
    async fn a_duty_runs_until_nothing_is_left_or_it_fails() {
        let app = app();
        let after = async |script: Vec<Result<Done, Refusal>>, failing| {
            *SCRIPT.lock().unwrap() = script.into_iter().rev().collect();
            let failed = run(&SCRIPTED, &app, failing, Duration::ZERO).await;
            (failed, SCRIPT.lock().unwrap().len())
        };
        let more = || Ok(Done { found: 2, all: false, late: vec![SignedDuration::seconds(1), SignedDuration::ZERO] });
        let all = || Ok(Done::swept(true));
        assert_eq!(after(vec![more(), more(), all(), more()], false).await, (false, 1));
        assert_eq!(after(vec![more(), Err(Refusal::Contended), more()], false).await, (true, 1));
        assert_eq!(after(vec![all()], true).await, (false, 0), "the duty works again");
    }

    static RUNS: AtomicUsize = AtomicUsize::new(0);
    static COUNTED: Duty = Duty {
        name: "counted",
        failure: "it never fails",
        period: Duration::from_millis(1),
        rest: Duration::ZERO,
        run: |_| {
            RUNS.fetch_add(1, Ordering::Relaxed);
            Box::pin(async { Ok(Done::swept(true)) })
        },
    };

    #[tokio::test]
    async fn a_duty_runs_at_every_tick_until_it_is_stopped() {
        let (tasks, stop, app) = (TaskTracker::new(), CancellationToken::new(), app());
        let ended = stop.clone();
        let task = tasks.spawn(async move { ended.run_until_cancelled(perform(&COUNTED, app)).await });
        while RUNS.load(Ordering::Relaxed) < 3 {
            tokio::task::yield_now().await;
            sleep(Duration::from_micros(100)).await;
        }
        stop.cancel();
        assert_eq!(task.await.unwrap(), None, "stopped, not finished");
    }
}
