//! The copies that should exist, and what responses say of an event's copy.

use std::collections::BTreeSet;

use kalends_calendars::{Event, EventSource, EventStatus, ExternalSync, PublicationPolicy};
use kalends_time::Zone;

use crate::{COPIES_MAX, Copy, CopyContent, CopyKey, CopyState};

/// Whether a policy publishes an event: not one that is imported, a hold, cancelled or deleted.
pub fn is_published(policy: PublicationPolicy, event: &Event) -> bool {
    let by_status = match event.status {
        EventStatus::Confirmed => policy != PublicationPolicy::None,
        EventStatus::Tentative => policy == PublicationPolicy::ConfirmedTentative,
        EventStatus::Cancelled | EventStatus::Hold => false,
    };
    by_status && event.source == EventSource::Internal && event.deleted_at.is_none()
}

/// The copies that should exist, by start and then by key. `instances` are the one-off events and the instances of
/// series in the window. At most [`COPIES_MAX`] are copied, the earliest first. `zone` is that of the calendar.
pub fn wanted(policy: PublicationPolicy, instances: &[Event], zone: Zone) -> Vec<(CopyKey, CopyContent)> {
    let mut published: Vec<(CopyKey, &Event)> =
        instances.iter().filter(|event| is_published(policy, event)).map(|event| (CopyKey::of(event), event)).collect();
    published.sort_by_key(|(key, event)| (event.times.span.start(), *key));
    let mut seen = BTreeSet::new();
    published.retain(|(key, _)| seen.insert(*key));
    published.truncate(COPIES_MAX);
    published.into_iter().map(|(key, event)| (key, CopyContent::of(event, zone))).collect()
}

/// What a response says of an event's copy. `policy` is that of its calendar, `None` if the calendar has no destination.
/// `copy` is the recorded copy with [`CopyKey::of`] the event, and `digest` that of the event as the response shows it.
/// `failing` is whether the last attempt failed.
///
/// The occurrences of a series are copied singly. A series itself has no copy, so it is queued.
pub fn external_sync(
    policy: Option<PublicationPolicy>,
    event: &Event,
    copy: Option<&Copy>,
    failing: bool,
    digest: [u8; 32],
) -> ExternalSync {
    let Some(policy) = policy else { return ExternalSync::NotConfigured };
    if !is_published(policy, event) {
        return ExternalSync::Skipped;
    }
    match copy {
        Some(copy) if copy.state == CopyState::Diverged => ExternalSync::Diverged,
        Some(copy) if copy.digest == digest => ExternalSync::Published,
        _ if failing => ExternalSync::Failed,
        _ => ExternalSync::Queued,
    }
}

#[cfg(test)]
mod tests {
    use kalends_calendars::ConferenceUrl;
    use rstest::rstest;

    use super::*;
    use crate::{
        COPY_DESCRIPTION_MAX, COPY_LOCATION_MAX, COPY_TITLE_MAX,
        publishing::examples::{NOW, event, hours, occurrence, target},
    };

    use PublicationPolicy::{Confirmed, ConfirmedTentative};

    #[rstest]
    #[case(PublicationPolicy::None, EventStatus::Confirmed, EventSource::Internal, false)]
    #[case(PublicationPolicy::None, EventStatus::Tentative, EventSource::Internal, false)]
    #[case(Confirmed, EventStatus::Confirmed, EventSource::Internal, true)]
    #[case(Confirmed, EventStatus::Tentative, EventSource::Internal, false)]
    #[case(ConfirmedTentative, EventStatus::Confirmed, EventSource::Internal, true)]
    #[case(ConfirmedTentative, EventStatus::Tentative, EventSource::Internal, true)]
    #[case(ConfirmedTentative, EventStatus::Cancelled, EventSource::Internal, false)]
    #[case(ConfirmedTentative, EventStatus::Hold, EventSource::Internal, false)]
    #[case(ConfirmedTentative, EventStatus::Confirmed, EventSource::ExternalIcal, false)]
    fn the_policy_decides_what_is_published(
        #[case] policy: PublicationPolicy,
        #[case] status: EventStatus,
        #[case] source: EventSource,
        #[case] published: bool,
    ) {
        let event = Event { status, source, ..event(1, 5) };
        assert_eq!(is_published(policy, &event), published);
        assert_eq!(wanted(policy, std::slice::from_ref(&event), Zone::UTC).len(), usize::from(published));
        assert!(!is_published(policy, &Event { deleted_at: Some(NOW), ..event }));
    }

