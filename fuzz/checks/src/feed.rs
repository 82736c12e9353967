//! Third-party feeds.

use kalends_feeds::limits::{REPORTED_MAX, STEPS_MAX, UID_MAX};
use kalends_feeds::read::{Context, Feed, Item, What, read};
use kalends_time::{SignedDuration, Span, Timestamp};

use crate::{check_message, zone};

/// The time of reading: 10 March 2026, 12:00 UTC.
const NOW: Timestamp = Timestamp::from_micros(1_773_144_000_000_000);

/// A feed that took more steps is not read again, so that the fuzzer does not spend its time on a few such feeds.
const READ_AGAIN_STEPS: u64 = 10_000;

/// Reads the input as a feed twice, and computes its busy times.
///
/// # Panics
/// If the two results differ, if the work or a field exceeds its limit, or if the items or the busy times are not
/// sorted.
pub fn check(input: &[u8]) {
    let context = Context { calendar_zone: zone("Europe/Berlin"), now: NOW };
    let feed = match read(input, &context) {
        Ok(feed) => feed,
        Err(error) => {
            check_message(&error);
            return assert_eq!(read(input, &context), Err(error), "the same bytes fail differently");
        }
    };
    assert!(feed.steps <= STEPS_MAX, "{} steps", feed.steps);
    assert!(feed.items.is_sorted_by(|one, next| one.key() < next.key()), "items are out of order, or repeated");
    feed.items.iter().for_each(item);
    listed(&feed);
    if let Ok(window) = Span::new(NOW - SignedDuration::days(365), NOW + SignedDuration::days(365)) {
        busy(&feed, window);
    }
    if feed.steps <= READ_AGAIN_STEPS {
        assert_eq!(read(input, &context).as_ref(), Ok(&feed), "the same bytes give another feed");
    }
}

fn item(item: &Item) {
    let Item { uid, title, description, times, what, .. } = item;
    let holds = |text: &str, most: usize| {
        !text.is_empty() && !text.contains('\0') && (text.len() <= most || text.chars().count() <= most)
    };
    assert!(holds(uid, UID_MAX), "the UID {uid:?}");
    assert!(holds(title, 500), "the title {title:?}");
    assert!(description.as_ref().is_none_or(|text| holds(text, 20_000)), "the description of {uid:?}");
    let (start, end) = (times.span.start(), times.span.end());
    assert!(Timestamp::EPOCH <= start && end <= Timestamp::HORIZON, "{uid:?} is from {start} to {end}, out of range");
    if let What::Series(recurrence) = what {
        assert!(recurrence.series(*times).is_ok(), "{uid:?} has a rule that does not fit its times");
    }
}

/// Problems of the feed are all counted, but only some are listed. Each is one line.
fn listed(feed: &Feed) {
    assert_eq!(feed.skipped.len(), feed.skipped_count.min(REPORTED_MAX));
    assert_eq!(feed.warnings.len(), feed.warning_count.min(REPORTED_MAX));
    feed.skipped.iter().for_each(|skipped| check_message(&skipped.reason));
    feed.warnings.iter().for_each(|warning| check_message(warning));
    assert!(feed.name.as_ref().is_none_or(|name| name.chars().count() <= 255), "{:?}", feed.name);
}

/// Busy times are sorted, within the window, and neither overlap nor touch.
fn busy(feed: &Feed, window: Span) {
    let spans = feed.busy(window);
    assert!(spans.is_sorted_by(|one, next| one.end() < next.start()), "busy times overlap or touch");
    let within = |span: &Span| window.start() <= span.start() && span.end() <= window.end();
    assert!(spans.iter().all(within), "busy times outside their window");
}
