//! Laws of decisions.

use kalends_kernel::{AgentId, ApprovalId, CalendarId, KeyId, OrgId, Version};
use kalends_time::{SignedDuration, Span, Timestamp};
use proptest::prelude::*;
use rstest::rstest;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    APPROVAL_LASTS, APPROVAL_LASTS_MOST, Approval, Decided, Outcome, Reserved, Seen, State, Status, WaitingRequest,
};

const CREATED: Timestamp = Timestamp::from_micros(1_772_438_400_000_000);

fn pending(lasts: SignedDuration) -> Approval {
    let span = Span::new(CREATED, CREATED + SignedDuration::hours(1)).unwrap();
    Approval {
        id: ApprovalId::from_bytes([1; 16]),
        org: OrgId::from_bytes([2; 16]),
        key: KeyId::from_bytes([3; 16]),
        key_prefix: "svc_ak_0".into(),
        agent: AgentId::from_bytes([4; 16]),
        operation: "createEvent".into(),
        summary: "Create an event.".into(),
        request: WaitingRequest {
            target: "/v1/events".into(),
            content_type: None,
            if_match: None,
            language: None,
            run: None,
            body: r#"{"title":"Review"}"#.into(),
        },
        seen: vec![Seen { resource: "cal_0".into(), version: Version(3), digest: None }],
        reserved: vec![Reserved { calendar: CalendarId::from_bytes([5; 16]), spans: vec![span] }],
        mailed: vec![[6; 32]],
        state: State::Pending,
        version: Version::FIRST,
        created_at: CREATED,
        expires_at: CREATED + lasts,
    }
}

/// What somebody, or the passing of time, does to an approval.
#[derive(Debug, Clone)]
enum Act {
    Approve,
    Fail,
    Deny(Option<String>),
    Cancel,
    Expire,
}

impl Act {
    /// The approval after the act at `now`, if it may happen.
    fn on(&self, approval: &Approval, now: Timestamp) -> Option<Approval> {
        let outcome = |status| Outcome { status, body: Some("{}".to_owned()) };
        match self {
            Self::Approve => approval.approved("by", outcome(201), now).ok(),
            Self::Fail => approval.failed("by", outcome(409), now).ok(),
            Self::Deny(reason) => approval.denied("by", reason.clone(), now).ok(),
            Self::Cancel => approval.cancelled("by", now).ok(),
            Self::Expire => approval.expired(now),
        }
    }

    const fn makes(&self) -> Status {
        match self {
            Self::Approve => Status::Approved,
            Self::Fail => Status::Failed,
            Self::Deny(_) => Status::Denied,
            Self::Cancel => Status::Cancelled,
            Self::Expire => Status::Expired,
        }
    }
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        Just(Act::Approve),
        Just(Act::Fail),
        prop::option::of(".{0,9}").prop_map(Act::Deny),
        Just(Act::Cancel),
        Just(Act::Expire),
    ]
}

fn lasts() -> impl Strategy<Value = SignedDuration> {
    prop_oneof![
        Just(APPROVAL_LASTS),
        Just(APPROVAL_LASTS_MOST),
        (1..=7 * 24 * 60_i64).prop_map(SignedDuration::minutes),
    ]
}

/// A time around the expiry of an approval that lasts so long: often exactly then, or just before.
fn around(lasts: SignedDuration) -> impl Strategy<Value = Timestamp> {
    let expiry = (CREATED + lasts).as_micros();
    let near = (-1..=1_i64).prop_map(move |micros| expiry + micros);
    let any = CREATED.as_micros()..=expiry + 60_000_000;
    prop_oneof![near, any].prop_map(Timestamp::from_micros)
}

/// An approval, and acts on it, each at its time, in order of time.
fn histories() -> impl Strategy<Value = (Approval, Vec<(Timestamp, Act)>)> {
    lasts().prop_flat_map(|lasts| {
        let acts = prop::collection::vec((around(lasts), act()), 0..6).prop_map(|mut acts| {
            acts.sort_by_key(|(at, _)| *at);
            acts
        });
        (Just(pending(lasts)), acts)
    })
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[a-z \"\\\\\u{0}\u{1f41f}]{0,40}"]
}

fn waiting() -> impl Strategy<Value = WaitingRequest> {
    let header = || prop::option::of(text());
    (text(), header(), header(), header(), header(), text()).prop_map(
        |(target, content_type, if_match, language, run, body)| WaitingRequest {
            target,
            content_type,
            if_match,
            language,
            run,
            body,
        },
    )
}

fn written_and_read<T: Serialize + DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

