//! The pages about the user's organizations and claims.

use kalends_kernel::Page;

use super::{done, problems, shell};
use crate::{
    CLAIM_CODE_FIELDS, CLAIM_FIELDS, ClaimCode, ClaimShown, Claims, Done, FormPlace, NO_PROBLEMS, OtherOrganization,
    OwnOrganization, OwnOrganizations, Paging, Place, SignedInAgain,
};

const ORG: &str = "org_01jn8r6v9ke0bt3m5qz2c7xwdg";
const CLAIM: &str = "clm_01jn8r6v9ke0bt3m5qz2c7xwdh";

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Home);
    let at = "2026-03-02T08:00:00Z".parse().unwrap();
    let own = |role, active| OwnOrganization { id: ORG.to_owned(), name: text.to_owned(), role, since: at, active };
    let orgs = [own("owner", true), own("viewer", false)];
    let other = OtherOrganization { id: ORG.to_owned(), name: text.to_owned() };
    let again = |form: FormPlace<'_>| SignedInAgain { shell, form }.html();
    let claim = |status| ClaimShown {
        id: CLAIM.to_owned(),
        status,
        org: Some(ORG.to_owned()).filter(|_| ["held", "effective"].contains(&status)),
        created_at: at,
        expires_at: Some(at).filter(|_| ["pending", "expired"].contains(&status)),
        takes_effect_at: Some(at).filter(|_| status == "held"),
        ended_at: Some(at).filter(|_| ["effective", "revoked", "void"].contains(&status)),
    };
    let claims = ["pending", "expired", "held", "effective", "revoked", "void"].map(claim);
    let path = "/console/claims";
    let paging = |total| Paging { path: path.to_owned(), filter: Vec::new(), page: Page::default(), total };
    let listed = Claims {
        shell,
        done: done(),
        claims: &claims,
        paging: &paging(51),
        once: "once",
        email: text,
        keeps_mail: false,
        problems: &NO_PROBLEMS,
    };
    let code = ClaimCode { shell, done: done(), id: CLAIM, once: "once", keeps_mail: false, problems: &NO_PROBLEMS };
    vec![
        ("own organizations", OwnOrganizations { shell, orgs: &orgs }.html()),
        ("own organizations, one", OwnOrganizations { shell, orgs: &orgs[..1] }.html()),
        ("signed in again", again(FormPlace::Here)),
        ("signed in again, elsewhere", again(FormPlace::Elsewhere(&other))),
        ("signed in again, as another user", again(FormPlace::Lost)),
        ("claims", listed.html()),
        ("claims, none", Claims { done: Done::default(), claims: &[], paging: &paging(0), ..listed }.html()),
        ("claims, wrong", Claims { problems: &problems(&CLAIM_FIELDS, text), ..listed }.html()),
        ("claims, without mail", Claims { keeps_mail: true, ..listed }.html()),
        ("code of a claim", code.html()),
        ("code of a claim, without mail", ClaimCode { keeps_mail: true, ..code }.html()),
        ("code of a claim, wrong", ClaimCode { problems: &problems(&CLAIM_CODE_FIELDS, text), ..code }.html()),
    ]
}

#[test]
fn a_claim_says_when_it_becomes_final() {
    let (text, at) = ("Engines", |time: &str| time.parse().unwrap());
    let claim = |status, takes_effect_at, ended_at| ClaimShown {
        id: CLAIM.to_owned(),
        status,
        org: Some(ORG.to_owned()),
        created_at: at("2026-03-02T08:00:00Z"),
        expires_at: None,
        takes_effect_at,
        ended_at,
    };
    let claims = [
        claim("held", Some(at("2026-03-03T08:04:00Z")), None),
        claim("effective", None, Some(at("2026-03-01T08:04:00Z"))),
    ];
    let shell = &shell(text, Place::Home);
    let paging = Paging { path: "/console/claims".to_owned(), filter: Vec::new(), page: Page::default(), total: 2 };
    let page = Claims {
        shell,
        done: Done::default(),
        claims: &claims,
        paging: &paging,
        once: "once",
        email: "",
        keeps_mail: false,
        problems: &NO_PROBLEMS,
    };
    let page = page.html();
    for part in ["<dt>Becomes final</dt><dd><time datetime=\"2026-03-03T08:04:00Z\">", "<dt>Final since</dt>", ORG] {
        assert!(page.contains(part), "no {part} in {page}");
    }
    assert!(!page.contains("Enter the code"), "{page}");
}

#[test]
fn a_server_that_sends_no_mail_says_so_where_a_code_is_mailed() {
    let pages = pages("Engines");
    for (name, page) in pages.iter().filter(|(name, _)| name.starts_with("claims") || name.starts_with("code of")) {
        let says_so = page.contains("This server sends no email.");
        assert_eq!(says_so, name.ends_with("without mail"), "{name}: {page}");
        assert!(!(says_so && page.contains("Send the code")), "{name}: {page}");
    }
}
