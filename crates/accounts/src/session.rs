//! Console sessions: the claims of their token, their cookie, and the requests that may use it.

use kalends_kernel::{Entropy, OrgId, SessionId, UserId};
use kalends_time::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use url::{Host, Url};

use crate::{
    Organization, Role, User,
    oauth::{ATTEMPT_LASTS, STATE_COOKIE},
};

/// How long a session lasts.
pub const SESSION_LASTS: SignedDuration = SignedDuration::hours(12);
/// The name of the session's cookie.
pub const SESSION_COOKIE: &str = "service_session";
/// The maximum length of a [`KeptToken`], in characters.
const TOKEN_MAX: usize = 256;
/// How long a [`KeptToken`] is kept.
const TOKEN_KEPT: SignedDuration = SignedDuration::hours(1);
/// How long a session of the operator lasts.
pub const OPERATOR_SESSION_LASTS: SignedDuration = SignedDuration::hours(1);
/// The name of the cookie of the operator's session.
const OPERATOR_COOKIE: &str = "service_operator";
/// The path at and below which the operator's pages are.
const OPERATOR_PAGES: &str = "/console/operator";
/// The issuer in tokens. A token that another service signed with the same key is not accepted.
pub const SESSION_ISSUER: &str = "kalends";

/// A session as stored: the row for the token's `jti`. A session without a row is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// The identifier: the token's `jti`.
    pub id: SessionId,
    /// The user who signed in.
    pub user: UserId,
    /// The organization that the session is switched to; `None` if the user owns none.
    pub org: Option<OrgId>,
    /// When the user signed in.
    pub created_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
}

/// What a session opens, read at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedIn {
    /// The session.
    pub session: Session,
    /// Its user.
    pub user: User,
    /// The organization that the user works in ([`crate::active_membership`]).
    pub organization: Organization,
    /// The user's role there.
    pub role: Role,
}

/// The token's JWT claims.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionClaims {
    /// [`SESSION_ISSUER`].
    pub iss: String,
    /// The user.
    pub sub: String,
    /// The session.
    pub jti: String,
    /// When it was issued, in Unix seconds.
    pub iat: i64,
    /// When it expires, in Unix seconds.
    pub exp: i64,
}

impl Session {
    /// A new session.
    pub fn begin(user: UserId, org: Option<OrgId>, now: Timestamp, entropy: &dyn Entropy) -> Self {
        Self {
            id: SessionId::new(now, entropy),
            user,
            org,
            created_at: now,
            expires_at: now + SESSION_LASTS,
            revoked_at: None,
        }
    }

    /// The claims of its token. They contain no secret. The holder of the signing key signs the token.
    pub fn claims(&self) -> SessionClaims {
        SessionClaims {
            iss: SESSION_ISSUER.to_owned(),
            sub: self.user.to_string(),
            jti: self.id.to_string(),
            iat: self.created_at.as_unix_seconds(),
            exp: self.expires_at.as_unix_seconds(),
        }
    }

    /// Whether the session is in force and belongs to the user in its token.
    pub fn holds(&self, user: UserId, now: Timestamp) -> bool {
        self.user == user && self.revoked_at.is_none() && now < self.expires_at
    }

    /// The session, ended. A session that has already ended keeps its time.
    #[must_use]
    pub fn ended(&self, now: Timestamp) -> Self {
        Self { revoked_at: self.revoked_at.or(Some(now)), ..*self }
    }
}

impl SessionClaims {
    /// The session and the user of a token with a valid signature; `None` if the token has expired, is from another
    /// issuer, or has other invalid claims. The session's row still has to be checked ([`Session::holds`]).
    pub fn check(&self, now: Timestamp) -> Option<(SessionId, UserId)> {
        let seconds = now.as_unix_seconds();
        // A node whose clock is slightly behind the issuer's still accepts the token.
        let issued = self.iat <= seconds.saturating_add(60);
        let lasts = self.exp.checked_sub(self.iat).is_some_and(|lasts| lasts <= SESSION_LASTS.as_seconds() + 1);
        let holds = self.iss == SESSION_ISSUER && issued && lasts && seconds < self.exp;
        holds.then_some(())?;
        Some((self.jti.parse().ok()?, self.sub.parse().ok()?))
    }
}

