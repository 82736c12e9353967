//! Where the providers are asked unless the operator says otherwise.

/// Where Google is asked to forget a consent
/// (<https://developers.google.com/identity/protocols/oauth2/web-server#tokenrevoke>).
pub const GOOGLE_REVOKE_URL: &str = "https://oauth2.googleapis.com/revoke";
/// The base of Google's calendar API (<https://developers.google.com/workspace/calendar/api/v3/reference>).
pub const GOOGLE_API_URL: &str = "https://www.googleapis.com/calendar/v3";
/// The base of Microsoft's API (<https://learn.microsoft.com/graph/api/resources/calendar>).
pub const MICROSOFT_API_URL: &str = "https://graph.microsoft.com/v1.0";

#[cfg(test)]
mod tests {
    use kalends_kernel::RemoteUrl;

    use super::*;

    #[test]
    fn each_may_be_reached() {
        for url in [GOOGLE_REVOKE_URL, GOOGLE_API_URL, MICROSOFT_API_URL] {
            assert_eq!(RemoteUrl::parse("url", url, |_, _| false).unwrap().as_str(), url);
        }
    }
}
