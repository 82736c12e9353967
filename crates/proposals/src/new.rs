//! The fields of a new proposal.

use kalends_kernel::{AgentId, CalendarId, Metadata};
use kalends_time::Timestamp;

use crate::{NewSlot, Placement};

/// The maximum number of characters of a title.
pub const TITLE_MAX: usize = 500;
/// The maximum number of characters of a description.
pub const DESCRIPTION_MAX: usize = 5_000;
/// The maximum number of participants of a proposal.
pub const PARTICIPANTS_MAX: usize = 50;

/// The fields of a new proposal. [`Proposal::create`](crate::Proposal::create) checks every bound.
///
/// ```
/// use kalends_proposals::{NewProposal, NewSlot, Placement};
/// use kalends_time::Span;
///
/// let ten = Span::new("2027-03-02T10:00:00Z".parse()?, "2027-03-02T11:00:00Z".parse()?)?;
/// let ada = "agt_00000000000000000000000001".parse()?;
/// let ben = "agt_00000000000000000000000002".parse()?;
/// let desk = "cal_00000000000000000000000001".parse()?;
/// let new = NewProposal::new("Kick-off", ada, vec![ben], desk, vec![NewSlot::new(ten)])
///     .with_description("Bring a laptop".to_owned())
///     .with_expiry("2027-03-02T09:00:00Z".parse::<kalends_time::Timestamp>()?)
///     .with_held_slots(true)
///     .with_taken_skipped(true)
///     .with_min_accepts(1)
///     .with_placement(Placement::All);
/// assert_eq!((new.title(), new.participants()), ("Kick-off", &[ben][..]));
/// assert!(new.hold_slots() && new.skip_taken());
/// assert_eq!((new.min_accepts(), new.placement()), (1, Placement::All));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct NewProposal {
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) organizer: AgentId,
    pub(crate) participants: Vec<AgentId>,
    pub(crate) calendar: CalendarId,
    pub(crate) slots: Vec<NewSlot>,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) hold_slots: bool,
    pub(crate) skip_taken: bool,
    pub(crate) min_accepts: u32,
    pub(crate) placement: Placement,
    pub(crate) metadata: Metadata,
}

impl NewProposal {
    /// A proposal of `organizer` that asks `participants`. Its event is on `calendar`, unless its slot names another. It
    /// expires when its last slot starts. [`NewProposal`] has an example.
    pub fn new(
        title: impl Into<String>,
        organizer: AgentId,
        participants: Vec<AgentId>,
        calendar: CalendarId,
        slots: Vec<NewSlot>,
    ) -> Self {
        Self {
            title: title.into(),
            description: None,
            organizer,
            participants,
            calendar,
            slots,
            expires_at: None,
            hold_slots: false,
            skip_taken: false,
            min_accepts: 0,
            placement: Placement::default(),
            metadata: Metadata::default(),
        }
    }

    /// The same proposal with a description, at most [`DESCRIPTION_MAX`] characters. [`NewProposal`] has an example.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<Option<String>>) -> Self {
        self.description = description.into();
        self
    }

    /// The same proposal with an expiry. With `None`, it expires when its last slot starts. [`NewProposal`] has an
    /// example.
    #[must_use]
    pub fn with_expiry(mut self, expires_at: impl Into<Option<Timestamp>>) -> Self {
        self.expires_at = expires_at.into();
        self
    }

    /// The same proposal; `held` says whether its slots are reserved while it is pending. [`NewProposal`] has an example.
    #[must_use]
    pub const fn with_held_slots(mut self, held: bool) -> Self {
        self.hold_slots = held;
        self
    }

    /// The same proposal; `skipped` says whether resolving skips slots that are taken. [`NewProposal`] has an example.
    #[must_use]
    pub const fn with_taken_skipped(mut self, skipped: bool) -> Self {
        self.skip_taken = skipped;
        self
    }

    /// The same proposal; a slot is confirmed only if at least this many responses accept it. It is at most the number of
    /// participants. [`NewProposal`] has an example.
    #[must_use]
    pub const fn with_min_accepts(mut self, min_accepts: u32) -> Self {
        self.min_accepts = min_accepts;
        self
    }

    /// The same proposal; `placement` says who gets an event when a slot is confirmed. [`NewProposal`] has an example.
    #[must_use]
    pub const fn with_placement(mut self, placement: Placement) -> Self {
        self.placement = placement;
        self
    }

    /// The same proposal with the caller's own data.
    ///
    /// ```
    /// use kalends_kernel::Metadata;
    /// use kalends_proposals::NewProposal;
    ///
    /// let ada = "agt_00000000000000000000000001".parse()?;
    /// let desk = "cal_00000000000000000000000001".parse()?;
    /// let metadata = Metadata::from_json(r#"{"project": 7}"#)?;
    /// let new = NewProposal::new("Kick-off", ada, Vec::new(), desk, Vec::new()).with_metadata(metadata.clone());
    /// assert_eq!(new.metadata(), &metadata);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// The title: 1 to [`TITLE_MAX`] characters, not blank.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The description, at most [`DESCRIPTION_MAX`] characters.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// The agent that organizes the proposal.
    pub const fn organizer(&self) -> AgentId {
        self.organizer
    }

    /// The agents that are asked: 1 to [`PARTICIPANTS_MAX`], each once.
    pub fn participants(&self) -> &[AgentId] {
        &self.participants
    }

    /// The calendar for the event, unless the slot names another.
    pub const fn calendar(&self) -> CalendarId {
        self.calendar
    }

    /// The offered slots: 1 to [`SLOTS_MAX`](crate::SLOTS_MAX).
    pub fn slots(&self) -> &[NewSlot] {
        &self.slots
    }

    /// When it expires; by default when its last slot starts.
    pub const fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }

    /// Whether its slots are reserved while it is pending.
    pub const fn hold_slots(&self) -> bool {
        self.hold_slots
    }

    /// Whether resolving skips slots that are taken.
    pub const fn skip_taken(&self) -> bool {
        self.skip_taken
    }

    /// How many responses must accept a slot before it can be confirmed.
    pub const fn min_accepts(&self) -> u32 {
        self.min_accepts
    }

    /// Who gets an event when a slot is confirmed.
    pub const fn placement(&self) -> Placement {
        self.placement
    }

    /// The caller's own data.
    pub const fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}