/// The reason for ending sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEnd {
    /// Signing out of one session.
    SignOut(SessionId),
    /// A change of what a sign-in needs, such as the password: all of the user's sessions end, except `keep`. Emailed
    /// tokens that set a password are void too.
    PasswordChange {
        /// The user.
        user: UserId,
        /// The session that stays; `None` if none does.
        keep: Option<SessionId>,
    },
    /// The deletion of the account.
    AccountDeletion(UserId),
}

impl SessionEnd {
    /// Whether it ends the session.
    pub fn ends(self, session: &Session) -> bool {
        match self {
            Self::SignOut(id) => session.id == id,
            Self::PasswordChange { user, keep } => session.user == user && keep != Some(session.id),
            Self::AccountDeletion(user) => session.user == user,
        }
    }
}

/// The token of a link, which a cookie keeps for the pages of the console while its holder signs in or up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptToken {
    /// The token of an invitation.
    Invitation,
    /// The token of a connection link.
    ConnectionLink,
}

impl KeptToken {
    /// The name of its cookie.
    const fn cookie(self) -> &'static str {
        match self {
            Self::Invitation => "service_invitation",
            Self::ConnectionLink => "service_connection_link",
        }
    }
}

/// How the cookies are written: with `Secure`, unless the server is reached over plain http on a loopback address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionCookies {
    secure: bool,
}

impl SessionCookies {
    /// The cookies of a server that is reached at `base_url`.
    pub fn of(base_url: &str) -> Self {
        Self { secure: !Url::parse(base_url).is_ok_and(|url| is_on_this_machine(&url)) }
    }

    /// `Set-Cookie` for a session with that token.
    pub fn set(self, token: &str) -> String {
        self.line(SESSION_COOKIE, token, SESSION_LASTS)
    }

    /// `Set-Cookie` that removes the cookie.
    pub fn clear(self) -> String {
        self.line(SESSION_COOKIE, "", SignedDuration::ZERO)
    }

    /// `Set-Cookie` that binds an attempt to sign in with a provider to the browser.
    pub fn set_state(self, state: &str) -> String {
        self.line(STATE_COOKIE, state, ATTEMPT_LASTS)
    }

    /// `Set-Cookie` that removes the cookie of [`Self::set_state`].
    pub fn clear_state(self) -> String {
        self.line(STATE_COOKIE, "", SignedDuration::ZERO)
    }

    /// `Set-Cookie` that keeps a token for the pages of the console. `None` if the text is no token: it is longer than
    /// 256 characters, or has others than base64url.
    pub fn keep(self, kept: KeptToken, token: &str) -> Option<String> {
        let fits = (1..=TOKEN_MAX).contains(&token.len());
        let plain = token.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        (fits && plain).then(|| self.line_at("/console", kept.cookie(), token, TOKEN_KEPT))
    }

    /// `Set-Cookie` that removes the cookie of [`Self::keep`].
    pub fn forget(self, kept: KeptToken) -> String {
        self.line_at("/console", kept.cookie(), "", SignedDuration::ZERO)
    }

    /// `Set-Cookie` for a session of the operator, whose cookie has that value. No other site can send it, not even with a
    /// link.
    pub fn set_operator(self, value: &str) -> String {
        self.strict_line(value, OPERATOR_SESSION_LASTS)
    }

    /// `Set-Cookie` that removes the cookie of [`Self::set_operator`].
    pub fn clear_operator(self) -> String {
        self.strict_line("", SignedDuration::ZERO)
    }

    fn strict_line(self, value: &str, lasts: SignedDuration) -> String {
        format!("{}; SameSite=Strict", self.begin_line(OPERATOR_PAGES, OPERATOR_COOKIE, value, lasts))
    }

    fn line(self, name: &str, value: &str, lasts: SignedDuration) -> String {
        self.line_at("/", name, value, lasts)
    }

    fn line_at(self, path: &str, name: &str, value: &str, lasts: SignedDuration) -> String {
        format!("{}; SameSite=Lax", self.begin_line(path, name, value, lasts))
    }

    fn begin_line(self, path: &str, name: &str, value: &str, lasts: SignedDuration) -> String {
        let (secure, seconds) = (if self.secure { "; Secure" } else { "" }, lasts.as_seconds());
        format!("{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly{secure}")
    }
}

/// The token in the values of `Cookie` headers; `None` if there is none, or if there are several that differ.
pub fn session_token<'a>(cookies: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    cookie_of(SESSION_COOKIE, cookies)
}

/// The state of an attempt to sign in with a provider, read in the same way.
pub fn state_cookie<'a>(cookies: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    cookie_of(STATE_COOKIE, cookies)
}

