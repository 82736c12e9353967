//! Letters: email on behalf of an organization, stored with the change that causes it and sent by a worker.
//!
//! A worker claims a letter, takes one use of its recipient's hourly allowance, sends it, and records the outcome under
//! the number of its claim. A failed attempt gives the use back. A crash loses no letter, and repeats at most the
//! letters in flight. A newer letter to the same recipient about the same event supersedes one that was postponed,
//! whether or not the newer one has been sent. It waits for one that is in flight, so that the newest arrives last.
//! A series and its occurrences wait for each other, but a letter about one occurrence supersedes no other.

use kalends_kernel::{ApprovalId, BookingId, BookingPageId, EventId, LetterId, MemberInvitationId, OrgId, UserId};
use kalends_time::{SignedDuration, Timestamp};

use crate::{DropReason, Envelope, Fence, LetterEnd, LetterRecord, LetterStatus};

/// How long a claim on a letter lasts. A letter that a killed process had claimed waits this long.
pub const LETTER_CLAIM_LASTS: SignedDuration = SignedDuration::seconds(120);
/// The longest time that a letter waits. After that it is no longer worth sending, and is dropped.
pub const LETTER_KEPT: SignedDuration = SignedDuration::days(3);
/// The longest wait between two attempts.
const RETRY_MAX: SignedDuration = SignedDuration::hours(1);

/// A letter that a change-set carries.
#[derive(Clone, PartialEq, Eq)]
pub struct Letter {
    /// The identifier.
    pub id: LetterId,
    /// The organization on whose behalf it is sent.
    pub org: OrgId,
    /// A hash of the recipient's address. The recipient's allowance is counted under it.
    pub recipient: [u8; 32],
    /// What the letter is about.
    pub about: About,
    /// The content, as the application writes it. It contains an address, and is sealed at rest.
    pub content: String,
    /// What the organization sees of it. `None` if it has no record, and for a claimed letter, whose record has it.
    pub envelope: Option<Envelope>,
    /// When it was written. Letters of one change differ by a microsecond, in the order in which they are sent.
    pub created_at: Timestamp,
}

/// What a letter is about: an event, or one occurrence of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// The event: a one-off event or a series.
    pub event: EventId,
    /// The original start of the occurrence, if the letter is about that one alone.
    pub occurrence: Option<Timestamp>,
}

impl About {
    /// The whole event.
    pub const fn event(event: EventId) -> Self {
        Self { event, occurrence: None }
    }

    /// A booking page itself: the question whether the recipient wants the emails about its bookings. No event has the
    /// identifier of a page.
    pub const fn page(page: BookingPageId) -> Self {
        Self { event: EventId::from_bytes(page.uuid().into_bytes()), occurrence: None }
    }

    /// The organization itself: the question whether replies to its emails may go to the recipient. No event has the
    /// identifier of an organization.
    pub const fn organization(org: OrgId) -> Self {
        Self { event: EventId::from_bytes(org.uuid().into_bytes()), occurrence: None }
    }

    /// A booking, for its hosts: what its guest gets about the same event is separate. No event has the identifier of a
    /// booking.
    pub const fn booking(booking: BookingId) -> Self {
        Self { event: EventId::from_bytes(booking.uuid().into_bytes()), occurrence: None }
    }

    /// An invitation to become a member of an organization. No event has the identifier of an invitation.
    pub const fn invitation(invitation: MemberInvitationId) -> Self {
        Self { event: EventId::from_bytes(invitation.uuid().into_bytes()), occurrence: None }
    }

    /// The address of a user: the request to prove it. No event has the identifier of a user.
    pub const fn address(user: UserId) -> Self {
        Self { event: EventId::from_bytes(user.uuid().into_bytes()), occurrence: None }
    }

    /// A write that waits for approval: the request to decide about it. No event has the identifier of an approval.
    pub const fn approval(approval: ApprovalId) -> Self {
        Self { event: EventId::from_bytes(approval.uuid().into_bytes()), occurrence: None }
    }

    /// Nothing that another letter is about: the letter waits for none, and none supersedes it. No event has the identifier
    /// of a letter.
    pub const fn itself(letter: LetterId) -> Self {
        Self { event: EventId::from_bytes(letter.uuid().into_bytes()), occurrence: None }
    }

    /// Whether a letter about this, to the same recipient, waits for an older one about `other`: a series and its
    /// occurrences wait for each other.
    pub fn waits_for(self, other: Self) -> bool {
        self.event == other.event
            && (self.occurrence.is_none() || other.occurrence.is_none() || self.occurrence == other.occurrence)
    }

    /// Whether a letter about this makes an older one about `other` out of date: a letter about a series says what
    /// became of each occurrence.
    pub fn supersedes(self, other: Self) -> bool {
        self.event == other.event && (self.occurrence.is_none() || self.occurrence == other.occurrence)
    }
}

/// A change with which an organization takes back what its letters announce. Those that wait are not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Withdrawn {
    /// The recipient of the letters, as in [`Letter::recipient`].
    pub recipient: [u8; 32],
    /// What the letters are about. Its occurrence does not matter: letters about all of them are withdrawn.
    pub about: About,
    /// When it was taken back.
    pub at: Timestamp,
}

impl std::fmt::Debug for Letter {
    /// Omits the recipient and the content.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Letter").field("id", &self.id).field("about", &self.about).finish_non_exhaustive()
    }
}

impl Letter {
    /// Its first record, if the organization sees the letter. It is due at `due_at`.
    pub fn record(&self, due_at: Timestamp) -> Option<LetterRecord> {
        Some(LetterRecord {
            id: self.id,
            org: self.org,
            envelope: self.envelope.clone()?,
            status: LetterStatus::Pending,
            attempts: 0,
            created_at: self.created_at,
            next_attempt_at: Some(due_at),
            ended_at: None,
        })
    }
}

