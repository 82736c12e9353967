//! The headers of pages and of their files.

/// What a page may load, and who may show it: its own script, style sheet and picture, nothing inline, and no frame
/// anywhere, since whoever frames a form can make a visitor press its button.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What the documentation's page may load. Its scripts are files like those of every page. It shows pictures that its style
/// sheet holds as `data:` addresses. The hash is that of the one style sheet which it writes into the page: the colours of its
/// logo, which would be black on black without.
const DOCUMENTATION_POLICY: &str = "default-src 'none'; script-src 'self'; \
     style-src 'self' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The headers that no page, and no other text that a browser might show as one, goes without; in lower case. An answer
/// that has one of them already keeps its own.
///
/// The links that cancel and move a booking are secrets, as is the slug: no address is told to other sites. Without a
/// referrer a browser sends `Origin: null` with a form; who sent it is told by `Sec-Fetch-Site`.
pub const SAFE: [(&str, &str); 2] =
    [("content-security-policy", CONTENT_SECURITY_POLICY), ("referrer-policy", "no-referrer")];

/// What every answer of the service carries, in lower case: a browser takes it for nothing but what it is declared as.
pub const NO_SNIFFING: (&str, &str) = ("x-content-type-options", "nosniff");

/// The headers of the pages of guests and of the console besides [`SAFE`], in lower case: none is kept by a cache or taken
/// up by a search engine.
pub const PAGE: [(&str, &str); 5] = [
    ("x-robots-tag", "noindex, nofollow"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=()"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cache-control", "private, no-store"),
    ("vary", "Accept, Accept-Language"),
];

/// The headers of the documentation's page and of its files.
pub const DOCUMENTATION: [(&str, &str); 4] = [
    ("content-security-policy", DOCUMENTATION_POLICY),
    ("referrer-policy", "same-origin"),
    ("cache-control", "public, no-cache"),
    ("cross-origin-opener-policy", "same-origin"),
];

/// The headers of every file: its name changes with its content.
pub const ASSET: [(&str, &str); 2] =
    [("cache-control", "public, max-age=31536000, immutable"), ("cross-origin-resource-policy", "same-origin")];
