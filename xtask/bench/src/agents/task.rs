//! The ten standard tasks, in the words of the people who ask for them.

/// A task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    FindTime,
    HoldAndConfirm,
    MoveOccurrence,
    CancelOccurrence,
    ExplainTime,
    BookRooms,
    Propose,
    ReadAgenda,
    Undo,
    Book,
}

impl Task {
    /// All of them. Each begins when the ones before it are done.
    pub(crate) const ALL: [Self; 10] = [
        Self::FindTime,
        Self::HoldAndConfirm,
        Self::MoveOccurrence,
        Self::CancelOccurrence,
        Self::ExplainTime,
        Self::BookRooms,
        Self::Propose,
        Self::ReadAgenda,
        Self::Undo,
        Self::Book,
    ];

    /// What is asked for. Dates are in the text of a real request.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::FindTime => "find 45 minutes for five people in three zones",
            Self::HoldAndConfirm => "hold this time and confirm it for all five",
            Self::MoveOccurrence => "move one occurrence of a series by an hour",
            Self::CancelOccurrence => "cancel one occurrence of a series",
            Self::ExplainTime => "why is Thursday 10:00 not free?",
            Self::BookRooms => "book two rooms and a person, all or none",
            Self::Propose => "agree on one of three times, with a counter",
            Self::ReadAgenda => "what is on today?",
            Self::Undo => "undo what you did for the second task",
            Self::Book => "offer slots, book one, read the booking",
        }
    }
}
