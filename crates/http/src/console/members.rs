//! The members of the organization and their invitations, and the forms about them.

use std::sync::Arc;

use axum::{
    Router,
    response::Response,
    routing::{get, post},
};
use http::StatusCode;
use kalends_accounts::Role;
use kalends_app::{Actor, App, Missing, Refusal, operations};
use kalends_kernel::{MemberInvitationId, UserId};
use kalends_web::{
    Choice, Done, INVITATION_FIELDS, InvitationShown, InviteGiven, MemberShown, MembersPage, NO_PROBLEMS, Parted,
    Place, Problems, ROLES, RemoveMember, RoleGiven,
};
use kalends_wire as wire;
use serde::Deserialize;

use super::{
    form::{OwnForm, new_once, read},
    frame::{AskedOf, belongs_elsewhere, shell},
    places::{Form, MEMBER, MEMBERS, REMOVE_MEMBER},
    shown::{after_removal, page, parted, problems, reason, refused, shown_again},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    pages::Fields,
    reply::see_other,
};

/// The pages and forms, each with its operation.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", MEMBERS, &operations::LIST_MEMBERS),
    ("POST", MEMBERS, &operations::INVITE_MEMBER),
    ("POST", MEMBER, &operations::UPDATE_MEMBER),
    ("GET", REMOVE_MEMBER, &operations::LIST_MEMBERS),
    ("POST", REMOVE_MEMBER, &operations::DELETE_MEMBER),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route(MEMBERS, get(list).post(invite))
        .route(MEMBER, post(change).get(back))
        .route(REMOVE_MEMBER, get(ask).post(remove))
}

/// The list, to continue on after a refused form, with the text of the link to it.
const TO_LIST: (&str, &str) = (MEMBERS, "See the members");
/// What the form that invites contains at first.
const NOBODY: InviteGiven<'static> = InviteGiven { email: "", role: "member" };

/// What was given in a form.
#[derive(Clone, Copy)]
struct Sent<'a> {
    /// In the form that invites.
    invite: InviteGiven<'a>,
    /// In the form of a member.
    change: Option<RoleGiven<'a>>,
}

/// No form was sent.
const NOTHING: Sent<'static> = Sent { invite: NOBODY, change: None };

/// What the address of the list says.
#[derive(Default, Deserialize)]
struct AskedList {
    /// The form that had its effect, by its name in [`Done`].
    #[serde(default)]
    done: String,
    /// The identifier of the invitation that was just made.
    #[serde(default)]
    invited: String,
}

/// What the list says about the form that led to it.
#[derive(Clone, Copy, Default)]
struct Said<'a> {
    done: Done,
    /// The identifier of the invitation that was just made; empty if there is none.
    invited: &'a str,
}

/// The role of the caller, and the user.
fn own(caller: &Actor) -> Result<(Role, UserId), Refusal> {
    let role = caller.principal.kind.role();
    let user = caller.human().map(|(_, user)| user);
    role.zip(user).ok_or(Refusal::NotSignedIn)
}

/// Whether a member with the role `own` may grant, change and take away the role with that name.
fn manages(own: Role, role: &str) -> bool {
    Role::from_name(role).is_some_and(|role| own.may_invite(role).is_ok())
}

fn shown(member: wire::Member, (own, user): (Role, UserId)) -> MemberShown {
    MemberShown {
        is_self: member.id == user,
        may_change: manages(own, member.role),
        id: member.id.to_string(),
        name: member.name,
        email: member.email,
        role: member.role,
        since: member.member_since,
    }
}

fn shown_invitation(invitation: wire::MemberInvitation, own: Role) -> InvitationShown {
    InvitationShown {
        may_withdraw: manages(own, invitation.role),
        id: invitation.id.to_string(),
        email: invitation.email,
        role: invitation.role,
        expires_at: invitation.expires_at,
    }
}

/// `GET /console/members`
async fn list(app: Service, caller: Caller, asked: AskedOf<AskedList>) -> Result<Response, ApiError> {
    let AskedList { done, invited } = asked.map(|asked| asked.0).unwrap_or_default();
    let said = Said { done: Done::named(&done), invited: &invited };
    Ok(page(StatusCode::OK, render(&app, &caller.0, said, NOTHING, &NO_PROBLEMS).await?))
}

/// The list, with what was given in a form that had no effect, and the reason.
async fn render(
    app: &App,
    caller: &Actor,
    said: Said<'_>,
    sent: Sent<'_>,
    problems: &Problems,
) -> Result<String, Refusal> {
    let own = own(caller)?;
    let listed = app.list_members(caller).await?;
    let members: Vec<_> = listed.members.into_iter().map(|member| shown(member, own)).collect();
    let invitations = listed.invitations.into_iter();
    let invitations: Vec<_> = invitations.map(|invitation| shown_invitation(invitation, own.0)).collect();
    let roles: Vec<Choice<'_>> = ROLES.into_iter().filter(|role| manages(own.0, role.value)).collect();
    let blocked = caller.may_invite().err().map(|refusal| reason(&refusal));
    let list = MembersPage {
        shell: &shell(caller, Place::Organization)?,
        done: said.done,
        members: &members,
        invitations: &invitations,
        invited: said.invited,
        keeps_mail: app.settings().deployment.keeps_mail,
        roles: &roles,
        blocked: blocked.as_deref(),
        once: &new_once(app.entropy()),
        given: sent.invite,
        change: sent.change,
        problems,
    };
    Ok(list.html())
}

