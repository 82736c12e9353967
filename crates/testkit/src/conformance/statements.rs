//! How many statements a store takes: for stores that speak SQL, beside the suite.

use kalends_calendars::ports::{EventScope, InstanceFilter};
use kalends_kernel::{Elapsed, Page, Span};

use super::{
    StoreUnderTest,
    scene::{Scene, hours},
    series::moved,
};
use crate::{
    fixtures::{Compose as _, Fixtures},
    statements_of,
};

const SERIES: i64 = 50;
const DAYS: i64 = 366;

/// The instances of 366 days take as many statements of fifty daily series as of one: one for the series, one
/// for what stands beside them (one-off events and overrides), one for the text of what the page shows.
/// What the series block takes one.
pub async fn fifty_series_take_the_statements_of_one(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (few, many) = (scene.shared_calendar().await, scene.shared_calendar().await);
    for (calendar, count) in [(&few, 1), (&many, SERIES)] {
        let mut changes = scene.changes();
        let mut made = Vec::new();
        for hour in 0..count {
            let series = scene.make.series(calendar, hours(hour % 20, hour % 20 + 1), "FREQ=DAILY");
            changes = changes.create(&series).create(&scene.make.event(calendar, hours(hour, hour + 1)));
            made.push(series);
        }
        scene.commit(changes).await;
        for series in made {
            let start = series.times.span.start() + Elapsed::days(7);
            moved(&scene, &series, start, hours(180, 181)).await;
        }
    }
    let window = Span::new(Fixtures::BEGINNING, Fixtures::BEGINNING + Elapsed::days(DAYS)).unwrap();
    let filter = InstanceFilter { window, status: None, source: None };
    let list = async |calendar, page| {
        let listed = scene.store.list_instances(scene.org, EventScope::Calendar(calendar), filter, page);
        let (listed, statements) = statements_of(listed).await;
        (listed.unwrap().unwrap(), statements)
    };
    // Connections are opened here, not below.
    list(few.id, Page::default()).await;

    // Every day of each series, an event beside it; the page lies in the middle and has rows of all series.
    let page = |count: i64| Page { limit: 200, offset: u32::try_from(count * DAYS / 2).unwrap() };
    let (one, of_one) = list(few.id, page(1)).await;
    let (fifty, of_fifty) = list(many.id, page(SERIES)).await;
    let total = |count: i64| u64::try_from(count * (DAYS + 1)).unwrap();
    assert_eq!((one.total, fifty.total), (total(1), total(SERIES)));
    let mut shown: Vec<_> = fifty.data.iter().filter_map(|event| Some(event.occurrence()?.series)).collect();
    shown.sort_unstable();
    shown.dedup();
    assert_eq!(i64::try_from(shown.len()), Ok(SERIES));
    assert_eq!(of_fifty, of_one);
    assert_eq!(of_fifty.len(), 3, "{of_fifty:#?}");
    let about = |part: &str| of_fifty.iter().filter(|statement| statement.to_lowercase().contains(part)).count();
    // Of the three only the last reads text, and only the first rules.
    assert_eq!((about("recurrence is not null"), about("content,")), (1, 1), "{of_fifty:#?}");

    let (blocking, statements) =
        statements_of(scene.store.blocking_series(scene.org, &[few.id, many.id], window)).await;
    let blocking: i64 = blocking.unwrap().iter().map(|found| i64::try_from(found.series.len()).unwrap()).sum();
    assert_eq!((blocking, statements.len()), (SERIES + 1, 1), "{statements:#?}");
}
