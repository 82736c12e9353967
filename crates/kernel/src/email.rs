//! Mail addresses, checked for syntax and normalized.

use std::fmt;

use crate::FieldError;

/// The maximum number of characters of an address. RFC 3696 erratum 1690 allows 254 in a path; this is more generous.
pub const EMAIL_MAX: usize = 320;

/// An address with a normalized domain: lower case, IDNA ASCII, without a trailing dot. The whole address is
/// lower-cased, because mailboxes ignore case in practice.
///
/// ```
/// use kalends_kernel::Email;
///
/// let email = Email::parse("email", "Ada@B\u{fc}cher.example").unwrap();
/// assert_eq!(email.as_str(), "ada@xn--bcher-kva.example");
/// assert!(Email::parse("email", "ada@localhost").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Email(String);

impl Email {
    /// Checks the syntax of a dot-atom address (RFC 5322 section 3.4.1, without comments and quotes).
    ///
    /// # Errors
    /// Names the field and the part that is wrong. [`Email`] has an example.
    pub fn parse(param: &str, text: &str) -> Result<Self, FieldError> {
        let wrong =
            |what: &str| FieldError::new(param, format!("must be an email address such as ada@example.com: {what}"));
        if text.chars().count() > EMAIL_MAX {
            return Err(FieldError::new(param, format!("must be at most {EMAIL_MAX} characters long")));
        }
        let (local, domain) = text.rsplit_once('@').ok_or_else(|| wrong("there is no @"))?;
        let atom = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+/=?^_`{|}~-.".contains(&byte);
        if local.is_empty() || local.len() > 64 || !local.bytes().all(atom) {
            return Err(wrong("the part before the @ must be 1 to 64 letters, digits or .!#$%&'*+/=?^_`{|}~-"));
        }
        if local.starts_with('.') || local.ends_with('.') || local.contains("..") {
            return Err(wrong("dots before the @ must be between other characters"));
        }
        let domain = idna::domain_to_ascii_strict(domain.strip_suffix('.').unwrap_or(domain))
            .map_err(|_| wrong("the domain is not valid"))?;
        if !domain.contains('.')
            || domain.rsplit('.').next().is_none_or(|top| top.bytes().all(|byte| byte.is_ascii_digit()))
        {
            return Err(wrong("the domain needs a name and a top level, such as example.com"));
        }
        Ok(Self(format!("{}@{domain}", local.to_ascii_lowercase())))
    }

    /// The address from a store, as [`Email::as_str`] returned it. [`Email`] has an example.
    pub const fn from_stored(address: String) -> Self {
        Self(address)
    }

    /// The normalized address.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The normalized domain.
    pub fn domain(&self) -> &str {
        self.0.rsplit_once('@').map_or("", |(_, domain)| domain)
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Email {
    /// Shows only the domain: addresses do not belong in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "…@{}", self.domain())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Ada@Example.COM", "ada@example.com")]
    #[case("ada+kalends@bücher.example", "ada+kalends@xn--bcher-kva.example")]
    #[case("a@b.co.", "a@b.co")]
    #[case("a@XN--BCHER-KVA.example", "a@xn--bcher-kva.example")]
    #[case("a@BÜCHER.EXAMPLE", "a@xn--bcher-kva.example")]
    #[case("a@example。com", "a@example.com")]
    #[case("a@ｅｘａｍｐｌｅ.com", "a@example.com")]
    fn normalizes(#[case] given: &str, #[case] kept: &str) {
        assert_eq!(Email::parse("email", given).unwrap().as_str(), kept);
    }

    #[rstest]
    #[case("")]
    #[case("ada")]
    #[case("@example.com")]
    #[case("ada@")]
    #[case("ada@localhost")]
    #[case("ada@127.0.0.1")]
    #[case("a da@example.com")]
    #[case("ada\r\nBcc: x@example.com")]
    #[case(".ada@example.com")]
    #[case("a..b@example.com")]
    #[case("ada@exa mple.com")]
    #[case("ada@-example.com")]
    #[case("ada@example.com..")]
    #[case("ada@example..com")]
    #[case("ada@xn--a.com")]
    #[case("ada\0@example.com")]
    fn refuses(#[case] given: &str) {
        assert!(Email::parse("email", given).is_err());
    }
}