/// The list, which says why a form had no effect. `known` are the names of the form's fields.
async fn again(
    app: &App,
    caller: &Actor,
    sent: Sent<'_>,
    known: &[&str],
    refusal: Refusal,
) -> Result<Response, ApiError> {
    let (problems, error) = problems(refusal, known)?;
    shown_again(error, render(app, caller, Said::default(), sent, &problems).await, TO_LIST)
}

fn after(done: &str) -> Response {
    see_other(&format!("{MEMBERS}?done={done}"), None)
}

/// Somebody reloads the address of a form.
async fn back() -> Response {
    see_other(MEMBERS, None)
}

fn typed(fields: &Fields) -> InviteGiven<'_> {
    InviteGiven { email: fields.get("email").trim(), role: fields.get("role") }
}

/// The part of an answer by which the list finds the invitation.
#[derive(Deserialize)]
struct Invited {
    id: MemberInvitationId,
}

/// `POST /console/members`
async fn invite(app: Service, mut form: OwnForm) -> Result<Response, ApiError> {
    let InviteGiven { email, role } = typed(&form.fields);
    let outcome = match (wire::InviteMember { email: email.to_owned(), role: role.to_owned() }).parse() {
        Ok((email, role)) => {
            form.once(&app, async |caller: &Actor| app.invite_member(caller, &email, role).await).await
        }
        Err(errors) => Err(errors.into()),
    };
    match outcome {
        Ok(answer) => {
            let id = read::<Invited>(&answer)?.id;
            Ok(see_other(&format!("{MEMBERS}?invited={id}"), None))
        }
        Err(refusal) => {
            let sent = Sent { invite: typed(&form.fields), change: None };
            again(&app, &form.caller, sent, &INVITATION_FIELDS, refusal).await
        }
    }
}

/// `POST /console/members/{id}`
async fn change(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    let role = wire::UpdateMember { role: form.fields.get("role").to_owned() }.parse();
    let outcome = match role {
        Ok(role) => app.update_member(&form.caller, &id.0, role).await,
        Err(errors) => Err(errors.into()),
    };
    match outcome {
        Ok(_) => Ok(after("saved")),
        Err(refusal) => {
            let change = Some(RoleGiven { member: &id.0, role: form.fields.get("role") });
            again(&app, &form.caller, Sent { change, ..NOTHING }, &[], refusal).await
        }
    }
}

/// `GET /console/members/{id}/remove`. An invitation is withdrawn from the list, without a question. Somebody comes here
/// with one after signing in again, or reloads the address.
async fn ask(app: Service, caller: Caller, id: PathOf<String>) -> Result<Response, ApiError> {
    if id.0.parse::<MemberInvitationId>().is_ok() {
        return Ok(back().await);
    }
    match question(&app, &caller.0, &id.0).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

/// The question whether to remove a member. If that is not possible, this says why, before somebody decides.
async fn question(app: &App, caller: &Actor, id: &str) -> Result<String, Refusal> {
    let own = own(caller)?;
    let members = app.members(caller).await?;
    let owners = members.iter().filter(|member| member.role == Role::Owner.as_str()).count();
    let found = members.into_iter().find(|member| member.id.to_string() == id);
    let member = found.map(|member| shown(member, own)).ok_or_else(|| Refusal::missing(Missing::Member, id))?;
    let role = Role::from_name(member.role).ok_or_else(|| Refusal::missing(Missing::Member, id))?;
    own.0.may_remove(role, member.is_self, owners)?;
    let shell = shell(caller, Place::Organization)?;
    let stays = belongs_elsewhere(app, caller).await?;
    Ok(RemoveMember { shell: &shell, member: &member, stays }.html())
}

/// `POST /console/members/{id}/remove`. It also withdraws invitations, and lets the user leave, which ends the session.
async fn remove(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    let (_, user) = own(&form.caller)?;
    let organization = &form.caller.signed_in()?.organization;
    let stays = belongs_elsewhere(&app, &form.caller).await?;
    match app.remove_member(&form.caller, &id.0).await {
        Ok(_) if id.0.parse::<UserId>().is_ok_and(|removed| removed == user) => {
            Ok(parted(&app, &Parted { organization: organization.name.as_str(), deleted: false, stays }))
        }
        outcome => after_removal(outcome, "removed", TO_LIST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_can_be_chosen() {
        assert_eq!(ROLES.map(|role| role.value), Role::ALL.map(Role::as_str));
        assert!(Role::from_name(NOBODY.role).is_some());
    }
}
