//! The limits of what the tasks may need.

use super::report::Report;
use super::task::Task;

/// The most calls of all tasks together.
pub(crate) const CALLS_MAX: usize = 20;
/// The most tokens of all tasks together.
pub(crate) const TOKENS_MAX: usize = 8_000;
/// The list of the tools has fewer tokens than this.
pub(crate) const LIST_TOKENS: usize = 6_000;
/// The list of the tools has fewer bytes than this.
pub(crate) const LIST_BYTES: usize = 24 << 10;

/// The most calls of a task, with everything that it has to look up.
pub(crate) const fn most_calls(task: Task) -> usize {
    match task {
        // Three agents take part, and the proposal may be read before each answer.
        Task::Propose => 6,
        Task::Book => 3,
        _ => 2,
    }
}

/// A sentence for each limit that a run broke, and for each task that it did not complete.
pub(crate) fn broken(report: &Report) -> Vec<String> {
    let (key, total, list) = (report.key, report.total(), report.list);
    let mut broken = Vec::new();
    for tried in &report.tasks {
        let (text, calls, most) = (tried.task.text(), tried.count.calls, most_calls(tried.task));
        if let Some(failure) = &tried.failure {
            broken.push(format!("The task \"{text}\" is not done with {key}: {failure}"));
        }
        if calls > most {
            broken.push(format!("The task \"{text}\" took {calls} calls with {key}; the limit is {most}."));
        }
    }
    for (what, number, most) in [("calls", total.calls, CALLS_MAX), ("tokens", total.tokens, TOKENS_MAX)] {
        if number > most {
            broken.push(format!("All tasks together took {number} {what} with {key}; the limit is {most}."));
        }
    }
    for (what, number, below) in [("tokens", list.tokens, LIST_TOKENS), ("bytes", list.bytes, LIST_BYTES)] {
        if number >= below {
            broken
                .push(format!("The list of the tools has {number} {what} for {key}; it must have fewer than {below}."));
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::super::count::Count;
    use super::super::report::{Key, Tried};
    use super::*;

    /// A run at every limit that does not break the one for all calls.
    fn report() -> Report {
        let tried = |task| Tried { task, count: Count { calls: 1, bytes: 3_000, tokens: 800 }, failure: None };
        let list = Count { calls: 0, bytes: LIST_BYTES - 1, tokens: LIST_TOKENS - 1 };
        Report { key: Key::Agent, list, tasks: Task::ALL.map(tried).to_vec() }
    }

    fn index_of(task: Task) -> usize {
        Task::ALL.iter().position(|other| *other == task).unwrap()
    }

    #[test]
    fn each_limit_can_be_reached() {
        assert_eq!(broken(&report()), Vec::<String>::new());
        for task in Task::ALL {
            let mut report = report();
            report.tasks[index_of(task)].count.calls = most_calls(task);
            assert_eq!(broken(&report), Vec::<String>::new(), "{task:?}");
        }
        let mut report = report();
        for tried in report.tasks.iter_mut().take(CALLS_MAX - Task::ALL.len()) {
            tried.count.calls = 2;
        }
        assert_eq!((report.total().calls, report.total().tokens), (CALLS_MAX, TOKENS_MAX));
        assert_eq!(broken(&report), Vec::<String>::new());
    }

    #[test]
    fn a_task_with_too_many_calls_is_named() {
        for task in Task::ALL {
            let mut report = report();
            let most = most_calls(task);
            report.tasks[index_of(task)].count.calls = most + 1;
            let calls = most + 1;
            let expected = format!(
                "The task \"{}\" took {calls} calls with the agent's own key; the limit is {most}.",
                task.text()
            );
            assert_eq!(broken(&report), [expected]);
        }
    }

    #[test]
    fn a_task_that_is_not_done_is_named() {
        let mut report = Report { key: Key::Organization, ..report() };
        report.tasks[index_of(Task::Undo)].failure = Some("undo_run refused: no such run".into());
        let expected = "The task \"undo what you did for the second task\" is not done with the organization's key: \
                        undo_run refused: no such run";
        assert_eq!(broken(&report), [expected]);
    }

    #[test]
    fn totals_and_the_list_are_limited() {
        let mut more_calls = report();
        for tried in &mut more_calls.tasks {
            tried.count.calls = 2;
        }
        more_calls.tasks[index_of(Task::Book)].count.calls = 3;
        let mut more_tokens = report();
        more_tokens.tasks[0].count.tokens += 1;
        let (mut list_tokens, mut list_bytes) = (report(), report());
        list_tokens.list.tokens += 1;
        list_bytes.list.bytes += 1;
        for (report, expected) in [
            (more_calls, "All tasks together took 21 calls with the agent's own key; the limit is 20."),
            (more_tokens, "All tasks together took 8001 tokens with the agent's own key; the limit is 8000."),
            (
                list_tokens,
                "The list of the tools has 6000 tokens for the agent's own key; it must have fewer than 6000.",
            ),
            (
                list_bytes,
                "The list of the tools has 24576 bytes for the agent's own key; it must have fewer than 24576.",
            ),
        ] {
            assert_eq!(broken(&report), [expected]);
        }
    }
}
