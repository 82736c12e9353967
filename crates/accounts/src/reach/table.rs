//! The access table, with its cells under short names.

use super::kinds::{
    Allowed::{
        self, Forbidden as No, IfOrganizer, IfParticipant, IfParty, Only, Own, OwnOr, Reads, Unauthorized as Unknown,
        Yes,
    },
    CallerKind, Touch,
};
use crate::Scope::{DirectoryOrg, FreebusyOrg, HoldsOrg};

/// The access table: a row for each [`Touch::ALL`], a column for each [`CallerKind::ALL`].
///
/// A credential of the wrong kind, such as a key on the console's routes, counts as no credential (401). One of the
/// right kind with too small a reach, or of a user with too low a role, is refused with 403. A session speaks for
/// its organization.
pub const TABLE: [(Touch, [Allowed; CallerKind::ALL.len()]); Touch::ALL.len()] = [
    // nobody; keys: organization, sign-up, test, agent; sessions: owner, admin, member, viewer; operator
    (Touch::Public, /*       */ [Yes, Yes, Yes, Yes, Yes, Yes, Yes, Yes, Yes, Yes]),
    (Touch::Organization, /* */ [Unknown, Yes, Yes, Yes, No, Yes, Yes, Reads, Reads, Unknown]),
    (Touch::Agents, /*       */ [Unknown, Yes, Yes, Yes, No, Yes, Yes, Yes, Reads, Unknown]),
    (Touch::AgentDirectory, [Unknown, Yes, Yes, Yes, Only(DirectoryOrg), Yes, Yes, Yes, Reads, Unknown]),
    (Touch::Keys, /*         */ [Unknown, Yes, Yes, Yes, No, Yes, Yes, Reads, Reads, Unknown]),
    (Touch::KeyCreation, /*  */ [Unknown, Yes, Yes, Yes, No, Yes, Yes, No, No, Unknown]),
    (Touch::AgentRecord, [Unknown, Yes, Yes, Yes, OwnOr(DirectoryOrg), Yes, Yes, Yes, Reads, Unknown]),
    (Touch::AgentData, /*    */ [Unknown, Yes, Yes, Yes, Own, Yes, Yes, Yes, Reads, Unknown]),
    (Touch::CalendarDirectory, [Unknown, Yes, Yes, Yes, OwnOr(DirectoryOrg), Yes, Yes, Yes, Reads, Unknown]),
    (Touch::AgentLists, /*   */ [Unknown, Yes, Yes, Yes, Own, Yes, Yes, Yes, Reads, Unknown]),
    (Touch::Availability, [Unknown, Yes, Yes, Yes, OwnOr(FreebusyOrg), Yes, Yes, Yes, Reads, Unknown]),
    (Touch::JointAvailability, [Unknown, Yes, Yes, Yes, Only(FreebusyOrg), Yes, Yes, Yes, Reads, Unknown]),
    (Touch::HoldSets, [Unknown, Yes, Yes, Yes, OwnOr(HoldsOrg), Yes, Yes, Yes, Reads, Unknown]),
    (Touch::ProposalRead, /* */ [Unknown, Yes, Yes, Yes, IfParty, Yes, Yes, Yes, Reads, Unknown]),
    (Touch::ProposalList, /* */ [Unknown, Yes, Yes, Yes, IfParty, Yes, Yes, Yes, Reads, Unknown]),
    (Touch::ProposalOrganize, [Unknown, Yes, Yes, Yes, IfOrganizer, Yes, Yes, Yes, Reads, Unknown]),
    (Touch::ProposalRespond, [Unknown, Yes, Yes, Yes, IfParticipant, Yes, Yes, Yes, Reads, Unknown]),
    (Touch::Decisions, /*    */ [Unknown, Yes, Yes, Yes, No, Yes, Yes, Yes, Reads, Unknown]),
    (Touch::Common, /*       */ [Unknown, Yes, Yes, Yes, Yes, Yes, Yes, Yes, Yes, Unknown]),
    (Touch::Account, /*      */ [Unknown, Unknown, Unknown, Unknown, Unknown, Yes, Yes, Yes, Yes, Unknown]),
    (Touch::Members, [Unknown, Unknown, Unknown, Unknown, Unknown, Yes, Yes, Reads, Reads, Unknown]),
    (Touch::Administration, [Unknown, Unknown, Unknown, Unknown, Unknown, Yes, Yes, No, No, Unknown]),
    (Touch::ConsoleKeys, /*  */ [Unknown, Unknown, Unknown, Unknown, Unknown, Yes, Yes, No, No, Unknown]),
    (Touch::Deletion, /*     */ [Unknown, Unknown, Unknown, Unknown, Unknown, Yes, No, No, No, Unknown]),
    (Touch::Admin, [Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Yes]),
];

/// The cell of the table for a caller and what is touched.
pub const fn allowed(kind: CallerKind, touch: Touch) -> Allowed {
    TABLE[touch as usize].1[kind as usize]
}
