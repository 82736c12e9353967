//! The page that shows what the plan allows and what was used. It is in English, like the console, and works without
//! scripts.

use askama::Template;
use kalends_time::Timestamp;

use crate::{
    chart::{Chart, Group},
    english::in_english,
    numbers::grouped,
    shell::Shell,
    time::{Month, in_utc},
};

/// The share of a limit, in percent, from which on the page warns.
const NEAR: u64 = 80;

/// The use of one metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsedMetric<'a> {
    /// The metric's name for people.
    pub title: &'a str,
    /// Whether it is counted by month. Otherwise, it counts what exists now.
    pub monthly: bool,
    /// What is used.
    pub used: u64,
    /// The limit; `None` is unlimited.
    pub limit: Option<u64>,
    /// What happens while the limit is reached, in whole sentences.
    pub at_limit: &'a str,
}

impl UsedMetric<'_> {
    /// The limit, if the plan has the metric at all and limits it.
    fn cap(&self) -> Option<u64> {
        self.limit.filter(|limit| *limit > 0)
    }

    fn used_text(&self) -> String {
        grouped(self.used)
    }

    fn limit_text(&self) -> String {
        match self.limit {
            None => "No limit".to_owned(),
            Some(0) => "Not in the plan".to_owned(),
            Some(limit) => grouped(limit),
        }
    }

    /// The share of the limit in percent, rounded down.
    pub(crate) fn share(&self) -> Option<u64> {
        let limit = self.cap()?;
        let share = u128::from(self.used) * 100 / u128::from(limit);
        Some(u64::try_from(share).unwrap_or(u64::MAX))
    }

    /// The length of the bar in percent.
    fn length(&self) -> Option<u64> {
        self.share().map(|share| share.min(100))
    }

    fn is_reached(&self) -> bool {
        self.cap().is_some_and(|limit| self.used >= limit)
    }

    fn when(&self) -> &'static str {
        if self.monthly { "this month" } else { "now" }
    }

    /// What is said above the table, if the limit is reached or near.
    fn warning(&self) -> Option<String> {
        let (title, limit, share) = (self.title, self.cap()?, self.share()?);
        let shown = grouped(limit);
        if self.used >= limit {
            let verb = if self.used > limit { "exceeded" } else { "reached" };
            return Some(format!("{title}: the limit of {shown} is {verb}. {}", self.at_limit));
        }
        (share >= NEAR).then(|| format!("{title}: {share} % of the limit of {shown} is used."))
    }
}

/// The use of a metric in the last months.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedMonths<'a> {
    /// The metric's name for people.
    pub title: &'a str,
    /// The months, such as `2026-11`, the oldest first, each with the number used.
    pub months: Vec<(String, u64)>,
}

/// A month in the table beside a chart.
struct Row<'a> {
    name: &'a str,
    used: String,
}

impl UsedMonths<'_> {
    fn chart(&self) -> Chart<1> {
        let short = |month: &str| month.parse::<Month>().map_or("", Month::short).to_owned();
        let group = |(month, used): &(String, u64)| Group { name: short(month), numbers: [*used] };
        let (first, last) = self.span();
        Chart {
            label: format!("{} from {first} to {last}. The table has the numbers.", self.title),
            series: ["Used"],
            groups: self.months.iter().map(group).collect(),
        }
    }

    /// The months since the first use, the newest first.
    fn rows(&self) -> Vec<Row<'_>> {
        let since_first_use = self.months.iter().skip_while(|(_, used)| *used == 0);
        let rows = since_first_use.map(|(name, used)| Row { name, used: grouped(*used) });
        let mut rows: Vec<_> = rows.collect();
        rows.reverse();
        rows
    }

    /// The months of the chart, and the first one in the table if that leaves some out.
    fn hint(&self) -> String {
        let (first, last) = self.span();
        let begin = self.months.iter().find(|(_, used)| *used > 0).map(|(name, _)| name.as_str());
        match begin.filter(|begin| *begin != first) {
            Some(begin) => format!("From {first} to {last}. First used in {begin}."),
            None => format!("From {first} to {last}."),
        }
    }

    /// The first month and the last one.
    fn span(&self) -> (&str, &str) {
        let ends = [self.months.first(), self.months.last()];
        let [first, last] = ends.map(|month| month.map_or("", |(name, _)| name.as_str()));
        (first, last)
    }
}

