//! The headers of pages and of their files.

/// What a page may load, and who may show it: its own script, style sheet and picture, nothing inline, and no frame
/// anywhere, since whoever frames a form can make a visitor press its button.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The headers of every page, in lower case. The links that cancel and move a booking are secrets, as is the slug:
/// no address is told to other sites, kept by a cache or taken up by a search engine.
///
/// Without a referrer a browser sends `Origin: null` with a form; who sent it is told by `Sec-Fetch-Site`.
pub const PAGE: [(&str, &str); 8] = [
    ("content-security-policy", CONTENT_SECURITY_POLICY),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("x-robots-tag", "noindex, nofollow"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=()"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cache-control", "private, no-store"),
    ("vary", "Accept, Accept-Language"),
];

/// The headers of every file: its name changes with its content.
pub const ASSET: [(&str, &str); 3] = [
    ("cache-control", "public, max-age=31536000, immutable"),
    ("x-content-type-options", "nosniff"),
    ("cross-origin-resource-policy", "same-origin"),
];
