//! The pages about the members of an organization. They are in English, like the console, and work without scripts.

use askama::Template;
use kalends_time::Timestamp;

use crate::{
    english::in_english,
    field::{Choice, Field, Select},
    problems::Problems,
    shell::{Done, Shell},
    time::in_utc,
};

/// The fields of the form that invites a member.
pub const INVITATION_FIELDS: [&str; 2] = ["email", "role"];

/// The roles as the API names them, the lowest first, each with what it may do.
pub const ROLES: [Choice<'static>; 4] = [
    Choice { value: "viewer", title: "Viewer: reads everything" },
    Choice { value: "member", title: "Member: also changes agents, calendars and booking pages" },
    Choice { value: "admin", title: "Admin: also manages members, keys and settings" },
    Choice { value: "owner", title: "Owner: may do everything" },
];

/// The name of a role for people.
pub(crate) fn role_text(role: &str) -> &str {
    let known = ROLES.iter().find(|known| known.value == role);
    known.and_then(|known| known.title.split_once(':')).map_or(role, |(name, _)| name)
}

/// A member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberShown {
    /// The identifier of the user.
    pub id: String,
    /// The user's name.
    pub name: String,
    /// The user's address.
    pub email: String,
    /// The role, as the API names it.
    pub role: &'static str,
    /// When the user became a member.
    pub since: Timestamp,
    /// Whether it is the user who sees the page.
    pub is_self: bool,
    /// Whether that user may give the member another role.
    pub may_change: bool,
}

impl MemberShown {
    fn role_text(&self) -> &str {
        role_text(self.role)
    }

    fn joined(&self) -> String {
        in_utc(self.since)
    }

    /// Whether the user who sees the page may remove the member. Everybody may leave.
    const fn may_remove(&self) -> bool {
        self.is_self || self.may_change
    }
}

/// An invitation that nobody has accepted yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvitationShown {
    /// The identifier.
    pub id: String,
    /// The address that it was mailed to.
    pub email: String,
    /// The role that it grants, as the API names it.
    pub role: &'static str,
    /// When it can no longer be accepted.
    pub expires_at: Timestamp,
    /// Whether the user who sees the page may withdraw it.
    pub may_withdraw: bool,
}

impl InvitationShown {
    fn role_text(&self) -> &str {
        role_text(self.role)
    }

    fn expires(&self) -> String {
        in_utc(self.expires_at)
    }
}

/// What was typed into the form that invites a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InviteGiven<'a> {
    /// The address.
    pub email: &'a str,
    /// The role, as the API names it.
    pub role: &'a str,
}

/// The role that was chosen for a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoleGiven<'a> {
    /// The identifier of the member.
    pub member: &'a str,
    /// The role, as the API names it.
    pub role: &'a str,
}

/// The members and open invitations of an organization.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "members.html")]
pub struct MembersPage<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// The members, in the order in which they joined.
    pub members: &'a [MemberShown],
    /// The open invitations, the oldest first.
    pub invitations: &'a [InvitationShown],
    /// The identifier of the invitation that was just made; empty if there is none.
    pub invited: &'a str,
    /// Whether mail is only written to files, so that the server sends none.
    pub keeps_mail: bool,
    /// The roles that the user may grant; none if the user does not manage members.
    pub roles: &'a [Choice<'a>],
    /// Why nobody can be invited, as a sentence.
    pub blocked: Option<&'a str>,
    /// The random key of the form that invites.
    pub once: &'a str,
    /// What was typed into it.
    pub given: InviteGiven<'a>,
    /// The change of a role that had no effect.
    pub change: Option<RoleGiven<'a>>,
    /// What is wrong with a form.
    pub problems: &'a Problems,
}

impl MembersPage<'_> {
    /// The invitation that was just made, while it is open.
    fn invited(&self) -> Option<&InvitationShown> {
        self.invitations.iter().find(|invitation| invitation.id == self.invited)
    }

    /// The member whose role was not changed. The problem is shown beside their name.
    fn changed(&self) -> Option<&MemberShown> {
        let change = self.change?;
        self.members.iter().find(|member| member.id == change.member)
    }

    /// Why the role of that member was not changed.
    fn problem_of(&self, member: &MemberShown) -> Option<&str> {
        self.change.filter(|change| change.member == member.id).and(self.problems.above())
    }

    /// The role that the form of that member shows: the one that was chosen, if it can be, or the member's own.
    fn chosen(&self, member: &MemberShown) -> &str {
        let given = self.change.filter(|change| change.member == member.id).map(|change| change.role);
        let known = given.filter(|given| self.roles.iter().any(|role| role.value == *given));
        known.unwrap_or(member.role)
    }

    fn email_field(&self) -> Field<'_> {
        Field { autocomplete: "off", ..Field::email(self.given.email, self.problems.of("email")) }
    }

    fn role_field(&self) -> Select<'_> {
        let (name, problem) = ("role", self.problems.of("role"));
        Select { name, label: "Role", options: self.roles, chosen: self.given.role, problem }
    }
}

/// The question whether to remove a member, or to leave.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "remove_member.html")]
pub struct RemoveMember<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The member.
    pub member: &'a MemberShown,
    /// Whether the member keeps the account. It is only known of the user who sees the page.
    pub stays: bool,
}

impl RemoveMember<'_> {
    fn title(&self) -> String {
        if self.member.is_self {
            format!("Leave {}?", self.shell.organization)
        } else {
            format!("Remove {}?", self.member.name)
        }
    }
}

in_english!(MembersPage<'_>, RemoveMember<'_>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_have_names_for_people() {
        assert_eq!(["viewer", "owner", "other"].map(role_text), ["Viewer", "Owner", "other"]);
    }
}
