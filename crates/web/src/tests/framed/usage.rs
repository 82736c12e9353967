//! The page of the usage.

use super::shell;
use crate::{Place, UsagePage, UsedMetric, UsedMonths};

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Usage);
    let metric = |monthly, used, limit| UsedMetric { title: text, monthly, used, limit, at_limit: text };
    let metrics = [
        metric(true, 79, Some(100)),
        metric(true, 80, Some(100)),
        metric(false, 3, Some(3)),
        metric(false, 4, Some(3)),
        metric(false, 0, Some(0)),
        metric(true, 1_000_000, None),
    ];
    let months = (1..=12).map(|month: u32| (format!("2026-{month:02}"), u64::from(month) * 1_000)).collect();
    let history = [UsedMonths { title: text, months }];
    let shown = UsagePage {
        shell,
        plan: text,
        rate_per_second: Some(10),
        resets_at: "2027-01-01T00:00:00Z".parse().unwrap(),
        metrics: &metrics,
        history: &history,
        unused: &[text],
    };
    let calm = UsagePage { metrics: &metrics[..1], history: &[], rate_per_second: None, ..shown };
    vec![("usage", shown.html()), ("usage, new", calm.html())]
}
