//! The members of an organization: invitations by mail, roles, and leaving.
//!
//! Each decision about members raises the version of the organization, so that two decisions never rely on the same
//! members. So an organization keeps an owner and stays below its limit of members.

use std::sync::Arc;

use kalends_accounts::{
    Change, Email, INVITATION_REFUSED, MemberInvitation, Membership, Organization, Role, TokenHash, User,
    check_invitation, goes_with,
};
use kalends_bridge as bridge;
use kalends_kernel::{FieldError, Foreign, MemberInvitationId, OrgId, UserId};
use kalends_notifications::{About, Withdrawn};
use kalends_time::Timestamp;
use kalends_wire as wire;

use crate::{
    Actor, Answered, App, ChangeSet, Missing, Refusal,
    attempt::{Attempt, retry_stale},
    audit::Subject,
    console::human,
    giving_back::Consent,
    letters,
    outgoing_letters::recipient_of,
};

/// What an invitation offers a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnInvitation {
    /// The organization's name.
    pub organization: String,
    /// The role that the user gets there.
    pub role: Role,
}

/// The members of an organization at one time, as one of them sees it.
struct Team {
    organization: Organization,
    members: Vec<(Membership, User)>,
    /// The invitations that can be accepted.
    invitations: Vec<MemberInvitation>,
    /// The caller's membership and account.
    own: (Membership, User),
}

impl Team {
    fn member(&self, user: UserId) -> Option<&(Membership, User)> {
        self.members.iter().find(|(member, _)| member.user == user)
    }

    fn owners(&self) -> usize {
        self.members.iter().filter(|(member, _)| member.role == Role::Owner).count()
    }

    /// The change that makes this decision the only one about these members. It comes last, so that all decisions lock
    /// rows in one order.
    fn decided(&self) -> Change {
        let seen = self.organization.version;
        let organization = Organization { version: seen.next(), ..self.organization.clone() };
        Change::UpdateOrganization { organization, seen }
    }

    /// Withdraws the invitations by `user` to roles above `role`, or all of them: the user loses the right to grant them.
    fn withdraw_those_of(&self, user: UserId, role: Option<Role>, at: Timestamp, changes: &mut ChangeSet) {
        let theirs = self.invitations.iter().filter(|invitation| {
            invitation.invited_by == user && role.is_none_or(|role| role.may_invite(invitation.role).is_err())
        });
        for invitation in theirs {
            withdraw(invitation, at, changes);
        }
    }
}

/// The withdrawal of an invitation's email.
fn withdrawn(invitation: &MemberInvitation, at: Timestamp) -> Withdrawn {
    let recipient = recipient_of(&invitation.email);
    Withdrawn { recipient, about: About::invitation(invitation.id), at }
}

/// Withdraws an invitation, with its email if that still waits.
fn withdraw(invitation: &MemberInvitation, at: Timestamp, changes: &mut ChangeSet) {
    let (org, id) = (changes.org, invitation.id);
    changes.accounts.push(Change::RemoveInvitation { org, id });
    changes.withdrawn.push(withdrawn(invitation, at));
}

impl App {
    async fn team(&self, actor: &Actor) -> Result<Team, Refusal> {
        let (_, user) = human(actor)?;
        let org = actor.org();
        // Read first: a decision that was made in the meantime has raised its version.
        let organization = self.parts.store.find_organization(org).await?.ok_or(Refusal::NotSignedIn)?;
        let members = self.parts.store.members_of(org).await?;
        // The caller may have left since the session was checked.
        let own = members.iter().find(|(member, _)| member.user == user).cloned().ok_or(Refusal::NotSignedIn)?;
        let invitations = self.open_invitations(org).await?;
        Ok(Team { organization, members, invitations, own })
    }

    /// The organization's invitations that can be accepted, the oldest first.
    async fn open_invitations(&self, org: OrgId) -> Result<Vec<MemberInvitation>, Refusal> {
        let mut invitations = self.parts.store.invitations_of(org).await?;
        let now = self.now();
        invitations.retain(|invitation| invitation.holds(now));
        Ok(invitations)
    }

    /// The organization's members and open invitations.
    ///
    /// # Errors
    /// [`Refusal::NotSignedIn`] if the caller has just left.
    pub async fn list_members(&self, actor: &Actor) -> Result<wire::Members, Refusal> {
        let members = self.members(actor).await?;
        let invitations = self.open_invitations(actor.org()).await?;
        Ok(wire::Members { members, invitations: invitations.iter().map(wire::MemberInvitation::from).collect() })
    }

    /// The organization's members, longest first.
    ///
    /// # Errors
    /// [`Refusal::NotSignedIn`] if the caller has just left.
    pub async fn members(&self, actor: &Actor) -> Result<Vec<wire::Member>, Refusal> {
        let (_, user) = human(actor)?;
        let members = self.parts.store.members_of(actor.org()).await?;
        // The caller may have left since the session was checked.
        if members.iter().all(|(member, _)| member.user != user) {
            return Err(Refusal::NotSignedIn);
        }
        Ok(members.iter().map(|(member, user)| wire::Member::new(member, user)).collect())
    }