/// What was used, and what the plan allows.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "usage.html")]
pub struct UsagePage<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The plan, as usage reports name it.
    pub plan: &'a str,
    /// The requests that each key may make in a second; `None` is unlimited.
    pub rate_per_second: Option<u32>,
    /// When the monthly counts start again.
    pub resets_at: Timestamp,
    /// Everything that a plan limits.
    pub metrics: &'a [UsedMetric<'a>],
    /// The last months of the metrics of which something was used.
    pub history: &'a [UsedMonths<'a>],
    /// The names of the metrics of which nothing was used in these months.
    pub unused: &'a [&'a str],
}

impl UsagePage<'_> {
    fn warnings(&self) -> Vec<String> {
        self.metrics.iter().filter_map(UsedMetric::warning).collect()
    }

    /// What was not used, if something else was.
    fn unused_text(&self) -> Option<String> {
        let shown = !self.history.is_empty() && !self.unused.is_empty();
        shown.then(|| format!("Nothing in the last 12 months: {}.", self.unused.join(", ")))
    }

    fn resets(&self) -> String {
        in_utc(self.resets_at)
    }
}

in_english!(UsagePage<'_>);

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn months_are_named_below_their_bars() {
        let months = vec![("2026-12".to_owned(), 7), ("2027-01".to_owned(), 0)];
        let chart = UsedMonths { title: "Proposals", months }.chart();
        assert_eq!(chart.ticks().iter().map(|tick| tick.text).collect::<Vec<_>>(), ["Dec", "Jan"]);
        assert_eq!(chart.bars().len(), 1);
        assert_eq!(chart.label, "Proposals from 2026-12 to 2027-01. The table has the numbers.");
    }

    #[test]
    fn a_table_begins_with_the_first_use() {
        let month = |number: u32, used| (format!("2026-{number:02}"), used);
        let used = UsedMonths { title: "Calls", months: vec![month(1, 0), month(2, 0), month(3, 5), month(4, 0)] };
        let rows: Vec<_> = used.rows().into_iter().map(|row| (row.name.to_owned(), row.used)).collect();
        let shown = [("2026-04", "0"), ("2026-03", "5")];
        assert_eq!(rows, shown.map(|(name, used)| (name.to_owned(), used.to_owned())));
        assert_eq!(used.hint(), "From 2026-01 to 2026-04. First used in 2026-03.");
        let since_ever = UsedMonths { title: "Calls", months: vec![month(1, 7), month(2, 0)] };
        assert_eq!((since_ever.rows().len(), &*since_ever.hint()), (2, "From 2026-01 to 2026-02."));
    }

    #[rstest]
    #[case::unused(0, Some(10), "10", Some(0), None)]
    #[case::some(79, Some(100), "100", Some(79), None)]
    #[case::near(80, Some(100), "100", Some(80), Some("Agents: 80 % of the limit of 100 is used."))]
    #[case::almost(1_999, Some(2_000), "2,000", Some(99), Some("Agents: 99 % of the limit of 2,000 is used."))]
    #[case::reached(3, Some(3), "3", Some(100), Some("Agents: the limit of 3 is reached. Wait."))]
    #[case::exceeded(7, Some(3), "3", Some(233), Some("Agents: the limit of 3 is exceeded. Wait."))]
    #[case::just_over(1_001, Some(1_000), "1,000", Some(100), Some("Agents: the limit of 1,000 is exceeded. Wait."))]
    #[case::not_in_the_plan(0, Some(0), "Not in the plan", None, None)]
    #[case::unlimited(7, None, "No limit", None, None)]
    #[case::huge(u64::MAX, Some(1), "1", Some(u64::MAX), Some("Agents: the limit of 1 is exceeded. Wait."))]
    fn limits_are_compared_with_the_use(
        #[case] used: u64,
        #[case] limit: Option<u64>,
        #[case] shown: &str,
        #[case] share: Option<u64>,
        #[case] warning: Option<&str>,
    ) {
        let metric = UsedMetric { title: "Agents", monthly: false, used, limit, at_limit: "Wait." };
        assert_eq!((&*metric.limit_text(), metric.share()), (shown, share));
        assert_eq!(metric.warning().as_deref(), warning);
        assert_eq!(metric.is_reached(), warning.is_some_and(|text| text.ends_with("Wait.")));
        assert!(metric.length().is_none_or(|length| length <= 100));
    }
}
