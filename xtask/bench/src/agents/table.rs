//! The printed table.

use super::count::Count;
use super::limits::{CALLS_MAX, LIST_BYTES, LIST_TOKENS, TOKENS_MAX, most_calls};
use super::report::Report;
use super::task::Task;
use crate::figures::Table;

/// The rows of one or several runs: the figures of each, beside the limits.
pub(crate) fn render(reports: &[Report]) -> String {
    let mut headings = vec!["task".to_owned(), "most calls".to_owned()];
    for Report { key, .. } in reports {
        let key = key.short();
        headings.extend([format!("{key}: calls"), "bytes".to_owned(), "tokens".to_owned(), format!("{key}: done")]);
    }
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let mut table = Table::new(&headings);
    for (index, task) in Task::ALL.into_iter().enumerate() {
        let mut row = vec![format!("{:>2}  {}", index + 1, task.text()), most_calls(task).to_string()];
        for report in reports {
            let tried = report.tasks.iter().find(|tried| tried.task == task);
            let count = tried.map(|tried| tried.count).unwrap_or_default();
            let is_done = tried.is_some_and(|tried| tried.failure.is_none());
            row.extend(cells(count, if is_done { "yes" } else { "NO" }));
        }
        table.row(row);
    }
    let mut total = vec![format!("all ten, at most {TOKENS_MAX} tokens"), CALLS_MAX.to_string()];
    let mut list = vec![format!("tools/list, below {LIST_BYTES} bytes and {LIST_TOKENS} tokens"), String::new()];
    for report in reports {
        total.extend(cells(report.total(), ""));
        list.extend(cells(report.list, ""));
    }
    table.row(total);
    table.row(list);
    table.render()
}

fn cells(count: Count, done: &str) -> [String; 4] {
    let calls = if count.calls == 0 { String::new() } else { count.calls.to_string() };
    [calls, count.bytes.to_string(), count.tokens.to_string(), done.to_owned()]
}

#[cfg(test)]
mod tests {
    use super::super::report::{Key, Tried};
    use super::*;

    #[test]
    fn a_row_says_whether_a_task_is_done() {
        let tried = |task| Tried {
            task,
            count: Count { calls: 2, bytes: 300, tokens: 70 },
            failure: (task == Task::Undo).then(|| "no".to_owned()),
        };
        let list = Count { calls: 0, bytes: 20_000, tokens: 5_000 };
        let report = Report { key: Key::Agent, list, tasks: Task::ALL.map(tried).to_vec() };
        let text = render(&[report]);
        let cells = |row: usize| -> Vec<&str> { text.lines().nth(row).unwrap().split_whitespace().collect() };
        assert!(text.lines().next().unwrap().ends_with("own key: calls  bytes  tokens  own key: done"), "{text}");
        assert!(cells(1).ends_with(&["2", "2", "300", "70", "yes"]), "{text}");
        assert!(cells(9).ends_with(&["2", "2", "300", "70", "NO"]), "{text}");
        assert!(cells(11).ends_with(&["20", "20", "3000", "700"]), "{text}");
        assert!(cells(12).ends_with(&["20000", "5000"]), "{text}");
    }
}