    /// Invites a person by email to become a member. An earlier invitation of the same address is void.
    ///
    /// # Errors
    /// [`Refusal::Member`] for a role above the caller's own, for a person who is a member, and for an organization that
    /// is full; [`Refusal::Unverified`]; [`Refusal::TooMany`] if the organization has used up its emails for the hour.
    pub async fn invite_member(
        &self,
        actor: &Actor,
        email: &Email,
        role: Role,
    ) -> Result<Answered<wire::MemberInvitation>, Refusal> {
        actor.may_invite()?;
        retry_stale(|| async {
            let team = self.team(actor).await?;
            let (own, by) = &team.own;
            let members: Vec<_> = team.members.iter().map(|(_, user)| &user.email).collect();
            check_invitation(own.role, (email, role), &members, &team.invitations).map_err(Refusal::from)?;
            let now = self.now();
            let (invitation, token) = MemberInvitation::issue(own, email.clone(), role, now, self.entropy());
            let mut changes = ChangeSet::new(team.organization.id);
            let page = format!("{}/invitations#{}", self.parts.settings.console_url, token.reveal());
            let organization = Foreign::new(team.organization.name.as_str());
            let mail = letters::invites_member(&invitation, &organization, &Foreign::new(by.name.as_str()), page);
            // It replaces the invitation of the same address, whose link no longer works.
            let replaced = team.invitations.iter().filter(|earlier| earlier.email == *email);
            changes.withdrawn.extend(replaced.map(|earlier| withdrawn(earlier, now)));
            self.write_letter(&mail, About::invitation(invitation.id), now, &mut changes);
            let answer = Answered::shows(&actor.request, wire::MemberInvitation::from(&invitation), None);
            let id = invitation.id.to_string();
            changes.accounts = vec![Change::PutInvitation(invitation), team.decided()];
            self.commit_for(actor, None, id, changes, answer).await
        })
        .await
    }

    /// Gives a member another role.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Member`] for a role above the caller's own, and for the last owner.
    pub async fn update_member(&self, actor: &Actor, id: &str, role: Role) -> Result<Answered<wire::Member>, Refusal> {
        retry_stale(|| async {
            let team = self.team(actor).await?;
            let found = id.parse().ok().and_then(|user| team.member(user));
            let (member, user) = found.ok_or_else(|| Refusal::missing(Missing::Member, id))?;
            team.own.0.role.may_change(member.role, role, team.owners()).map_err(Refusal::from)?;
            let membership = Membership { role, ..*member };
            let answer = Answered::shows(&actor.request, wire::Member::new(&membership, user), None);
            if membership == *member {
                return Ok(answer);
            }
            let mut changes = ChangeSet::new(team.organization.id);
            changes.accounts = vec![Change::ChangeRole { membership, seen: user.version }];
            team.withdraw_those_of(user.id, Some(role), self.now(), &mut changes);
            changes.accounts.push(team.decided());
            self.commit_for(actor, None, user.id.to_string(), changes, answer).await
        })
        .await
    }

    /// Removes a member, which may be the caller, or withdraws an invitation. A user who belongs to no other organization
    /// is deleted. The calendars that the member connected no longer count, and their consents are revoked.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Member`] for a member whose role is above the caller's own, and for the last
    /// owner.
    pub async fn remove_member(self: &Arc<Self>, actor: &Actor, id: &str) -> Result<Answered<()>, Refusal> {
        let missing = || Refusal::missing(Missing::Member, id);
        if let Ok(invitation) = id.parse::<MemberInvitationId>() {
            return self.withdraw_invitation(actor, invitation, id).await;
        }
        let user: UserId = id.parse().map_err(|_| missing())?;
        let (answer, consents) = retry_stale(|| async {
            let team = self.team(actor).await?;
            let (member, account) = team.member(user).ok_or_else(missing)?;
            let leaves = user == team.own.0.user;
            team.own.0.role.may_remove(member.role, leaves, team.owners()).map_err(Refusal::from)?;
            let (org, seen) = (team.organization.id, account.version);
            let mut changes = ChangeSet::new(org);
            changes.accounts.push(Change::RemoveMember { user, org, seen });
            if goes_with(&self.parts.store.memberships_of(user).await?, org) {
                // Leaving raised the version.
                changes.accounts.push(Change::DeleteUser { user, seen: seen.next() });
            }
            team.withdraw_those_of(user, None, self.now(), &mut changes);
            changes.accounts.push(team.decided());
            let consents = self.disconnect(org, user, &mut changes).await?;
            let answer = Answered::nothing(&actor.request);
            let answer = self.commit_for(actor, None, user.to_string(), changes, answer).await?;
            Ok((answer, consents))
        })
        .await?;
        self.give_back(consents).await;
        Ok(answer)
    }

