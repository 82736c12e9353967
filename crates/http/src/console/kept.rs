//! What a page keeps of a form that had no effect, to be sent again: the session had ended, or had been switched to
//! another organization. Nothing is stored.

use axum::response::{IntoResponse as _, Response};
use kalends_kernel::OrgId;
use kalends_web::{KeptForm, KeptPart, NoEffect, NoPreview, Path, SentForm};
use url::form_urlencoded;

use super::{
    hidden::{LEAVES, ORG, VERSION},
    parts::Content,
    places::{ACCOUNT, ACCOUNT_PASSWORD, AUTHORIZE, DECLINE, DELETE_ORGANIZATION, JOIN, SIGN_OUT, START},
    shown::{because_of, in_frame, page},
};
use crate::{error::ApiError, once::ONCE, pages::Fields};

/// A field whose name contains one of these words may be a secret. It is never sent back to the browser, and neither is
/// its field `was_NAME`, so that a field that is left out by mistake counts as one that nobody typed over.
const SECRETS: [&str; 7] = ["password", "passphrase", "secret", "credential", "token", "code", "otp"];
/// The fields that nobody types.
const UNTYPED: [&str; 4] = [ORG, ONCE, VERSION, LEAVES];
/// The maximum number of fields of a form that is kept.
const FIELDS_MAX: usize = 400;
/// The maximum size of their names and values, in bytes. The forms that import a file can be larger.
const KEPT_MAX: usize = 256 * 1024;
/// The maximum size of the body of such a form, in bytes. A browser may send three bytes for one.
pub(super) const BODY_MAX: usize = 3 * KEPT_MAX;

/// Forms that are not kept. Some end the session by their effect. The sign-in has help of its own for those about an
/// invitation or a connection link. The form of the user's name would rename somebody else who signs in. Nobody has to
/// sign in to sign out. The address of the page that grants a connector access has what its form needs.
const NOT_KEPT: [&str; 8] = [SIGN_OUT, JOIN, START, DECLINE, ACCOUNT, ACCOUNT_PASSWORD, DELETE_ORGANIZATION, AUTHORIZE];

/// Whether a form may be kept, by the template of its route.
pub(super) fn may_be_kept(route: &str) -> bool {
    !NOT_KEPT.contains(&route)
}

/// What is kept of a form.
#[derive(Debug, PartialEq)]
pub(super) enum Kept<'a> {
    /// Nothing: it names no organization, or contains nothing that was typed and may be shown.
    Nothing,
    /// Nothing, because it is too long.
    TooLong(Option<OrgId>),
    /// Nothing, because it has a file, which no page can put into a form, or is so long that it may have one.
    File(Option<OrgId>),
    /// Its fields.
    Form {
        /// The organization of its page; `None` for a form of the operator.
        org: Option<OrgId>,
        /// The names and values, in their order.
        fields: Vec<(&'a str, &'a str)>,
        /// Whether any are left out.
        left_out: bool,
    },
}

impl<'a> Kept<'a> {
    /// [`Kept::of`], for a form that may have a file. The text of a file may be in a hidden field, so a long form with a
    /// field for a file is opened again.
    pub(super) fn of_content(content: &'a Content) -> Self {
        match (Self::of(&content.fields), content.fields.get(ORG).parse()) {
            (_, Ok(org)) if !content.files.is_empty() => Self::File(Some(org)),
            (Self::TooLong(org), _) if content.in_parts => Self::File(org),
            (kept, _) => kept,
        }
    }

    pub(super) fn of(fields: &'a Fields) -> Self {
        match fields.get(ORG).parse::<OrgId>() {
            Ok(org) => Self::form(fields, Some(org)),
            Err(_) => Self::Nothing,
        }
    }

    /// A form of the operator, which belongs to no organization.
    pub(super) fn of_operator(fields: &'a Fields) -> Self {
        Self::form(fields, None)
    }

    fn form(fields: &'a Fields, org: Option<OrgId>) -> Self {
        let size: usize = fields.pairs().map(|(name, value)| name.len() + value.len()).sum();
        let sent = fields.pairs().count();
        if sent > FIELDS_MAX || size > KEPT_MAX {
            return Self::TooLong(org);
        }
        let kept: Vec<_> = fields.pairs().filter(|(name, _)| !may_be_secret(name)).collect();
        if kept.iter().all(|(name, _)| UNTYPED.contains(name)) {
            return Self::Nothing;
        }
        let left_out = kept.len() < sent;
        Self::Form { org, fields: kept, left_out }
    }

    /// The answer to a form to that path, which had no effect. If nothing is kept, it is the one to the error.
    pub(super) fn answer(&self, reason: NoEffect, error: ApiError, path: &str) -> Response {
        match self.render(reason, path) {
            Some(text) => {
                let shown = page(error.status(), text);
                because_of(error, shown)
            }
            None => error.into_response(),
        }
    }

    /// The page that says why a form to that path had no effect, if there is anything to say on it.
    pub(super) fn render(&self, reason: NoEffect, path: &str) -> Option<String> {
        let action = Path::new(path)?;
        let (org, part) = match self {
            Self::Nothing => return None,
            Self::TooLong(org) => (org, KeptPart::TooLong),
            Self::File(org) => (org, KeptPart::File { form: &action }),
            Self::Form { org, fields, left_out } => {
                (org, KeptPart::Form(SentForm { action: &action, fields, left_out: *left_out }))
            }
        };
        let org = org.map(|org| org.to_string());
        Some(KeptForm { reason, org: org.as_deref(), part }.html())
    }
}

