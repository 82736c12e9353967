//! Query parameters.

use axum::extract::FromRequestParts;
use http::request::Parts;
use kalends_kernel::{Code, FieldError, Locale};
use serde::{
    Deserialize,
    de::{DeserializeOwned, IntoDeserializer as _},
};
use url::form_urlencoded;

use super::{
    parameters::{Parameters, is_of},
    shape::Shaped,
    unknown::{field_error, shorten},
};
use crate::error::ApiError;

/// The maximum number of parameters in a query.
const PARAMETERS_MAX: usize = 64;

/// The query parameters. Errors name unknown, repeated and malformed ones.
pub(crate) struct QueryOf<T>(pub T);

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for QueryOf<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parse(parts.uri.query().unwrap_or("")).map(Self)
    }
}

/// The parameters of an operation whose request may also be the form of a page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfForm {
    lang: Option<String>,
}

/// Checks the query of such a request if it is not a form. A form keeps what the address of its page contained.
///
/// # Errors
/// Every parameter but `lang` is refused, and so is a `lang` that is not one of our languages.
pub(crate) fn check_query_beside_form(query: Option<&str>) -> Result<(), ApiError> {
    let OfForm { lang } = parse(query.unwrap_or_default())?;
    match lang.map(|lang| lang.parse::<Locale>()) {
        Some(Err(error)) => Err(FieldError::new("lang", error.to_string()).into()),
        Some(Ok(_)) | None => Ok(()),
    }
}

fn parse<T: DeserializeOwned>(query: &str) -> Result<T, ApiError> {
    let mut parameters = Parameters::default();
    for (count, (name, value)) in form_urlencoded::parse(query.as_bytes()).enumerate() {
        if count >= PARAMETERS_MAX {
            let message = format!("must contain at most {PARAMETERS_MAX} parameters");
            return Err(FieldError::new("query", message).into());
        }
        // Invalid UTF-8 decodes to the replacement character, which no parameter accepts.
        if name.contains('\u{fffd}') || value.contains('\u{fffd}') || value.contains('\0') {
            return Err(FieldError::new("query", "must be percent-encoded UTF-8 without NUL").into());
        }
        parameters.add(name, value)?;
    }
    serde_path_to_error::deserialize(Shaped::query(parameters.into_deserializer())).map_err(|error| {
        let path = error.path().to_string();
        let mut found = field_error(&path, &error.into_inner().to_string());
        if found.param == "body" {
            "query".clone_into(&mut found.param);
        }
        if found.code == Some(Code::UnknownField)
            && let Some((name, _)) =
                form_urlencoded::parse(query.as_bytes()).find(|(name, _)| is_of(&found.param, name))
        {
            found.param = shorten(&name);
        }
        found.into()
    })
}

#[cfg(test)]
mod tests {
    use kalends_app::Refusal;
    use kalends_wire as wire;
    use rstest::rstest;

    use super::*;

    fn refusal<T: DeserializeOwned>(query: &str) -> (String, String) {
        match parse::<T>(query) {
            Err(ApiError::Refused(Refusal::Invalid(errors))) => {
                let error = errors.first();
                (error.param, error.message)
            }
            Err(other) => panic!("{other:?}"),
            Ok(_) => panic!("{query} is accepted"),
        }
    }

    #[rstest]
    #[case(None, None)]
    #[case(Some("lang=pt-BR"), None)]
    #[case(Some("lang=xx"), Some("lang"))]
    #[case(Some("tz=UTC"), Some("tz"))]
    fn only_a_language_may_stand_beside_a_body(#[case] query: Option<&str>, #[case] param: Option<&str>) {
        let refused = match check_query_beside_form(query) {
            Ok(()) => None,
            Err(ApiError::Refused(Refusal::Invalid(errors))) => Some(errors.first().param),
            Err(other) => panic!("{other:?}"),
        };
        assert_eq!(refused.as_deref(), param);
    }

