//! Lists of events by their metadata, while events of an earlier release are not indexed.

use kalends_app::{Refusal, operations};
use kalends_calendars::ports::{EventFilter, InstanceFilter};
use kalends_kernel::{MetadataFilter, Page};
use kalends_testkit::Inspect as _;
use kalends_wire::Listing;

use crate::series_scopes::Stage;

#[tokio::test]
async fn a_list_by_metadata_is_refused_until_all_events_are_indexed() {
    let stage = Stage::set().await;
    let actor = stage.actor(&operations::LIST_EVENTS);
    let calendar = stage.calendar.id.to_string();
    let list = async |filter: &MetadataFilter, expand: bool| {
        let metadata = filter.clone();
        let listing = match expand {
            true => Listing::Instances(InstanceFilter {
                window: stage.series.times.span,
                status: None,
                source: None,
                metadata,
            }),
            false => Listing::Events(EventFilter { metadata, ..EventFilter::default() }),
        };
        let listed = stage.app.list_calendar_events(&actor, &calendar, listing, Page::default()).await;
        listed.map(|listed| listed.total)
    };
    let (every, some) = (MetadataFilter::default(), MetadataFilter::parse("metadata", [("a", "1")]).unwrap());
    for expand in [false, true] {
        assert_eq!((list(&every, expand).await.unwrap(), list(&some, expand).await.unwrap()), (1, 0));
    }
    stage.store.unindex(stage.organization.id).await;
    for expand in [false, true] {
        assert_eq!(list(&every, expand).await.unwrap(), 1, "a list without a filter needs no index");
        let refused = list(&some, expand).await.unwrap_err();
        assert!(matches!(refused, Refusal::MetadataNotIndexed), "{refused:?}");
    }
    assert!(!stage.app.index_metadata(1).await.unwrap(), "there was something to do");
    assert!(stage.app.index_metadata(1).await.unwrap());
    for expand in [false, true] {
        assert_eq!(list(&some, expand).await.unwrap(), 0);
    }
}
