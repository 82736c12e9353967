//! Limits on email to people outside an organization.

/// The limits on third-party email per hour, from `KALENDS_MAIL_LIMITS`. Emails about sign-in and security are not
/// counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailLimits {
    /// The maximum number of emails from one organization; `None` is unlimited.
    pub org: Option<u32>,
    /// The maximum number of emails to one recipient, from all organizations together; `None` is unlimited.
    pub recipient: Option<u32>,
}

/// Why a text is not a list of limits. The messages follow the name of the setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MailLimitsError {
    /// An entry without `=`.
    #[error("must be default, off, or a list such as org=200,recipient=5; {0:?} is not valid")]
    Form(String),
    /// A name other than the two.
    #[error("has no limit named {0:?}; the names are org and recipient")]
    Unknown(String),
    /// A number out of bounds.
    #[error("must give {name} as 1 to {max} emails per hour, or off; got {got:?}", max = MailLimits::MAX)]
    Number {
        /// The name of the limit.
        name: &'static str,
        /// The value that was given.
        got: String,
    },
    /// One name given twice.
    #[error("names {0} twice")]
    Twice(&'static str),
}

impl Default for MailLimits {
    fn default() -> Self {
        Self { org: Some(200), recipient: Some(5) }
    }
}

impl MailLimits {
    /// The highest limit. For more, use `off`.
    pub const MAX: u32 = 1_000_000;
    /// No limits at all.
    pub const OFF: Self = Self { org: None, recipient: None };

    /// Reads `default`, `off`, or a list such as `org=1000,recipient=off`. A limit that the list does not name keeps
    /// its default.
    ///
    /// # Errors
    /// [`MailLimitsError`] names the entry and what is allowed.
    pub fn parse(text: &str) -> Result<Self, MailLimitsError> {
        match text.trim() {
            "default" => return Ok(Self::default()),
            "off" => return Ok(Self::OFF),
            _ => {}
        }
        let (mut org, mut recipient) = (None, None);
        for entry in text.split(',').map(str::trim) {
            let (name, value) = entry.split_once('=').ok_or_else(|| MailLimitsError::Form(excerpt(entry)))?;
            let (name, limit) = match name.trim() {
                "org" => ("org", &mut org),
                "recipient" => ("recipient", &mut recipient),
                other => return Err(MailLimitsError::Unknown(excerpt(other))),
            };
            if limit.is_some() {
                return Err(MailLimitsError::Twice(name));
            }
            let value = value.trim();
            let number = value.parse().ok().filter(|number| (1..=Self::MAX).contains(number));
            *limit = match (value, number) {
                ("off", _) => Some(None),
                (_, Some(number)) => Some(Some(number)),
                (_, None) => return Err(MailLimitsError::Number { name, got: excerpt(value) }),
            };
        }
        let default = Self::default();
        Ok(Self { org: org.unwrap_or(default.org), recipient: recipient.unwrap_or(default.recipient) })
    }
}

fn excerpt(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("default", Some(200), Some(5))]
    #[case("org=200,recipient=5", Some(200), Some(5))]
    #[case("off", None, None)]
    #[case("org=1000", Some(1000), Some(5))]
    #[case(" recipient = off ", Some(200), None)]
    #[case("recipient=9,org=off", None, Some(9))]
    fn a_list_changes_only_the_limits_it_names(
        #[case] text: &str,
        #[case] org: Option<u32>,
        #[case] recipient: Option<u32>,
    ) {
        assert_eq!(MailLimits::parse(text), Ok(MailLimits { org, recipient }));
    }

    #[rstest]
    #[case("", "is not valid")]
    #[case("org", "\"org\" is not valid")]
    #[case("orgs=1", "no limit named \"orgs\"")]
    #[case("org=0", "org as 1 to 1000000 emails per hour")]
    #[case("recipient=-1", "recipient as 1 to")]
    #[case("org=1,org=2", "names org twice")]
    fn errors_name_the_entry(#[case] text: &str, #[case] part: &str) {
        let message = MailLimits::parse(text).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}