proptest! {
    /// Whatever happens to an approval, it is decided at most once, and nothing else of it changes but the body of a request
    /// that is not made.
    #[test]
    fn an_approval_is_decided_once((mut approval, acts) in histories()) {
        let (asked, mut decisions) = (approval.clone(), 0);
        for (now, act) in acts {
            let Some(decided) = act.on(&approval, now) else { continue };
            prop_assert_eq!(&approval.state, &State::Pending);
            prop_assert_eq!(decided.state.status(), act.makes());
            decisions += 1;
            approval = decided;
        }
        prop_assert!(decisions <= 1);
        let body = if approval.state.status().is_without_effect() { "" } else { asked.request.body.as_str() };
        prop_assert_eq!(&approval.request.body, body);
        let request = WaitingRequest { body: asked.request.body.clone(), ..approval.request };
        let rest = Approval { state: State::Pending, version: asked.version, request, ..approval };
        prop_assert_eq!(rest, asked);
    }

    /// The version rises by one with each decision, and with nothing else.
    #[test]
    fn the_version_counts_the_decisions((mut approval, acts) in histories()) {
        for (now, act) in acts {
            let before = approval.version;
            if let Some(decided) = act.on(&approval, now) {
                prop_assert_eq!(decided.version, before.next());
                approval = decided;
            }
        }
        let decided = i64::from(approval.state != State::Pending);
        prop_assert_eq!(approval.version, Version(Version::FIRST.0 + decided));
    }

    /// A pending approval is decided by people exactly before its expiry, and by time exactly from then on.
    #[test]
    fn an_expired_approval_cannot_be_decided(
        (lasts, now) in lasts().prop_flat_map(|lasts| (Just(lasts), around(lasts))),
        act in act(),
    ) {
        let approval = pending(lasts);
        let is_over = approval.expires_at <= now;
        let by_time = act.makes() == Status::Expired;
        prop_assert_eq!(act.on(&approval, now).is_some(), is_over == by_time);
        if is_over {
            prop_assert_eq!(approval.cancelled("by", now), Err(Decided(Status::Expired)));
        }
    }

    /// The status agrees with the state, except that a pending approval has expired from its expiry on.
    #[test]
    fn the_status_agrees_with_the_state((mut approval, acts) in histories(), later in 0..9_i64) {
        for (now, act) in acts {
            approval = act.on(&approval, now).unwrap_or(approval);
            let at = now + SignedDuration::minutes(later);
            let expected = match approval.state.status() {
                Status::Pending if approval.expires_at <= at => Status::Expired,
                status => status,
            };
            prop_assert_eq!(approval.status(at), expected);
        }
    }

    /// Once an approval is not pending, its status never changes again.
    #[test]
    fn a_status_is_final((mut approval, acts) in histories()) {
        let mut last = Status::Pending;
        for (now, act) in acts {
            let before = approval.status(now);
            prop_assert!(last == Status::Pending || before == last, "{last:?} became {before:?}");
            approval = act.on(&approval, now).unwrap_or(approval);
            last = approval.status(now);
            prop_assert!(before == Status::Pending || last == before, "{before:?} became {last:?}");
        }
    }

    /// A request that waits is read back from its JSON.
    #[test]
    fn requests_are_read_back(request in waiting()) {
        prop_assert_eq!(written_and_read(&request), request);
    }

    /// A resource that was seen, and an outcome, are read back from their JSON.
    #[test]
    fn outcomes_are_read_back(
        (resource, version, digest) in (text(), any::<i64>(), prop::option::of(text())),
        (status, body) in (any::<u16>(), prop::option::of(text())),
    ) {
        let (seen, outcome) = (Seen { resource, version: Version(version), digest }, Outcome { status, body });
        prop_assert_eq!(written_and_read(&seen), seen);
        prop_assert_eq!(written_and_read(&outcome), outcome);
    }
}

#[rstest]
#[case::same((1, None), (1, None), true)]
#[case::version((1, None), (2, None), false)]
#[case::digest((1, Some("a")), (2, Some("a")), true)]
#[case::other_digest((1, Some("a")), (1, Some("b")), false)]
#[case::one_digest((1, None), (1, Some("b")), true)]
#[case::one_digest_and_version((1, Some("a")), (2, None), false)]
fn a_digest_counts_instead_of_the_version(
    #[case] one: (i64, Option<&str>),
    #[case] other: (i64, Option<&str>),
    #[case] same: bool,
) {
    let seen = |(version, digest): (i64, Option<&str>)| Seen {
        resource: "evt_0".into(),
        version: Version(version),
        digest: digest.map(str::to_owned),
    };
    assert_eq!((seen(one).is_as(&seen(other)), seen(other).is_as(&seen(one))), (same, same));
}

#[test]
fn statuses_are_named() {
    for status in Status::ALL {
        assert_eq!(Status::from_name(status.as_str()), Some(status));
    }
    let mut names = Status::ALL.map(Status::as_str);
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}

#[rstest]
#[case::empty("")]
#[case::case("Pending")]
#[case::space("pending ")]
#[case::unknown("waiting")]
fn other_names_are_not_read(#[case] name: &str) {
    assert_eq!(Status::from_name(name), None);
}

#[rstest]
#[case::before(-1, Status::Pending)]
#[case::at(0, Status::Expired)]
#[case::after(1, Status::Expired)]
fn an_approval_expires_at_its_expiry(#[case] micros: i64, #[case] status: Status) {
    let approval = pending(APPROVAL_LASTS);
    let now = approval.expires_at + SignedDuration::micros(micros);
    assert_eq!(approval.status(now), status);
    assert_eq!(approval.expired(now).is_some(), status == Status::Expired);
}
