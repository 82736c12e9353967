//! Feeds as producers write them, each with busy times that were worked out by hand.

use std::fs;
use std::path::{Path, PathBuf};

use kalends_feeds::read::{Context, read};
use kalends_time::Span;

use super::{NOW, at, span, span_texts, zone};

/// The expected busy times of a feed: the lines `zone`, `window` and optionally `skipped`, then one span a line.
struct Expected {
    zone: String,
    window: Span,
    skipped: usize,
    busy: Vec<Span>,
}

fn expected(path: &Path) -> Expected {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (mut zone, mut window, mut skipped, mut busy) = (None, None, 0, Vec::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["zone", name] => zone = Some((*name).to_owned()),
            ["window", start, end] => window = Some(span(start, end)),
            ["skipped", count] => skipped = count.parse().unwrap(),
            [start, end] => busy.push(span(start, end)),
            _ => panic!("{}: {line:?}", path.display()),
        }
    }
    Expected { zone: zone.unwrap(), window: window.unwrap(), skipped, busy }
}

pub(crate) fn feeds() -> Vec<PathBuf> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut feeds: Vec<PathBuf> = fs::read_dir(corpus)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ics"))
        .collect();
    feeds.sort();
    feeds
}

#[test]
fn busy_times_are_those_worked_out_by_hand() {
    let feeds = feeds();
    assert!(feeds.len() >= 60, "{} feeds", feeds.len());
    let mut wrong = Vec::new();
    for path in feeds {
        let expected = expected(&path.with_extension("busy"));
        let context = Context { calendar_zone: zone(&expected.zone), now: at(NOW) };
        let feed = read(&fs::read(&path).unwrap(), &context).unwrap();
        let busy = feed.busy(expected.window);
        if busy != expected.busy || feed.skipped_count != expected.skipped {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            wrong.push(format!(
                "{name}: {:?}\n  not {:?}\n  {:?}",
                span_texts(&busy),
                span_texts(&expected.busy),
                feed.skipped
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