/// A letter that a worker has claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedLetter {
    /// The letter.
    pub letter: Letter,
    /// The number of the claim.
    pub fence: Fence,
    /// How many times it was claimed before it was last postponed; 0 if it never was.
    pub put_off: u32,
    /// Whether there is a newer letter to the same recipient about the same event.
    pub superseded: bool,
}

impl ClaimedLetter {
    /// Why the letter is not worth sending, if it is not: it had to wait and a newer one has the current state, or it
    /// is too old.
    pub fn dropped(&self, now: Timestamp) -> Option<DropReason> {
        if self.put_off > 0 && self.superseded {
            Some(DropReason::Superseded)
        } else if self.letter.created_at + LETTER_KEPT <= now {
            Some(DropReason::Expired)
        } else {
            None
        }
    }

    /// The end if the recipient may receive no more letters until `retry_after` has passed. A superseded letter, and
    /// one that is too old by then, is dropped.
    pub fn over_limit(&self, retry_after: SignedDuration, now: Timestamp) -> LetterEnd {
        self.again(now + retry_after)
    }

    /// The end if the letter could not be handed over. It is tried again after 1, 2, 4 minutes and so on, up to an
    /// hour. A superseded letter, and one that is too old by then, is dropped.
    pub fn failed(&self, now: Timestamp) -> LetterEnd {
        let doubled = SignedDuration::minutes(1i64.checked_shl(self.put_off.min(6)).unwrap_or(60));
        self.again(now + doubled.min(RETRY_MAX))
    }

    fn again(&self, at: Timestamp) -> LetterEnd {
        if self.superseded {
            LetterEnd::Dropped(DropReason::Superseded)
        } else if self.letter.created_at + LETTER_KEPT <= at {
            LetterEnd::Dropped(DropReason::Expired)
        } else {
            LetterEnd::PutOff(at)
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn claimed(put_off: u32, superseded: bool) -> ClaimedLetter {
        let letter = Letter {
            id: LetterId::from_bytes([1; 16]),
            org: OrgId::from_bytes([2; 16]),
            recipient: [3; 32],
            about: About::event(EventId::from_bytes([4; 16])),
            content: "to ada".to_owned(),
            envelope: Some(Envelope { to: "ada@example.com".into(), subject: "Hello Ada".into(), reply: None }),
            created_at: NOW,
        };
        ClaimedLetter { letter, fence: Fence(1), put_off, superseded }
    }

    #[rstest]
    #[case::the_first_attempt(0, false, None)]
    #[case::a_newer_letter_does_not_stop_a_first_attempt(0, true, None)]
    #[case::the_newest_that_waited(3, false, None)]
    #[case::an_older_one_that_waited(1, true, Some(DropReason::Superseded))]
    fn only_the_newest_of_the_waiting_letters_is_sent(
        #[case] put_off: u32,
        #[case] superseded: bool,
        #[case] dropped: Option<DropReason>,
    ) {
        assert_eq!(claimed(put_off, superseded).dropped(NOW), dropped);
    }

    #[test]
    fn over_the_limit_the_newest_waits_and_older_ones_are_dropped() {
        let wait = SignedDuration::minutes(20);
        assert_eq!(claimed(0, false).over_limit(wait, NOW), LetterEnd::PutOff(NOW + wait));
        assert_eq!(claimed(0, true).over_limit(wait, NOW), LetterEnd::Dropped(DropReason::Superseded));
        // It would wait until it is too old.
        let late = NOW + LETTER_KEPT - wait;
        assert_eq!(claimed(0, false).over_limit(wait, late), LetterEnd::Dropped(DropReason::Expired));
        assert_eq!(claimed(0, false).dropped(NOW + LETTER_KEPT), Some(DropReason::Expired));
        assert_eq!(claimed(0, false).dropped(NOW + LETTER_KEPT - SignedDuration::micros(1)), None);
    }

    #[rstest]
    #[case(0, 1)]
    #[case(1, 2)]
    #[case(5, 32)]
    #[case(6, 60)]
    #[case(u32::MAX, 60)]
    fn waits_grow_with_each_failure(#[case] put_off: u32, #[case] minutes: i64) {
        assert_eq!(claimed(put_off, false).failed(NOW), LetterEnd::PutOff(NOW + SignedDuration::minutes(minutes)));
    }

    #[rstest]
    #[case::the_series(None, None, true, true)]
    #[case::the_series_after_an_occurrence(None, Some(1), true, true)]
    #[case::an_occurrence_after_the_series(Some(1), None, true, false)]
    #[case::the_same_occurrence(Some(1), Some(1), true, true)]
    #[case::another_occurrence(Some(1), Some(2), false, false)]
    fn a_series_and_its_occurrences_wait_for_each_other(
        #[case] newer: Option<i64>,
        #[case] older: Option<i64>,
        #[case] waits: bool,
        #[case] supersedes: bool,
    ) {
        let about = |event: u8, start: Option<i64>| About {
            event: EventId::from_bytes([event; 16]),
            occurrence: start.map(Timestamp::from_micros),
        };
        let (newer, older, other) = (about(1, newer), about(1, older), about(2, older));
        assert_eq!((newer.waits_for(older), newer.supersedes(older)), (waits, supersedes));
        assert!(!newer.waits_for(other) && !newer.supersedes(other));
    }

    #[test]
    fn debug_output_hides_recipient_and_content() {
        let printed = format!("{:?}", claimed(0, false));
        assert!(!printed.contains("ada") && !printed.contains("3, 3"), "{printed}");
    }
}