    #[test]
    fn the_earliest_instances_are_copied_once_each() {
        let mut instances = vec![event(2, 9), occurrence(1, 3), event(3, 1), event(3, 4), occurrence(1, 8)];
        let found: Vec<CopyKey> = wanted(Confirmed, &instances, Zone::UTC).into_iter().map(|(key, _)| key).collect();
        let expected: Vec<CopyKey> = [2, 1, 4, 0].into_iter().map(|index| CopyKey::of(&instances[index])).collect();
        assert_eq!(found, expected);
        assert_eq!((expected[1].event, expected[1].original_start), (event(1, 0).id, Some(hours(2, 3).start())));
        let many = (0..COPIES_MAX).map(|index| {
            let start = i64::try_from(index).unwrap() + 20;
            occurrence(7, start)
        });
        instances.extend(many);
        let found = wanted(Confirmed, &instances, Zone::UTC);
        assert_eq!(found.len(), COPIES_MAX);
        assert_eq!(found.last().unwrap().1.span, hours(20 + 1_995, 21 + 1_995));
    }

    #[test]
    fn what_is_written_is_bounded() {
        let url = ConferenceUrl::from_stored("https://meet.example.com/a".into());
        let long = Event {
            title: "é".repeat(500),
            description: Some("é".repeat(20_000)),
            location: Some("é".repeat(500)),
            conference_url: Some(url.clone()),
            ..event(1, 1)
        };
        let content = CopyContent::of(&long, Zone::UTC);
        assert_eq!(content.title.chars().count(), COPY_TITLE_MAX);
        assert_eq!(content.location.unwrap().chars().count(), COPY_LOCATION_MAX);
        let description = content.description.unwrap();
        assert!(description.len() <= COPY_DESCRIPTION_MAX && description.len() > COPY_DESCRIPTION_MAX - 2);
        assert!(description.ends_with("é\n\nhttps://meet.example.com/a"));
        let blank = Event { description: Some(" ".into()), location: Some(String::new()), ..event(1, 1) };
        let content = CopyContent::of(&blank, Zone::UTC);
        assert_eq!((content.description, content.location), (None, None));
        let called = Event { conference_url: Some(url.clone()), ..blank };
        assert_eq!(CopyContent::of(&called, Zone::UTC).description.as_deref(), Some(url.as_str()));
    }

    #[test]
    fn the_status_and_the_zone_are_written() {
        let berlin: Zone = "Europe/Berlin".parse().unwrap();
        let mut event = Event { status: EventStatus::Tentative, transparent: true, ..event(1, 1) };
        let content = CopyContent::of(&event, berlin);
        assert_eq!((content.tentative, content.transparent, content.zone), (true, true, berlin));
        assert_eq!((content.all_day, content.span), (false, event.times.span));
        event.times.all_day = true;
        let content = CopyContent::of(&event, berlin);
        let midnight = |at| berlin.to_timestamp(berlin.to_civil(at).date.midnight()) == Some(at);
        assert!(content.all_day && midnight(content.span.start()) && midnight(content.span.end()));
    }

    #[rstest]
    #[case::no_destination(None, EventStatus::Confirmed, None, false, ExternalSync::NotConfigured)]
    #[case::hold(Some(Confirmed), EventStatus::Hold, None, false, ExternalSync::Skipped)]
    #[case::cancelled(Some(Confirmed), EventStatus::Cancelled, Some((0, CopyState::Published)), false, ExternalSync::Skipped)]
    #[case::nothing(Some(PublicationPolicy::None), EventStatus::Confirmed, None, true, ExternalSync::Skipped)]
    #[case::tentative(Some(Confirmed), EventStatus::Tentative, None, false, ExternalSync::Skipped)]
    #[case::new(Some(Confirmed), EventStatus::Confirmed, None, false, ExternalSync::Queued)]
    #[case::failing(Some(Confirmed), EventStatus::Confirmed, None, true, ExternalSync::Failed)]
    #[case::changed(Some(Confirmed), EventStatus::Confirmed, Some((1, CopyState::Published)), false, ExternalSync::Queued)]
    #[case::not_sent(Some(Confirmed), EventStatus::Confirmed, Some((1, CopyState::Published)), true, ExternalSync::Failed)]
    #[case::same(Some(Confirmed), EventStatus::Confirmed, Some((0, CopyState::Published)), false, ExternalSync::Published)]
    #[case::was_sent(Some(Confirmed), EventStatus::Confirmed, Some((0, CopyState::Published)), true, ExternalSync::Published)]
    #[case::diverged(Some(Confirmed), EventStatus::Confirmed, Some((0, CopyState::Diverged)), true, ExternalSync::Diverged)]
    fn responses_say_what_became_of_the_copy(
        #[case] policy: Option<PublicationPolicy>,
        #[case] status: EventStatus,
        #[case] copy: Option<(u8, CopyState)>,
        #[case] failing: bool,
        #[case] expected: ExternalSync,
    ) {
        let event = Event { status, ..event(1, 1) };
        let content = CopyContent::of(&event, Zone::UTC);
        let (digest, visible, ends_at) = (content.digest(), content.visible(), content.span.end());
        let copy = copy.map(|(differs, state)| {
            let mut digest = digest;
            digest[0] ^= differs;
            Copy { key: CopyKey::of(&event), target: target(1), reference: "r".into(), digest, visible, ends_at, state }
        });
        assert_eq!(external_sync(policy, &event, copy.as_ref(), failing, digest), expected);
    }
}
