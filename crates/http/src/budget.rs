//! Bounds the memory that one organization can hold: its answers, from the moment they are made until they are read,
//! and its request bodies that are still arriving. An organization that holds too much waits until it has released some
//! memory, and delays nobody else.

use std::{
    collections::HashMap,
    num::NonZero,
    pin::Pin,
    sync::{
        Arc, LazyLock, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
    thread::available_parallelism,
    time::Duration,
};

use axum::{
    body::{Body, HttpBody},
    response::Response,
};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use kalends_app::operations::{self, Operation};
use kalends_calendars::HOLD_SET_MAX;
use kalends_kernel::{LIMIT_DEFAULT, OrgId, PAGE_BYTES_MAX};
use kalends_notifications::FEED_PAGE_BYTES;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use url::form_urlencoded;

use crate::{
    error::ApiError,
    limits::{BODIES_MAX, BODY_MAX},
};

/// Answers and bodies of at most this many bytes are not counted.
pub(crate) const SMALL: usize = 64 << 10;
/// How long a request waits for memory that its organization holds.
const WAITS: Duration = Duration::from_secs(5);
/// The approximate maximum size of a list entry, in bytes: an event with the longest texts and metadata, and with the
/// most attendees.
const ENTRY_MAX: usize = 160 << 10;
/// The approximate maximum size of an approval, in bytes: its request and its result.
const APPROVAL_MAX: usize = 2 * kalends_approvals::BODY_MAX;
/// The number of copies of an answer while a tool's result is made: the answer, its text and its parsed JSON.
const OF_TOOLS: usize = 3;
/// While all organizations together hold this many full budgets, an organization that already holds memory cannot
/// reserve more.
const SEVERAL: usize = 4;

/// The memory for answers in this process. The budget of each organization fits one page per core, and one more page
/// that may be waiting for the database.
pub(crate) static ANSWERS: LazyLock<Budget> = LazyLock::new(|| {
    let cores = available_parallelism().map_or(1, NonZero::get);
    Budget::new((cores + 1) * PAGE_BYTES_MAX)
});

/// The memory for bodies in this process.
pub(crate) static BODIES: LazyLock<Budget> = LazyLock::new(|| Budget::new(BODIES_MAX));

/// A budget of memory, in bytes, for every organization.
pub(crate) struct Budget {
    /// The budget of each organization.
    each: usize,
    /// The total that all organizations hold.
    held: Arc<AtomicUsize>,
    shares: Mutex<Shares>,
}

/// What is left of each organization's budget.
#[derive(Default)]
struct Shares {
    left: HashMap<OrgId, Arc<Semaphore>>,
    /// With this many entries, the entries of organizations that hold nothing are removed.
    sweep_at: usize,
}

/// Memory that an organization holds. It is released on drop.
#[derive(Debug)]
pub(crate) struct Room {
    permit: OwnedSemaphorePermit,
    held: Arc<AtomicUsize>,
}

impl Budget {
    fn new(each: usize) -> Self {
        Self { each: each.min(Semaphore::MAX_PERMITS), held: Arc::default(), shares: Mutex::default() }
    }

    /// The budget of each organization, in bytes.
    pub(crate) const fn each(&self) -> usize {
        self.each
    }

    fn share(&self, org: OrgId) -> Arc<Semaphore> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if shares.left.len() >= shares.sweep_at {
            // A task that holds memory or waits for it has a clone of the semaphore.
            shares.left.retain(|_, left| Arc::strong_count(left) > 1);
            shares.sweep_at = (2 * shares.left.len()).max(1_024);
        }
        Arc::clone(shares.left.entry(org).or_insert_with(|| Arc::new(Semaphore::new(self.each))))
    }

    /// Reserves `bytes`, or the whole budget if that is less. If the organization holds too much, waits for a while,
    /// and returns `None` if too little is released. While [`SEVERAL`] full budgets are held, does not wait.
    pub(crate) async fn reserve(&self, org: OrgId, bytes: usize) -> Option<Room> {
        let share = self.share(org);
        let crowded = self.held.load(Ordering::Relaxed) >= SEVERAL * self.each;
        if crowded && share.available_permits() < self.each {
            return None;
        }
        let permit = timeout(WAITS, share.acquire_many_owned(self.permits(bytes))).await.ok()?.ok()?;
        Some(self.room(permit))
    }

    /// Takes `bytes`, or the whole budget if that is less. Returns `None` if they are not available now.
    pub(crate) fn take(&self, org: OrgId, bytes: usize) -> Option<Room> {
        let permit = self.share(org).try_acquire_many_owned(self.permits(bytes)).ok()?;
        Some(self.room(permit))
    }

    fn permits(&self, bytes: usize) -> u32 {
        u32::try_from(bytes.min(self.each)).unwrap_or(u32::MAX)
    }

    fn room(&self, permit: OwnedSemaphorePermit) -> Room {
        self.held.fetch_add(permit.num_permits(), Ordering::Relaxed);
        Room { permit, held: Arc::clone(&self.held) }
    }
}

