//! The pages about members.

use super::{done, problems, shell};
use crate::{
    Done, INVITATION_FIELDS, InvitationShown, InviteGiven, MemberShown, MembersPage, NO_PROBLEMS, Place, Problems,
    ROLES, RemoveMember, RoleGiven,
};

const USER: &str = "usr_01jn8r6v9ke0bt3m5qz2c7xwdf";

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Organization);
    let at = "2026-03-02T08:00:00Z".parse().unwrap();
    let member = |role, is_self, may_change| MemberShown {
        id: USER.to_owned(),
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
        invited: "",
        keeps_mail: false,
        roles: &ROLES,
        blocked: None,
        once: "once",
        given: InviteGiven { email: text, role: "member" },
        change: None,
        problems: &NO_PROBLEMS,
    };
    let change = Some(RoleGiven { member: USER, role: "admin" });
    let refused = &Problems::general(text.to_owned());
    let wrong = &problems(&INVITATION_FIELDS, text);
    let question = RemoveMember { shell, member: own, stays: true };
    vec![
        ("members", shown.html()),
        ("members, invited", MembersPage { invited: &invitations[0].id, ..shown }.html()),
        (
            "members, invited without mail",
            MembersPage { invited: &invitations[0].id, keeps_mail: true, ..shown }.html(),
        ),
        ("members, wrong", MembersPage { problems: wrong, roles: &ROLES[..3], ..shown }.html()),
        ("members, role refused", MembersPage { members: &members[..1], change, problems: refused, ..shown }.html()),
        ("members, unproved", MembersPage { blocked: Some(text), invitations: &[], ..shown }.html()),
        ("members, seen by a viewer", MembersPage { done: Done::default(), roles: &[], ..shown }.html()),
        ("leave", question.html()),
        ("leave for good", RemoveMember { stays: false, ..question }.html()),
        ("remove a member", RemoveMember { member: other, ..question }.html()),
    ]
}

#[test]
fn a_refused_role_is_shown_beside_its_member() {
    let shell = &shell("Engines", Place::Organization);
    let member = |id: &str, name: &str| MemberShown {
        id: id.to_owned(),
        name: name.to_owned(),
        email: format!("{name}@example.com"),
        role: "viewer",
        since: "2026-03-02T08:00:00Z".parse().unwrap(),
        is_self: false,
        may_change: true,
    };
    let members = [member("usr_a", "Ada"), member("usr_b", "Bob")];
    let problem = "Only one owner is left.";
    let page = |member, role| {
        let page = MembersPage {
            shell,
            done: Done::default(),
            members: &members,
            invitations: &[],
            invited: "",
            keeps_mail: false,
            roles: &ROLES,
            blocked: None,
            once: "once",
            given: InviteGiven { email: "", role: "member" },
            change: Some(RoleGiven { member, role }),
            problems: &Problems::general(problem.to_owned()),
        };
        page.html()
    };
    let shown = page("usr_b", "admin");
    let (ada, bob) = shown.split_once("Bob").unwrap();
    assert!(!ada.contains(problem) && ada.contains("value=\"viewer\" selected"), "{ada}");
    let (bob, _) = bob.split_once("</form>").unwrap();
    for part in ["id=\"role-2-problem\">Only one owner is left.</p>", "value=\"admin\" selected"] {
        assert!(bob.contains(part), "no {part} in {bob}");
    }
    // A role that cannot be chosen, and a member who has left.
    let unknown = page("usr_b", "king");
    assert_eq!(unknown.matches("value=\"viewer\" selected").count(), 2, "{unknown}");
    let left = page("usr_c", "admin");
    assert!(left.contains("<p class=\"problem\" role=\"alert\">Only one owner is left.</p>"), "{left}");
}