    #[rstest]
    #[case::not_a_number("limit=abc", "limit", "must be a whole number, got \"abc\"")]
    #[case::empty("limit=", "limit", "must be a whole number, got \"\"")]
    #[case::fraction("limit=1.5", "limit", "must be a whole number, got \"1.5\"")]
    #[case::point_without_digits("limit=1.", "limit", "must be a whole number, got \"1.\"")]
    #[case::too_large_number(
        "limit=9223372036854775808",
        "limit",
        "must be a whole number from -9223372036854775808 to 9223372036854775807, got \"9223372036854775808\""
    )]
    #[case::not_a_flag("expand=ja", "expand", "must be true or false, got \"ja\"")]
    #[case::unknown("limt=1", "limt", "is not known; did you mean limit?")]
    #[case::repeated("limit=1&limit=2", "limit", "must be given once")]
    fn invalid_parameters_are_named(#[case] query: &str, #[case] param: &str, #[case] message: &str) {
        assert_eq!(refusal::<wire::ListEvents>(query), (param.to_owned(), message.to_owned()), "{query}");
    }

    #[rstest]
    #[case::php(
        "agents[]=a",
        "agents[]",
        "is not known; give agents once, with its values separated by commas, as in agents=a,b"
    )]
    #[case::numbered(
        "calendars[0]=a&agents=b",
        "calendars[0]",
        "is not known; give calendars once, with its values separated by commas, as in calendars=a,b"
    )]
    #[case::repeated(
        "agents=a&agents=b",
        "agents",
        "must be given once, with its values separated by commas, as in agents=a,b"
    )]
    #[case::not_a_list("start[]=a", "start[]", "is not known; did you mean start?")]
    fn errors_of_arrays_show_how_to_write_a_list(#[case] query: &str, #[case] param: &str, #[case] message: &str) {
        assert_eq!(refusal::<wire::AcrossAgents>(query), (param.to_owned(), message.to_owned()), "{query}");
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let (param, message) = refusal::<wire::ListCalendars>("include=some");
        assert_eq!((param.as_str(), message.as_str()), ("include", "must be all, got \"some\""));
    }

    #[rstest]
    #[case::no_key("metadata=a", "metadata", "must name a key, as in metadata.project=apollo")]
    #[case::empty_key("metadata.=a", "metadata", "must name a key, as in metadata.project=apollo")]
    #[case::empty_key_in_brackets("metadata[]=a", "metadata", "must name a key, as in metadata.project=apollo")]
    #[case::twice("metadata.a=1&limit=1&metadata.a=2", "metadata.a", "must be given once")]
    #[case::twice_in_two_forms("metadata.a=1&metadata%5Ba%5D=1", "metadata.a", "must be given once")]
    #[case::not_the_name("metadatas.a=1", "metadatas.a", "is not known; did you mean metadata?")]
    #[case::open_bracket("metadata[a=1", "metadata[a", "is not known; did you mean metadata?")]
    fn invalid_filters_are_named(#[case] query: &str, #[case] param: &str, #[case] message: &str) {
        let error = match parse::<wire::ListEvents>(query) {
            Ok(read) => read.parse(kalends_time::Timestamp::EPOCH).map(|_| ()).unwrap_err().first(),
            Err(ApiError::Refused(Refusal::Invalid(errors))) => errors.first(),
            Err(other) => panic!("{other:?}"),
        };
        assert_eq!((error.param.as_str(), error.message.as_str()), (param, message), "{query}");
    }

    #[test]
    fn a_map_is_read_from_its_entries() {
        let query = "metadata.project=apollo+11&limit=5&metadata[a%26b]=%3D1&metadata.x.y=&status=confirmed";
        let Ok(read) = parse::<wire::ListEvents>(query) else { panic!("is refused") };
        let pairs: Vec<_> = read.metadata.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(pairs, [("a&b", "=1"), ("project", "apollo 11"), ("x.y", "")]);
        assert_eq!((read.limit, read.status.is_some()), (Some(5), true));
        let (param, message) = refusal::<wire::ListCalendars>("limit=1&metadata.a=1");
        assert_eq!(param, "metadata.a");
        assert!(message.starts_with("is not known"), "{message}");
    }

    #[test]
    fn numbers_flags_and_names_are_parsed() {
        let Ok(read) = parse::<wire::ListEvents>("limit=20.0&offset=%2B5&expand=true") else { panic!("is refused") };
        assert_eq!((read.limit, read.offset, read.expand), (Some(20), Some(5), Some(true)));
        let Ok(read) = parse::<wire::ListCalendars>("include=all") else { panic!("is refused") };
        assert!(read.include.is_some());
    }
}