/// The value of the cookie of the operator's session, read in the same way.
pub fn operator_cookie<'a>(cookies: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    cookie_of(OPERATOR_COOKIE, cookies)
}

/// A token that the pages of the console keep, read in the same way.
pub fn kept_token<'a>(kept: KeptToken, cookies: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    cookie_of(kept.cookie(), cookies)
}

fn cookie_of<'a>(name: &str, cookies: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let pairs = cookies.into_iter().flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut values = pairs.filter(|(other, _)| *other == name).map(|(_, value)| value);
    let first = values.next().filter(|value| !value.is_empty())?;
    // A neighbouring host may have planted a second one, and the order of cookies cannot be trusted.
    values.all(|value| value == first).then_some(first)
}

/// The headers in which a browser states the origin of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Provenance<'a> {
    /// The value of `Origin`.
    pub origin: Option<&'a str>,
    /// The value of `Sec-Fetch-Site`.
    pub sec_fetch_site: Option<&'a str>,
}

/// A write with the cookie's authority that does not come from the console itself: 403 `forbidden`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a request with the session cookie must come from the console itself (a same-origin Origin or Sec-Fetch-Site)")]
pub struct CrossSite;

/// Checks whether a request may use the authority of the session cookie. Reads may. A write needs an `Origin` of this
/// server or `Sec-Fetch-Site: same-origin`, and neither header may say otherwise. Do not call this for a session in a
/// Bearer token, which no other site can send.
///
/// `own` has the origins of the server and its console; see [`origin_of`].
///
/// # Errors
/// [`CrossSite`].
pub fn check_provenance(writes: bool, provenance: Provenance<'_>, own: &[String]) -> Result<(), CrossSite> {
    if !writes {
        return Ok(());
    }
    let origin = provenance.origin.map(|origin| own.iter().any(|own| own == origin));
    let site = provenance.sec_fetch_site.map(|site| site == "same-origin");
    match (origin, site) {
        (Some(true), Some(true) | None) | (None, Some(true)) => Ok(()),
        (Some(false), _) | (_, Some(false)) | (None, None) => Err(CrossSite),
    }
}

/// Checks whether a sign-in or sign-up, which has no session yet, may come from that origin. It is refused only if a
/// browser states another origin. A client that is not a browser states nothing.
///
/// # Errors
/// [`CrossSite`], so that a page cannot sign its visitor in to another person's account.
pub fn check_anonymous(provenance: Provenance<'_>, own: &[String]) -> Result<(), CrossSite> {
    let origin = provenance.origin.is_none_or(|origin| own.iter().any(|own| own == origin));
    let site = provenance.sec_fetch_site.is_none_or(|site| site == "same-origin");
    if origin && site { Ok(()) } else { Err(CrossSite) }
}

/// The origin of a URL as browsers write it: lower case, without a default port. `None` if it has none.
pub fn origin_of(url: &str) -> Option<String> {
    let origin = Url::parse(url).ok()?.origin();
    origin.is_tuple().then(|| origin.ascii_serialization())
}

/// The origins of a server that is reached at `url`. One that is reached over plain http on a loopback address has the
/// other usual names of that address too: people open either, and no other server can have them.
pub fn origins_of(url: &str) -> Vec<String> {
    let mut origins: Vec<_> = origin_of(url).into_iter().collect();
    if let Ok(mut url) = Url::parse(url)
        && is_on_this_machine(&url)
    {
        for host in ["localhost", "127.0.0.1", "[::1]"] {
            if url.set_host(Some(host)).is_ok() {
                origins.extend(origin_of(url.as_str()).filter(|origin| !origins.contains(origin)));
            }
        }
    }
    origins
}