/// Whether the body has more fields than a form that is kept. This reads none of them.
pub(super) fn has_too_many(body: &[u8]) -> bool {
    form_urlencoded::parse(body).nth(FIELDS_MAX).is_some()
}

/// The answer in the frame of a preview. The form beside it still has what was typed, and keeps it when it is saved.
pub(super) fn no_preview(reason: NoEffect, error: ApiError) -> Response {
    let reason = format!("{}. Save to keep what you typed.", reason.title());
    let shown = in_frame(error.status(), NoPreview { reason: &reason }.html(), None);
    because_of(error, shown)
}

fn may_be_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRETS.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use kalends_testkit::fixtures::Fixtures;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("password", true)]
    #[case("current_password", true)]
    #[case("new_password", true)]
    #[case("code", true)]
    #[case("last_code", true)]
    #[case("recovery_codes", true)]
    #[case("token", true)]
    #[case("revocation_token", true)]
    #[case("client_secret", true)]
    #[case("otp", true)]
    #[case("Password", true)]
    #[case("was_postcode", true)]
    #[case("org", false)]
    #[case("once", false)]
    #[case("version", false)]
    #[case("was_description", false)]
    #[case("description", false)]
    #[case("timezone", false)]
    #[case("conference_url", false)]
    #[case("recurrence_rule", false)]
    #[case("key", false)]
    #[case("scope", false)]
    fn secrets_are_known_by_the_names_of_their_fields(#[case] name: &str, #[case] secret: bool) {
        assert_eq!(may_be_secret(name), secret);
    }

    fn org() -> OrgId {
        Fixtures::new().organization().id
    }

    /// The fields of a form of that organization.
    fn fields(org: OrgId, rest: &str) -> Fields {
        Fields::read(format!("org={org}&{rest}").as_bytes())
    }

    #[test]
    fn fields_are_kept_in_their_order_without_secrets() {
        let org = org();
        let id = org.to_string();
        let kept = |rest: &[(&'static str, &'static str)], left_out| {
            let fields = [&[("org", &*id)][..], rest].concat();
            Kept::Form { org: Some(org), fields, left_out }
        };
        let sent = fields(org, "events=a&events=b&code=1&note=%0D%0A%3Cb%3E");
        assert_eq!(Kept::of(&sent), kept(&[("events", "a"), ("events", "b"), ("note", "\n<b>")], true));
        assert_eq!(Kept::of(&fields(org, "name=")), kept(&[("name", "")], false));
    }

    #[rstest]
    #[case::button("")]
    #[case::question("version=3&once=abc")]
    #[case::leaving("leaves=true")]
    #[case::secrets("once=abc&current_password=hush&password=hush")]
    fn a_form_without_anything_typed_is_not_kept(#[case] rest: &str) {
        assert_eq!(Kept::of(&fields(org(), rest)), Kept::Nothing);
    }

    #[rstest]
    #[case::nothing("")]
    #[case::security_code("once=abc&code=123456")]
    #[case::nonsense("org=x&name=Ada")]
    fn a_form_of_no_organization_is_not_kept(#[case] body: &str) {
        assert_eq!(Kept::of(&Fields::read(body.as_bytes())), Kept::Nothing);
    }

    #[rstest]
    #[case::pasted(Vec::new(), false)]
    #[case::uploaded(vec![("file".to_owned(), Bytes::new())], true)]
    fn a_form_with_a_file_is_not_kept(#[case] files: Vec<(String, Bytes)>, #[case] lost: bool) {
        let org = org();
        let content = Content { fields: fields(org, "body=x"), files, in_parts: true };
        assert_eq!(Kept::of_content(&content) == Kept::File(Some(org)), lost);
        // A form of no organization is none of this server's.
        let of_nobody = Content { fields: Fields::read(b"body=x"), ..content };
        assert_eq!(Kept::of_content(&of_nobody), Kept::Nothing);
    }

    #[rstest]
    #[case::of_an_import(true)]
    #[case::of_anything_else(false)]
    fn a_long_form_with_a_field_for_a_file_is_opened_again(#[case] in_parts: bool) {
        let org = org();
        let fields = fields(org, &format!("body={}", "x".repeat(KEPT_MAX)));
        let content = Content { fields, files: Vec::new(), in_parts };
        let expected = if in_parts { Kept::File(Some(org)) } else { Kept::TooLong(Some(org)) };
        assert_eq!(Kept::of_content(&content), expected);
    }

    #[test]
    fn a_form_that_is_too_long_is_not_kept() {
        let org = org();
        let (many, long) = ("a=1&".repeat(FIELDS_MAX), format!("a={}", "x".repeat(KEPT_MAX)));
        for rest in [&many, &long] {
            assert_eq!(Kept::of(&fields(org, rest)), Kept::TooLong(Some(org)));
        }
        let just = &many[4..];
        assert!(matches!(Kept::of(&fields(org, just)), Kept::Form { .. }));
        for (rest, too_many) in [(&*many, true), (just, false), (&*long, false)] {
            assert_eq!(has_too_many(format!("org={org}&{rest}").as_bytes()), too_many);
        }
    }
}
