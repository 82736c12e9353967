//! The members of an organization and their invitations.

use kalends_kernel::{MemberInvitationId, UserId};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::derives::ToSchema;
#[cfg(feature = "schema")]
use crate::schemas::RoleName;

#[cfg(feature = "parse")]
mod parse;

/// The fields of an invitation.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "email": "grace@example.com", "role": "member" }))]
pub struct InviteMember {
    /// The address to invite.
    #[schema(max_length = 320, format = Email)]
    pub email: String,
    /// The role that the invitation grants. It is not above your own.
    #[schema(value_type = RoleName)]
    pub role: String,
}

/// The fields of a membership that a PATCH can change.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "role": "viewer" }))]
pub struct UpdateMember {
    /// The new role. It is not above your own.
    #[schema(value_type = RoleName)]
    pub role: String,
}

/// The token of an invitation.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "token": "Zk9wQm7cXb2dRt5yHn1vLs8pGf3jKe6aUi4oWqMxEzT" }))]
pub struct AcceptInvitation {
    /// The token from the email.
    #[serde(deserialize_with = "super::console::secret")]
    #[schema(min_length = 1, max_length = 256)]
    pub token: String,
}

/// A member of an organization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Member {
    /// The user, `usr_…`.
    #[schema(value_type = String, example = "usr_01jn8r6v9ke0bt3m5qz2c7xwdf")]
    pub id: UserId,
    /// The user's email address.
    #[schema(example = "grace@example.com")]
    pub email: String,
    /// The user's name.
    #[schema(example = "Grace Hopper")]
    pub name: String,
    /// What the member may do.
    #[schema(value_type = RoleName, example = "member")]
    pub role: &'static str,
    /// When the user became a member.
    #[schema(value_type = String, format = DateTime)]
    pub member_since: Timestamp,
}

/// An invitation that nobody has accepted yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MemberInvitation {
    /// The identifier, `inv_…`. With it the invitation can be withdrawn.
    #[schema(value_type = String, example = "inv_01jn8r6v9ke0bt3m5qz2c7xwdh")]
    pub id: MemberInvitationId,
    /// The address that it was mailed to.
    #[schema(example = "grace@example.com")]
    pub email: String,
    /// The role that it grants.
    #[schema(value_type = RoleName, example = "member")]
    pub role: &'static str,
    /// The user who invited.
    #[schema(value_type = String, example = "usr_01jn8r6v9ke0bt3m5qz2c7xwdf")]
    pub invited_by: UserId,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it can no longer be accepted.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

/// The members of an organization.
#[derive(Debug, Serialize, ToSchema)]
pub struct Members {
    /// The members, in the order in which they joined.
    pub members: Vec<Member>,
    /// The open invitations, the oldest first.
    pub invitations: Vec<MemberInvitation>,
}