/// Whether it is plain http on a loopback address.
fn is_on_this_machine(url: &Url) -> bool {
    url.scheme() == "http"
        && match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    struct Bytes(u8);
    impl Entropy for Bytes {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_500_000);
    const ADA: UserId = UserId::from_bytes([1; 16]);
    const BOB: UserId = UserId::from_bytes([2; 16]);

    fn session(number: u8, user: UserId) -> Session {
        Session::begin(user, None, NOW, &Bytes(number))
    }

    #[test]
    fn a_session_lasts_half_a_day() {
        let session = session(1, ADA);
        let claims = session.claims();
        assert_eq!(claims.exp - claims.iat, 12 * 3_600);
        for (at, holds) in [(0, true), (12 * 3_600 - 1, true), (12 * 3_600, false)] {
            let at = NOW + SignedDuration::seconds(at);
            assert_eq!(session.holds(ADA, at), holds);
            assert_eq!(claims.check(at).is_some(), holds);
        }
        assert_eq!(claims.check(NOW), Some((session.id, ADA)));
        assert!(!session.holds(BOB, NOW));
        let ended = session.ended(NOW);
        assert!(!ended.holds(ADA, NOW));
        assert_eq!(ended.ended(NOW + SESSION_LASTS), ended, "it keeps its first time");
    }

    #[rstest]
    #[case::another_issuer(|claims: &mut SessionClaims| claims.iss = "other".to_owned())]
    #[case::no_issuer(|claims: &mut SessionClaims| claims.iss.clear())]
    #[case::of_the_future(|claims: &mut SessionClaims| { claims.iat += 61; claims.exp += 61; })]
    #[case::too_long(|claims: &mut SessionClaims| claims.exp += 2)]
    #[case::without_end(|claims: &mut SessionClaims| claims.exp = i64::MAX)]
    #[case::a_beginning_that_overflows(|claims: &mut SessionClaims| claims.iat = i64::MIN)]
    #[case::a_key_as_session(|claims: &mut SessionClaims| claims.jti = claims.sub.clone())]
    #[case::no_human(|claims: &mut SessionClaims| claims.sub = "ada".to_owned())]
    fn invalid_claims_are_refused(#[case] spoil: fn(&mut SessionClaims)) {
        let mut claims = session(1, ADA).claims();
        assert!(claims.check(NOW).is_some());
        spoil(&mut claims);
        assert_eq!(claims.check(NOW), None);
    }

    #[test]
    fn each_reason_ends_its_sessions() {
        let (here, there, other) = (session(1, ADA), session(2, ADA), session(3, BOB));
        let ended = |end: SessionEnd| [&here, &there, &other].map(|session| end.ends(session));
        assert_eq!(ended(SessionEnd::SignOut(here.id)), [true, false, false]);
        assert_eq!(ended(SessionEnd::PasswordChange { user: ADA, keep: Some(here.id) }), [false, true, false]);
        assert_eq!(ended(SessionEnd::PasswordChange { user: ADA, keep: None }), [true, true, false]);
        assert_eq!(ended(SessionEnd::AccountDeletion(ADA)), [true, true, false]);
    }

    #[rstest]
    #[case("https://calendar.example.com", true)]
    #[case("http://calendar.example.com", true)]
    #[case("http://127.0.0.1:8080", false)]
    #[case("http://127.9.9.9", false)]
    #[case("http://[::1]:8080", false)]
    #[case("http://localhost:8080", false)]
    #[case("https://localhost:8080", true)]
    #[case("http://localhost.example.com", true)]
    #[case("http://10.0.0.1", true)]
    #[case("nonsense", true)]
    fn cookies_are_secure_except_on_localhost(#[case] base_url: &str, #[case] secure: bool) {
        let cookies = SessionCookies::of(base_url);
        let flags = if secure { "HttpOnly; Secure; SameSite=Lax" } else { "HttpOnly; SameSite=Lax" };
        assert_eq!(cookies.set("a.b.c"), format!("service_session=a.b.c; Path=/; Max-Age=43200; {flags}"));
        assert_eq!(cookies.clear(), format!("service_session=; Path=/; Max-Age=0; {flags}"));
        let strict = flags.replace("Lax", "Strict");
        let operator = format!("service_operator=1.x; Path=/console/operator; Max-Age=3600; {strict}");
        assert_eq!(cookies.set_operator("1.x"), operator);
        let removed = format!("service_operator=; Path=/console/operator; Max-Age=0; {strict}");
        assert_eq!(cookies.clear_operator(), removed);
        for (kept, name) in
            [(KeptToken::Invitation, "service_invitation"), (KeptToken::ConnectionLink, "service_connection_link")]
        {
            let line = format!("{name}=a-B_9; Path=/console; Max-Age=3600; {flags}");
            assert_eq!(cookies.keep(kept, "a-B_9"), Some(line));
            assert_eq!(cookies.forget(kept), format!("{name}=; Path=/console; Max-Age=0; {flags}"));
            for text in ["", "a b", "a;b", "a=b", "a\r\nx: y", "\u{e9}", &"a".repeat(257)] {
                assert_eq!(cookies.keep(kept, text), None, "{text}");
            }
        }
    }

    #[rstest]
    #[case(&[], None)]
    #[case(&["service_session=a.b.c"], Some("a.b.c"))]
    #[case(&["x=1; service_session=a.b.c; y=2"], Some("a.b.c"))]
    #[case(&["x=1", "service_session=a.b.c"], Some("a.b.c"))]
    #[case(&["service_session="], None)]
    #[case(&["xservice_session=a"], None)]
    #[case(&["Service_Session=a"], None)]
    #[case(&["service_session=a; service_session=b"], None)]
    #[case(&["service_session=a", "service_session=b"], None)]
    #[case(&["service_session=a; service_session=a"], Some("a"))]
    fn the_token_is_read_from_cookies(#[case] cookies: &[&str], #[case] token: Option<&str>) {
        assert_eq!(session_token(cookies.iter().copied()), token);
    }

    #[rstest]
    #[case::both(Some("https://a.example"), Some("same-origin"), true)]
    #[case::origin_alone(Some("https://a.example"), None, true)]
    #[case::the_console_s_own(Some("https://console.a.example"), None, true)]
    #[case::site_alone(None, Some("same-origin"), true)]
    #[case::neither(None, None, false)]
    #[case::another_origin(Some("https://b.example"), None, false)]
    #[case::another_scheme(Some("http://a.example"), None, false)]
    #[case::another_port(Some("https://a.example:8443"), None, false)]
    #[case::a_longer_name(Some("https://a.example.b.example"), None, false)]
    #[case::a_prefix(Some("https://a.exampl"), None, false)]
    #[case::null(Some("null"), None, false)]
    #[case::empty(Some(""), None, false)]
    #[case::two(Some("https://a.example, https://b.example"), None, false)]
    #[case::a_slash(Some("https://a.example/"), None, false)]
    #[case::cross_site(None, Some("cross-site"), false)]
    #[case::same_site(None, Some("same-site"), false)]
    #[case::typed(None, Some("none"), false)]
    #[case::another_case(None, Some("Same-Origin"), false)]
    #[case::they_disagree(Some("https://a.example"), Some("cross-site"), false)]
    #[case::they_disagree_the_other_way(Some("https://b.example"), Some("same-origin"), false)]
    fn writes_must_come_from_the_console(
        #[case] origin: Option<&str>,
        #[case] sec_fetch_site: Option<&str>,
        #[case] allowed: bool,
    ) {
        let own: Vec<_> =
            ["https://A.example:443/x", "https://console.a.example"].into_iter().filter_map(origin_of).collect();
        let provenance = Provenance { origin, sec_fetch_site };
        assert_eq!(check_provenance(true, provenance, &own).is_ok(), allowed);
        assert_eq!(check_provenance(false, provenance, &own), Ok(()), "reads change nothing");
        assert_eq!(check_provenance(true, provenance, &[]).is_ok(), origin.is_none() && allowed);
        let silent = origin.is_none() && sec_fetch_site.is_none();
        assert_eq!(check_anonymous(provenance, &own).is_ok(), allowed || silent);
    }

    #[rstest]
    #[case("http://127.0.0.1:8080/console", Some("http://127.0.0.1:8080"))]
    #[case("https://[::1]:443", Some("https://[::1]"))]
    #[case("data:text/plain,x", None)]
    #[case("nonsense", None)]
    fn origins_are_normalized(#[case] url: &str, #[case] origin: Option<&str>) {
        assert_eq!(origin_of(url).as_deref(), origin);
    }

    #[test]
    fn a_server_on_this_machine_has_several_names() {
        let names = ["http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080"].map(str::to_owned);
        assert_eq!(origins_of("http://127.0.0.1:8080"), names);
        assert_eq!(origins_of("http://localhost:8080/console").len(), 3);
        for url in ["https://localhost:8080", "http://10.0.0.1:8080", "https://calendar.example.com"] {
            assert_eq!(origins_of(url), [url]);
        }
        assert_eq!(origins_of("nonsense"), Vec::<String>::new());
    }

    proptest! {
        /// A request with the session's cookie is refused from every origin but our own.
        #[test]
        fn no_other_origin_passes(origin in "\\PC{0,40}") {
            let own = ["https://a.example".to_owned()];
            prop_assume!(origin != own[0]);
            let provenance = Provenance { origin: Some(&origin), sec_fetch_site: Some("same-origin") };
            prop_assert_eq!(check_provenance(true, provenance, &own), Err(CrossSite));
        }
    }
}
