//! `If-Match`: a change that applies only to the version that the caller read (RFC 9110 section 13.1.1).

use axum::extract::FromRequestParts;
use http::{header, request::Parts};
use kalends_app::IfMatch;
use kalends_kernel::{FieldError, Version};

use crate::error::ApiError;

/// The maximum number of entity tags in the header.
const TAGS_MAX: usize = 16;

/// The version of the series of an occurrence. The grid of the console sends it, because an occurrence that was changed on
/// its own has a version of its own, which other changes of its series do not raise.
const SERIES_VERSION: &str = "x-series-version";

/// The condition in `If-Match`.
pub(crate) struct Precondition(pub IfMatch);

impl<S: Sync> FromRequestParts<S> for Precondition {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let mut tags = Vec::new();
        let mut any = true;
        for value in parts.headers.get_all(header::IF_MATCH) {
            let text = value.to_str().map_err(|_| malformed())?;
            if text.trim() == "*" {
                continue;
            }
            any = false;
            for tag in text.split(',') {
                tags.extend(parse(tag.trim())?);
            }
        }
        if tags.len() > TAGS_MAX {
            return Err(malformed());
        }
        Ok(Self(match parts.headers.get(SERIES_VERSION) {
            _ if any => IfMatch::Any,
            None => IfMatch::OneOf(tags),
            Some(series) => {
                let series = series.to_str().ok().and_then(|text| text.parse().ok()).map(Version);
                IfMatch::WithSeries { own: tags, series: series.into_iter().collect() }
            }
        }))
    }
}

/// Returns the version of one of our strong tags. Returns `None` for well-formed tags that can never match: weak tags
/// and tags that we never issued.
fn parse(tag: &str) -> Result<Option<Version>, ApiError> {
    let strong = tag.strip_prefix("W/");
    let quoted = strong.unwrap_or(tag);
    let inner = quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .filter(|inner| !inner.contains('"'))
        .ok_or_else(malformed)?;
    Ok(inner.parse().ok().filter(|_| strong.is_none()).map(Version))
}

fn malformed() -> ApiError {
    FieldError::new("If-Match", format!("must be * or at most {TAGS_MAX} quoted entity tags such as \"3\"")).into()
}
