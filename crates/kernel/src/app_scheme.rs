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

/// Whether the text is a domain name in reverse: a top-level domain, and at least one more label.
fn is_reverse_domain(scheme: &str) -> bool {
    let is_label = |label: &str| {
        let of_label = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty() && label.bytes().all(of_label)
    };
    let Some((top, others)) = scheme.split_once('.') else { return false };
    top.len() >= 2 && top.bytes().all(|byte| byte.is_ascii_lowercase()) && others.split('.').all(is_label)
}
