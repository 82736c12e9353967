//! A form of somebody whose session has ended. The page that says so keeps what was sent, as a form to send again.
//! Nothing is stored.

use axum::{
    extract::{MatchedPath, Request},
    response::{IntoResponse as _, Response},
};
use kalends_app::{App, Refusal, operations::Operation};
use kalends_kernel::OrgId;
use kalends_web::{Expired, Path};

use super::{
    form::ORG,
    places::{DELETE_ORGANIZATION, MEMBERS, ORGANIZATION, REMOVE_MEMBER, SIGN_IN, SIGN_OUT},
    shown::{because_of, page},
};
use crate::{
    error::ApiError,
    extract::read_body,
    pages::{Fields, is_form},
    provenance::provenance,
    reply::see_other,
};

/// A field whose name contains one of these words may be a secret. It is never sent back to the browser, and neither is
/// its field `was_NAME`, so that a field that is left out by mistake counts as one that nobody typed over.
const SECRETS: [&str; 7] = ["password", "passphrase", "secret", "credential", "token", "code", "otp"];
/// The maximum number of fields of a form that is shown again.
const FIELDS_MAX: usize = 400;
/// The maximum size of their names and values, in bytes. The largest form of the console is much smaller.
const KEPT_MAX: usize = 256 * 1024;

/// The answer to a form of somebody whose session has ended. If the form comes from a page of this server, the page
/// shows it again, to be sent after signing in. Otherwise, the answer leads to the sign-in: another site must not choose
/// what a page of this server contains.
pub(crate) async fn expired(app: &App, operation: &Operation, request: Request) -> Response {
    let path = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let list = match path {
        // These forms end the session of a user who leaves or deletes the organization. They may have been sent twice.
        REMOVE_MEMBER => Some(MEMBERS),
        DELETE_ORGANIZATION => Some(ORGANIZATION),
        _ => None,
    };
    if let Some(list) = list {
        return see_other(&format!("{SIGN_IN}?next={}&ended=1", list.replace('/', "%2F")), None);
    }
    let error = ApiError::from(Refusal::NotSignedIn);
    // Nobody has to sign in to sign out.
    let shown = if path == SIGN_OUT { None } else { shown_again(app, operation, request).await };
    match shown {
        Some(text) => {
            let shown = page(error.status(), text);
            because_of(error, shown)
        }
        None => error.into_response(),
    }
}

/// The page with the form, if it may be shown and contains anything.
async fn shown_again(app: &App, operation: &Operation, request: Request) -> Option<String> {
    let is_own = operation.writes() && app.admit_cookie(operation, provenance(request.headers())).is_ok();
    if !is_own || !is_form(request.headers()) {
        return None;
    }
    let action = Path::new(request.uri().path())?;
    let fields = Fields::of_form(&read_body(request.into_body()).await.ok()?).ok()?;
    let (kept, left_out) = kept(&fields)?;
    let org = fields.get(ORG).parse::<OrgId>().ok().map(|org| org.to_string());
    Some(Expired { action: &action, fields: &kept, org: org.as_deref(), left_out, of_operator: false }.html())
}

/// The names and values of the fields that the page keeps, and whether it leaves any out. `None` if there is nothing to
/// keep, or too much.
pub(super) fn kept(fields: &Fields) -> Option<(Vec<(&str, &str)>, bool)> {
    let mut kept: Vec<_> = fields.pairs().collect();
    let size: usize = kept.iter().map(|(name, value)| name.len() + value.len()).sum();
    if kept.is_empty() || kept.len() > FIELDS_MAX || size > KEPT_MAX {
        return None;
    }
    let sent = kept.len();
    kept.retain(|(name, _)| !may_be_secret(name));
    let left_out = kept.len() < sent;
    Some((kept, left_out))
}

fn may_be_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRETS.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn fields_are_kept_in_their_order_without_secrets() {
        let fields = Fields::read(b"events=a&events=b&code=1&note=%0D%0A%3Cb%3E");
        let expected = (vec![("events", "a"), ("events", "b"), ("note", "\n<b>")], true);
        assert_eq!(kept(&fields), Some(expected));
        assert_eq!(kept(&Fields::read(b"name=")), Some((vec![("name", "")], false)));
    }

    #[test]
    fn a_form_that_is_empty_or_too_large_is_not_kept() {
        assert_eq!(kept(&Fields::read(b"")), None);
        assert_eq!(kept(&Fields::read("a=1&".repeat(FIELDS_MAX + 1).as_bytes())), None);
        assert!(kept(&Fields::read("a=1&".repeat(FIELDS_MAX).as_bytes())).is_some());
        assert_eq!(kept(&Fields::read(format!("a={}", "x".repeat(KEPT_MAX)).as_bytes())), None);
    }
}