impl Room {
    /// Splits off `bytes`, or what is left.
    fn split(&mut self, bytes: usize) -> Option<Self> {
        let permit = self.permit.split(bytes.min(self.permit.num_permits()))?;
        Some(Self { permit, held: Arc::clone(&self.held) })
    }

    /// Keeps `bytes` and releases the rest.
    fn shrink_to(&mut self, bytes: usize) {
        drop(self.split(self.permit.num_permits().saturating_sub(bytes)));
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.held.fetch_sub(self.permit.num_permits(), Ordering::Relaxed);
    }
}

/// The memory that a tool call has reserved. It is attached to the answer of the call's request, and the tool's
/// result takes it over.
#[derive(Clone)]
pub(crate) struct Reserved(Arc<Mutex<Option<Room>>>);

impl Reserved {
    pub(crate) fn new(room: Option<Room>) -> Self {
        Self(Arc::new(Mutex::new(room)))
    }

    /// Takes the memory. Only the first call returns it.
    pub(crate) fn take(&self) -> Option<Room> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The memory that the answer to a request with this query may need. Operations with small answers need none.
pub(crate) fn needed(operation: &Operation, query: Option<&str>, for_tool: bool) -> usize {
    let pages = [
        operations::LIST_AGENTS.id,
        operations::LIST_CALENDARS.id,
        operations::LIST_AGENT_CALENDARS.id,
        operations::LIST_EVENTS.id,
        operations::LIST_AGENT_EVENTS.id,
        operations::SEARCH_EVENTS.id,
        operations::LIST_CHANGES.id,
        operations::LIST_DELIVERIES.id,
        operations::LIST_PROPOSALS.id,
        operations::LIST_BOOKING_PAGES.id,
        operations::LIST_BOOKINGS.id,
        operations::AUDIT_LOG.id,
    ];
    let bytes = match operation.id {
        id if pages.contains(&id) => PAGE_BYTES_MAX.min(entries(query).saturating_mul(ENTRY_MAX)),
        id if id == operations::LIST_HOLD_SETS.id => {
            PAGE_BYTES_MAX.min(entries(query).saturating_mul(HOLD_SET_MAX).saturating_mul(ENTRY_MAX))
        }
        id if id == operations::LIST_ORGANIZATION_CHANGES.id && reads_at_once(query) => {
            (FEED_PAGE_BYTES + ENTRY_MAX).min(entries(query).saturating_mul(ENTRY_MAX))
        }
        // The list is short, but it is made of the whole approvals.
        id if id == operations::LIST_APPROVALS.id => entries(query).saturating_mul(APPROVAL_MAX),
        // The answer contains what was sent.
        id if id == operations::CREATE_EVENT_BATCH.id => BODY_MAX,
        id if id == operations::EXPORT_CALENDAR.id && for_tool => usize::MAX,
        _ => 0,
    };
    if for_tool { bytes.saturating_mul(OF_TOOLS) } else { bytes }
}

/// Whether a page of the change feed is read without a wait. A request must not hold memory while it waits: those
/// that are woken read one after the other. Without `since`, nothing but the end is read.
fn reads_at_once(query: Option<&str>) -> bool {
    let query = query.unwrap_or_default().as_bytes();
    let has_since = form_urlencoded::parse(query).any(|(name, _)| name == "since");
    let waits = form_urlencoded::parse(query).any(|(name, seconds)| name == "wait" && seconds != "0");
    has_since && !waits
}

/// The maximum number of entries on the page.
fn entries(query: Option<&str>) -> usize {
    let limit = form_urlencoded::parse(query.unwrap_or_default().as_bytes()).find(|(name, _)| name == "limit");
    // An invalid limit is rejected before anything is read.
    limit.and_then(|(_, limit)| limit.parse().ok()).unwrap_or(LIMIT_DEFAULT) as usize
}

/// Makes an answer hold memory for the part of it that is not sent yet: `room`, or memory taken from the budget. If
/// the request changed something, the answer must not be lost, so it is sent even if there is no memory.
///
/// # Errors
/// [`ApiError::AnswersUnread`] if there is no memory for an answer that can be requested again.
pub(crate) fn hold(
    budget: &Budget,
    org: OrgId,
    room: Option<Room>,
    repeatable: bool,
    response: Response,
) -> Result<Response, ApiError> {
    let length = response.body().size_hint().exact().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
    if length <= SMALL {
        return Ok(response);
    }
    let room = match room {
        Some(mut room) => {
            room.shrink_to(length);
            Some(room)
        }
        None => budget.take(org, length),
    };
    match room {
        Some(room) => Ok(response.map(|body| Body::new(Counted { body, room }))),
        None if repeatable => Err(ApiError::AnswersUnread(budget.each)),
        None => Ok(response),
    }
}

/// A part of a stream that holds memory until it is sent. If the organization holds too much, waits for a while, and
/// returns `None` if too little is released.
pub(crate) async fn part(budget: &Budget, org: OrgId, bytes: Bytes) -> Option<Bytes> {
    if bytes.len() <= SMALL {
        return Some(bytes);
    }
    let room = budget.reserve(org, bytes.len()).await?;
    Some(Bytes::from_owner(Part { bytes, _room: Some(room) }))
}

/// A body that holds memory for the part that is not sent yet.
struct Counted {
    body: Body,
    room: Room,
}

/// A part of a body with its memory. Other layers may keep it for a long time before it is sent.
struct Part {
    bytes: Bytes,
    _room: Option<Room>,
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { body, room } = self.get_mut();
        let frame = ready!(Pin::new(body).poll_frame(context));
        Poll::Ready(frame.map(|frame| {
            frame.map(|frame| frame.map_data(|bytes| Bytes::from_owner(Part { _room: room.split(bytes.len()), bytes })))
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use kalends_testkit::fixtures::Fixtures;
    use tokio::task::yield_now;

    use super::*;

    const EACH: usize = 1 << 20;

    fn orgs() -> (OrgId, OrgId) {
        let make = Fixtures::new();
        (make.organization().id, make.organization().id)
    }

    fn answer(bytes: usize) -> Response {
        Response::new(Body::from(vec![b'x'; bytes]))
    }

    fn left(budget: &Budget, org: OrgId) -> usize {
        budget.share(org).available_permits()
    }

    #[tokio::test(start_paused = true)]
    async fn an_organization_waits_only_for_its_own_memory() {
        let (budget, (org, other)) = (Arc::new(Budget::new(EACH)), orgs());
        let all = budget.reserve(org, usize::MAX).await.unwrap();
        assert!(budget.reserve(org, 1).await.is_none(), "the wait times out");
        assert!(budget.take(org, 1).is_none());
        assert!(budget.reserve(other, EACH).await.is_some());

        let waiting = tokio::spawn({
            let budget = Arc::clone(&budget);
            async move { budget.reserve(org, EACH).await.is_some() }
        });
        yield_now().await;
        drop(all);
        assert!(waiting.await.unwrap());
        assert_eq!((left(&budget, org), budget.held.load(Ordering::Relaxed)), (EACH, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn many_organizations_may_hold_one_thing_each() {
        let (budget, make) = (Budget::new(EACH), Fixtures::new());
        let holders: Vec<OrgId> = (0..SEVERAL).map(|_| make.organization().id).collect();
        let mut held = Vec::new();
        for org in &holders {
            held.push(budget.reserve(*org, EACH / 2).await.unwrap());
            held.push(budget.reserve(*org, EACH / 2 - 1).await.unwrap());
        }
        assert!(budget.reserve(holders[0], 1).await.is_some(), "together they hold less than the limit");
        let newcomer = budget.reserve(make.organization().id, EACH).await.unwrap();
        assert!(budget.reserve(holders[0], 1).await.is_none());
        drop(newcomer);
        assert!(budget.reserve(holders[0], 1).await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_holds_memory_for_its_unread_part() {
        let (budget, (org, _)) = (Budget::new(EACH), orgs());
        let room = budget.reserve(org, EACH).await;
        let pieces =
            [vec![b'x'; SMALL], vec![b'y'; SMALL]].map(|piece| Ok::<_, axum::Error>(Frame::data(piece.into())));
        let body = Body::new(WithLength(http_body_util::StreamBody::new(futures::stream::iter(pieces)), 2 * SMALL));
        let mut response = hold(&budget, org, room, true, Response::new(body)).unwrap();
        assert_eq!(left(&budget, org), EACH - 2 * SMALL);
        assert_eq!(response.body().size_hint().exact(), Some(2 * SMALL as u64));
        let piece = response.body_mut().frame().await.unwrap().unwrap();
        assert_eq!(left(&budget, org), EACH - 2 * SMALL, "it was handed on but not sent");
        drop(piece);
        assert_eq!(left(&budget, org), EACH - SMALL);
        drop(response);
        assert_eq!((left(&budget, org), budget.held.load(Ordering::Relaxed)), (EACH, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_part_of_a_stream_holds_memory_until_it_is_sent() {
        let (budget, (org, _)) = (Budget::new(EACH), orgs());
        let small = part(&budget, org, vec![b'x'; SMALL].into()).await.unwrap();
        assert_eq!((small.len(), left(&budget, org)), (SMALL, EACH));
        let large = part(&budget, org, vec![b'x'; 2 * SMALL].into()).await.unwrap();
        assert_eq!((large.len(), left(&budget, org)), (2 * SMALL, EACH - 2 * SMALL));
        assert!(part(&budget, org, vec![b'x'; EACH].into()).await.is_none(), "the wait times out");
        drop(large);
        assert_eq!(left(&budget, org), EACH);
    }

    #[tokio::test(start_paused = true)]
    async fn small_answers_hold_no_memory() {
        let (budget, (org, _)) = (Budget::new(EACH), orgs());
        let room = budget.reserve(org, EACH).await;
        let response = hold(&budget, org, room, true, answer(SMALL)).unwrap();
        assert_eq!(left(&budget, org), EACH);
        drop(response);
    }

    #[tokio::test(start_paused = true)]
    async fn only_repeatable_answers_are_refused() {
        let (budget, (org, _)) = (Budget::new(EACH), orgs());
        let held = hold(&budget, org, None, true, answer(EACH)).unwrap();
        assert!(matches!(hold(&budget, org, None, true, answer(SMALL + 1)), Err(ApiError::AnswersUnread(EACH))));
        assert!(hold(&budget, org, None, false, answer(SMALL + 1)).is_ok());
        assert!(hold(&budget, org, None, true, answer(SMALL)).is_ok());
        drop(held);
        assert!(hold(&budget, org, None, true, answer(2 * EACH)).is_ok(), "an oversized answer passes alone");
    }

    #[tokio::test]
    async fn organizations_without_memory_are_removed() {
        let (budget, make) = (Budget::new(EACH), Fixtures::new());
        let holder = make.organization().id;
        let held = budget.reserve(holder, EACH).await;
        for _ in 0..5_000 {
            drop(budget.take(make.organization().id, 1));
        }
        let shares = budget.shares.lock().unwrap();
        assert!(shares.left.len() <= 1_024 && shares.left.contains_key(&holder), "{}", shares.left.len());
        drop((shares, held));
    }

    #[test]
    fn lists_reserve_the_maximum_size_of_their_entries() {
        let list = |query| needed(&operations::LIST_EVENTS, query, false);
        assert_eq!(list(Some("limit=200")), PAGE_BYTES_MAX);
        assert_eq!(list(Some("status=confirmed&limit=20")), 20 * ENTRY_MAX);
        assert_eq!((list(None), list(Some("limit=x"))), (50 * ENTRY_MAX, 50 * ENTRY_MAX));
        assert_eq!(needed(&operations::LIST_EVENTS, Some("limit=20"), true), 60 * ENTRY_MAX);
        assert_eq!(needed(&operations::EXPORT_CALENDAR, None, true), usize::MAX);
        assert_eq!(needed(&operations::EXPORT_CALENDAR, None, false), 0);
        assert_eq!(needed(&operations::CREATE_EVENT_BATCH, None, false), BODY_MAX);
        assert_eq!(needed(&operations::GET_EVENT, Some("limit=200"), true), 0);
        assert_eq!(needed(&operations::LIST_APPROVALS, Some("limit=200"), false), 200 * APPROVAL_MAX);
        let changes = |query| needed(&operations::LIST_ORGANIZATION_CHANGES, Some(query), false);
        assert_eq!(changes("since=x&limit=200"), FEED_PAGE_BYTES + ENTRY_MAX);
        assert_eq!((changes("since=x&limit=2&wait=0"), changes("limit=2")), (2 * ENTRY_MAX, 0));
        assert_eq!(changes("since=x&wait=60"), 0, "a request that waits holds nothing meanwhile");
    }

    /// A body with a known length.
    struct WithLength<B>(B, usize);

    impl<B: HttpBody + Unpin> HttpBody for WithLength<B> {
        type Data = B::Data;
        type Error = B::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
            Pin::new(&mut self.0).poll_frame(context)
        }

        fn size_hint(&self) -> SizeHint {
            SizeHint::with_exact(self.1 as u64)
        }
    }
}
