//! The headers of pages and their files.

use kalends_bookings::{Colour, Origin};

use crate::accent::source;

/// A page may load only its own scripts, style sheets and images, and nothing inline. It cannot be framed: a site that
/// frames a form can trick a visitor into pressing its button.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// [`CONTENT_SECURITY_POLICY`] of a page with a colour of its own, or one that other sites may show in a frame. `None` if
/// it is that policy.
pub fn policy_of(accent: Option<Colour>, frames: &[Origin]) -> Option<String> {
    if accent.is_none() && frames.is_empty() {
        return None;
    }
    let mut policy = CONTENT_SECURITY_POLICY.to_owned();
    if let Some(accent) = accent {
        policy = policy.replace("style-src 'self'", &format!("style-src 'self' {}", source(accent)));
    }
    if !frames.is_empty() {
        let origins: Vec<&str> = frames.iter().map(Origin::as_str).collect();
        policy = policy.replace("frame-ancestors 'none'", &format!("frame-ancestors {}", origins.join(" ")));
    }
    Some(policy)
}

/// [`CONTENT_SECURITY_POLICY`] of the page that shows the preview of a booking page in a frame.
pub fn policy_with_preview() -> String {
    CONTENT_SECURITY_POLICY.replace("default-src 'none';", "default-src 'none'; frame-src 'self';")
}

/// [`CONTENT_SECURITY_POLICY`] of a preview, which only pages of this server may show in a frame.
pub fn policy_of_preview(accent: Option<Colour>) -> String {
    let policy = policy_of(accent, &[]).unwrap_or_else(|| CONTENT_SECURITY_POLICY.to_owned());
    policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
}

/// The headers of every page, and of every other text that a browser might show as a page, in lower case. A header
/// that an answer already has is not replaced.
///
/// The slug and the links that cancel or move a booking are secrets, so no address is sent to other sites as a
/// referrer. Without a referrer, a browser sends `Origin: null` with a form; `Sec-Fetch-Site` says where the form came
/// from.
pub const SAFE: [(&str, &str); 2] =
    [("content-security-policy", CONTENT_SECURITY_POLICY), ("referrer-policy", "no-referrer")];

/// The header of every answer, in lower case. It stops browsers from guessing another content type.
pub const NO_SNIFFING: (&str, &str) = ("x-content-type-options", "nosniff");

/// The headers of guest pages and console pages, in addition to [`SAFE`], in lower case: these pages are neither
/// cached nor indexed.
pub const PAGE: [(&str, &str); 5] = [
    ("x-robots-tag", "noindex, nofollow"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=()"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cache-control", "private, no-store"),
    ("vary", "Accept, Accept-Language"),
];

/// The headers of the documentation pages. The pages change with a release, so a cache must revalidate them.
pub const DOCUMENTATION: [(&str, &str); 4] = [
    ("content-security-policy", CONTENT_SECURITY_POLICY),
    ("referrer-policy", "same-origin"),
    ("cache-control", "public, no-cache"),
    ("cross-origin-opener-policy", "same-origin"),
];

/// The headers of every file. A file can be cached forever, because its name changes with its content.
pub const ASSET: [(&str, &str); 2] =
    [("cache-control", "public, max-age=31536000, immutable"), ("cross-origin-resource-policy", "same-origin")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_allows_its_own_style_and_the_sites_that_may_show_it() {
        assert_eq!(policy_of(None, &[]), None);
        let site = Origin::parse("embed_origins[0]", "https://www.example.com").unwrap();
        let policy = policy_of(Some(Colour::BLACK), &[site.clone(), site]).unwrap();
        assert!(policy.contains("style-src 'self' 'sha256-"), "{policy}");
        assert!(policy.ends_with("frame-ancestors https://www.example.com https://www.example.com"), "{policy}");
        assert!(policy.contains("form-action 'self'"), "{policy}");
        assert!(policy_of(Some(Colour::BLACK), &[]).unwrap().ends_with("frame-ancestors 'none'"));
    }

    #[test]
    fn a_preview_is_shown_by_this_server_only() {
        let editor = policy_with_preview();
        assert!(editor.starts_with("default-src 'none'; frame-src 'self'; script-src 'self';"), "{editor}");
        assert!(editor.ends_with("frame-ancestors 'none'"), "{editor}");
        for accent in [None, Some(Colour::BLACK)] {
            let policy = policy_of_preview(accent);
            assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
            assert!(policy.ends_with("frame-ancestors 'self'") && !policy.contains("frame-src"), "{policy}");
            assert_eq!(policy.contains("'sha256-"), accent.is_some());
        }
    }
}
