//! The default addresses of the providers.

/// Google's token revocation endpoint
/// (<https://developers.google.com/identity/protocols/oauth2/web-server#tokenrevoke>).
pub const GOOGLE_REVOKE_URL: &str = "https://oauth2.googleapis.com/revoke";
/// The base URL of Google's calendar API (<https://developers.google.com/workspace/calendar/api/v3/reference>).
pub const GOOGLE_API_URL: &str = "https://www.googleapis.com/calendar/v3";
/// The base URL of Microsoft Graph (<https://learn.microsoft.com/graph/api/resources/calendar>).
pub const MICROSOFT_API_URL: &str = "https://graph.microsoft.com/v1.0";

#[cfg(test)]
mod tests {
    use kalends_remote::RemoteUrl;

    use super::*;

    #[test]
    fn the_defaults_are_public_addresses() {
        for url in [GOOGLE_REVOKE_URL, GOOGLE_API_URL, MICROSOFT_API_URL] {
            assert_eq!(RemoteUrl::parse("url", url, |_, _| false).unwrap().as_str(), url);
        }
    }
}
