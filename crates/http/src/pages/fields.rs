//! The fields of a form, as a browser sends them.

use kalends_kernel::FieldError;
use url::form_urlencoded;

use crate::error::ApiError;

/// Begins the name of a hidden field with what a form showed in the field of that name.
pub(crate) const WAS: &str = "was_";

/// The maximum number of fields of a form. Every page has far fewer.
const FIELDS_MAX: usize = 2_000;

/// The fields of a form.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// [`Fields::read`], for the body of a form that has an effect.
    ///
    /// # Errors
    /// [`kalends_app::Refusal::Invalid`] for more than [`FIELDS_MAX`] fields. A part of them must have no effect.
    pub(crate) fn of_form(body: &[u8]) -> Result<Self, ApiError> {
        if form_urlencoded::parse(body).nth(FIELDS_MAX).is_some() {
            return Err(FieldError::new("body", format!("must have at most {FIELDS_MAX} fields")).into());
        }
        Ok(Self::read(body))
    }

    /// Parses the fields of a body. Invalid text is decoded as well as possible. A browser sends every line break as two
    /// characters, which become one again.
    pub(crate) fn read(body: &[u8]) -> Self {
        form_urlencoded::parse(body).map(|(name, value)| (name.into_owned(), value)).collect()
    }

    /// The fields `name[key]`, each with its key, in their order.
    pub(crate) fn within(&self, name: &str) -> impl Iterator<Item = (String, String)> {
        self.0.iter().filter_map(move |(field, value)| {
            let key = field.strip_prefix(name)?.strip_prefix('[')?.strip_suffix(']')?;
            Some((key.to_owned(), value.clone()))
        })
    }

    /// All values of a field, in their order.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// The names and values of all fields, in their order.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether a field was typed over: it differs from what its page showed, which its hidden fields `was_NAME`
    /// contain. Blank values count as left out.
    pub(crate) fn is_typed_over(&self, name: &str) -> bool {
        let values =
            |name: &str| -> Vec<&str> { self.all(name).map(str::trim).filter(|value| !value.is_empty()).collect() };
        values(name) != values(&format!("{WAS}{name}"))
    }

    /// The first value of a field, or an empty string if it was left out.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }
}

/// The fields with these names and values, as a browser sends them.
impl<V: AsRef<str>> FromIterator<(String, V)> for Fields {
    fn from_iter<I: IntoIterator<Item = (String, V)>>(sent: I) -> Self {
        Self(sent.into_iter().map(|(name, value)| (name, value.as_ref().replace("\r\n", "\n"))).collect())
    }
}

/// A text as a field of one line sends it back: browsers leave line breaks out.
pub(crate) fn line(text: &str) -> String {
    text.replace(['\r', '\n'], "").trim().to_owned()
}

/// A text as a field of several lines sends it back: browsers know only one kind of line break.
pub(crate) fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use kalends_app::Refusal;

    use super::*;

    #[test]
    fn a_form_with_too_many_fields_is_refused_as_a_whole() {
        assert!(Fields::of_form("a=1&".repeat(FIELDS_MAX).as_bytes()).is_ok());
        let refused = Fields::of_form("a=1&".repeat(FIELDS_MAX + 1).as_bytes());
        assert!(matches!(refused, Err(ApiError::Refused(Refusal::Invalid(_)))));
    }
}
