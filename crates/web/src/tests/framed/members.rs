//! The pages about members.

use super::{done, problems, shell};
use crate::{
    Done, INVITATION_FIELDS, InvitationShown, InviteGiven, MemberShown, MembersPage, NO_PROBLEMS, Place, ROLES,
    RemoveMember,
};

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Organization);
    let at = "2026-03-02T08:00:00Z".parse().unwrap();
    let member = |role, is_self, may_change| MemberShown {
        id: "usr_01jn8r6v9ke0bt3m5qz2c7xwdf".to_owned(),
        name: text.to_owned(),
        email: text.to_owned(),
        role,
        since: at,
        is_self,
        may_change,
    };
    let members = [member("owner", true, true), member("viewer", false, true), member("admin", false, false)];
    let [own, other, _] = &members;
    let invitation = |role, may_withdraw| InvitationShown {
        id: "inv_01jn8r6v9ke0bt3m5qz2c7xwdh".to_owned(),
        email: text.to_owned(),
        role,
        expires_at: at,
        may_withdraw,
    };
    let invitations = [invitation("member", true), invitation("owner", false)];
    let shown = MembersPage {
        shell,
        done: done(),
        members: &members,
        invitations: &invitations,
        roles: &ROLES,
        blocked: None,
        once: "once",
        given: InviteGiven { email: text, role: "member" },
        problems: &NO_PROBLEMS,
    };
    let wrong = &problems(&INVITATION_FIELDS, text);
    let question = RemoveMember { shell, member: own, stays: true };
    vec![
        ("members", shown.html()),
        ("members, wrong", MembersPage { problems: wrong, roles: &ROLES[..3], ..shown }.html()),
        ("members, unproved", MembersPage { blocked: Some(text), invitations: &[], ..shown }.html()),
        ("members, seen by a viewer", MembersPage { done: Done::default(), roles: &[], ..shown }.html()),
        ("leave", question.html()),
        ("leave for good", RemoveMember { stays: false, ..question }.html()),
        ("remove a member", RemoveMember { member: other, ..question }.html()),
    ]
}