    async fn withdraw_invitation(
        &self,
        actor: &Actor,
        id: MemberInvitationId,
        written: &str,
    ) -> Result<Answered<()>, Refusal> {
        retry_stale(|| async {
            let team = self.team(actor).await?;
            let found = team.invitations.iter().find(|invitation| invitation.id == id);
            let invitation = found.ok_or_else(|| Refusal::missing(Missing::Member, written))?;
            team.own.0.role.may_invite(invitation.role).map_err(Refusal::from)?;
            let mut changes = ChangeSet::new(team.organization.id);
            withdraw(invitation, self.now(), &mut changes);
            changes.accounts.push(team.decided());
            self.commit_for(actor, None, id.to_string(), changes, Answered::nothing(&actor.request)).await
        })
        .await
    }

    /// Removes the user's connections from an organization, and with them the grants of their calendars. Returns the
    /// consents to revoke.
    async fn disconnect(&self, org: OrgId, user: UserId, changes: &mut ChangeSet) -> Result<Vec<Consent>, Refusal> {
        let mut consents = Vec::new();
        for (connection, seen) in self.parts.store.connection_versions(org, Some(user)).await? {
            changes.bridge.push(bridge::Change::DeleteConnection { org, connection, seen });
            consents.extend(self.consent_to_revoke(org, connection).await?);
        }
        Ok(consents)
    }

    /// Makes the caller a member of the organization whose invitation was mailed to their address. This also proves the
    /// address. The session stays in its organization.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] for a token that is unknown, used, withdrawn or expired; [`Refusal::Member`] if it was mailed
    /// to another address, or if the caller is a member; [`Refusal::EmailTaken`] if another user has proved the address.
    pub async fn accept_invitation(&self, actor: &Actor, token: &str) -> Result<Answered<wire::OwnOrg>, Refusal> {
        let (_, user) = human(actor)?;
        retry_stale(|| async {
            let now = self.now();
            let invitation = self.open_invitation("token", token).await?;
            let org = invitation.org;
            // If it has just been deleted, its invitations are gone too: start over.
            let organization = self.parts.store.find_organization(org).await?.ok_or(Attempt::Stale)?;
            let before = self.user(user).await?;
            let memberships = self.parts.store.memberships_of(user).await?;
            let membership = invitation.accept(user, &before.email, &memberships, now).map_err(Refusal::from)?;
            let before = self.with_proof(&actor.request, before).await?;
            let answer = Answered::shows(
                &actor.request,
                wire::OwnOrg {
                    org: (&organization).into(),
                    role: membership.role.as_str(),
                    member_since: membership.since,
                    active: false,
                },
                None,
            );
            let seen = organization.version;
            let decided = Organization { version: seen.next(), ..organization };
            let mut changes = ChangeSet::new(org);
            changes.accounts = vec![
                Change::AddMember { membership, seen: before.version },
                Change::RemoveInvitation { org, id: invitation.id },
                Change::UpdateOrganization { organization: decided, seen },
            ];
            let subject = Subject { org, agent: None, resource: user.to_string() };
            let prefix = Some(actor.principal.key_prefix.as_str());
            self.commit(&actor.request, prefix, subject, changes, answer).await
        })
        .await
    }

    /// What the invitation with that token offers the caller.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] for a token that is unknown, used, withdrawn or expired; [`Refusal::Member`] if the caller
    /// cannot accept it.
    pub async fn invitation_to(&self, actor: &Actor, token: &str) -> Result<OwnInvitation, Refusal> {
        let (_, user) = human(actor)?;
        let invitation = self.open_invitation("token", token).await?;
        let user = self.user(user).await?;
        let memberships = self.parts.store.memberships_of(user.id).await?;
        let role = invitation.accept(user.id, &user.email, &memberships, self.now())?.role;
        match self.parts.store.find_organization(invitation.org).await? {
            Some(organization) => Ok(OwnInvitation { organization: organization.name.as_str().to_owned(), role }),
            // It has just been deleted, and its invitations with it.
            None => Err(FieldError::new("token", INVITATION_REFUSED).into()),
        }
    }

    /// Whether a person who signs up with that address holds an invitation, which proves the address. They accept it
    /// later.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] for a token that is unknown, used, withdrawn or expired; [`Refusal::Member`] if it was mailed
    /// to another address.
    pub(crate) async fn check_invited(&self, token: Option<&str>, email: &Email) -> Result<bool, Refusal> {
        let Some(token) = token else { return Ok(false) };
        self.open_invitation("invitation_token", token).await?.check_address(email)?;
        Ok(true)
    }

    /// The invitation with that token, which can still be accepted. `param` names the token in the error.
    async fn open_invitation(&self, param: &str, token: &str) -> Result<MemberInvitation, Refusal> {
        let found = self.parts.store.find_invitation(TokenHash::of(token)).await?;
        let open = found.filter(|invitation| invitation.holds(self.now()));
        open.ok_or_else(|| FieldError::new(param, INVITATION_REFUSED).into())
    }

    /// Removes up to `limit` expired invitations, and returns whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn forget_invitations(&self, limit: u32) -> Result<bool, Refusal> {
        Ok(self.parts.store.forget_invitations(self.now(), limit).await? < u64::from(limit))
    }
}
