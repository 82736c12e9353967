//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_accounts::{self as accounts, Email, Membership, Role};
use kalends_kernel::{FieldError, FieldErrors, bounded_text};

use super::{AcceptInvitation, InviteMember, Member, MemberInvitation, UpdateMember};
use crate::console::MAILED_TOKEN_MAX;

fn role(name: &str) -> Result<Role, FieldError> {
    Role::from_name(name).ok_or_else(|| {
        let shown: String = name.chars().take(32).collect();
        FieldError::new("role", format!("must be viewer, member, admin or owner, got {shown:?}"))
    })
}

impl InviteMember {
    /// Returns the address and the role.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(&self) -> Result<(Email, Role), FieldErrors> {
        let mut errors = FieldErrors::default();
        let email = errors.take(Email::parse("email", &self.email));
        let role = errors.take(role(&self.role));
        match (email, role) {
            (Some(email), Some(role)) => Ok((email, role)),
            _ => Err(errors),
        }
    }
}

impl UpdateMember {
    /// Returns the role.
    ///
    /// # Errors
    /// If it is not the name of a role.
    pub fn parse(&self) -> Result<Role, FieldErrors> {
        Ok(role(&self.role)?)
    }
}

impl AcceptInvitation {
    /// Returns the token.
    ///
    /// # Errors
    /// If it is empty or too long.
    pub fn parse(self) -> Result<String, FieldErrors> {
        Ok(bounded_text("token", &self.token, 1, MAILED_TOKEN_MAX)?)
    }
}

impl Member {
    /// Builds the member from a membership and its user.
    pub fn new(membership: &Membership, user: &accounts::User) -> Self {
        Self {
            id: user.id,
            email: user.email.as_str().to_owned(),
            name: user.name.as_str().to_owned(),
            role: membership.role.as_str(),
            member_since: membership.since,
        }
    }
}

impl From<&accounts::MemberInvitation> for MemberInvitation {
    fn from(invitation: &accounts::MemberInvitation) -> Self {
        Self {
            id: invitation.id,
            email: invitation.email.as_str().to_owned(),
            role: invitation.role.as_str(),
            invited_by: invitation.invited_by,
            created_at: invitation.created_at,
            expires_at: invitation.expires_at,
        }
    }
}
