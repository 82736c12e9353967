//! Addresses that apps on a person's own device open (RFC 8252, section 7.1).

/// The schemes of well-known editors, which are not domain names.
const EDITORS: [&str; 4] = ["cursor", "vscode", "vscode-insiders", "windsurf"];

/// The scheme of an address that an app on the person's device opens, such as `com.example.app:/callback`. It is a
/// domain name in reverse, or that of a well-known editor, in lower case. `None` for every other address, such as those
/// that browsers open or run themselves.
///
/// ```
/// use kalends_kernel::app_scheme;
///
/// assert_eq!(app_scheme("com.example.app:/callback"), Some("com.example.app"));
/// assert_eq!(app_scheme("cursor://anysphere.cursor-mcp/oauth/callback"), Some("cursor"));
/// assert_eq!(app_scheme("https://app.example.com/callback"), None);
/// assert_eq!(app_scheme("javascript:/x"), None);
/// ```
pub fn app_scheme(address: &str) -> Option<&str> {
    let (scheme, _) = address.split_once(":/")?;
    (EDITORS.contains(&scheme) || is_reverse_domain(scheme)).then_some(scheme)
}

/// The maximum length of a domain name, in bytes (RFC 1035, section 2.3.4).
const DOMAIN_MAX: usize = 253;
/// The maximum length of a label of a domain name, in bytes.
const LABEL_MAX: usize = 63;

/// Whether the text is a domain name in reverse: a top-level domain, and at least one more label. People read it on the
/// page of consent, so it is no longer than a domain name.
fn is_reverse_domain(scheme: &str) -> bool {
    let is_label = |label: &str| {
        let of_label = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let ends_well = !label.starts_with('-') && !label.ends_with('-');
        (1..=LABEL_MAX).contains(&label.len()) && ends_well && label.bytes().all(of_label)
    };
    if scheme.len() > DOMAIN_MAX {
        return false;
    }
    let Some((top, others)) = scheme.split_once('.') else { return false };
    top.len() >= 2 && top.bytes().all(|byte| byte.is_ascii_lowercase()) && others.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_is_no_longer_than_a_domain_name() {
        let accepted = |scheme: &str| app_scheme(&format!("{scheme}:/x")).is_some();
        let label = "a".repeat(LABEL_MAX);
        assert!(accepted(&format!("com.{label}")));
        assert!(!accepted(&format!("com.{label}a")));
        let three = format!("com.{label}.{label}.{label}.");
        assert!(accepted(&format!("{three}{}", "a".repeat(DOMAIN_MAX - three.len()))));
        assert!(!accepted(&format!("{three}{}", "a".repeat(DOMAIN_MAX - three.len() + 1))));
    }

    #[test]
    fn a_label_neither_begins_nor_ends_with_a_hyphen() {
        assert_eq!(app_scheme("com.my-app:/x"), Some("com.my-app"));
        assert_eq!(["com.-app:/x", "com.app-:/x", "com..app:/x"].map(app_scheme), [None; 3]);
    }
}
