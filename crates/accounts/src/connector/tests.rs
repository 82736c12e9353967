//! Registrations, redirect addresses, codes and tokens of connectors.

use proptest::prelude::*;
use rstest::rstest;

use super::*;

/// The verifier and the challenge of RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

const REDIRECT: &str = "https://client.example/callback";

struct Bytes(u8);
impl Entropy for Bytes {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(self.0);
    }
}

fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros)
}

fn client_id(number: u8) -> ConnectorClientId {
    ConnectorClientId::from_bytes([number; 16])
}

fn registered(name: Option<&str>, redirects: &[&str]) -> Result<ConnectorClient, FieldErrors> {
    let redirects = redirects.iter().map(|redirect| (*redirect).to_owned()).collect();
    ConnectorClient::register(client_id(1), name, redirects, at(5))
}

/// The fields that are wrong.
fn wrong(name: Option<&str>, redirects: &[&str]) -> Vec<String> {
    let errors = registered(name, redirects).err();
    errors.iter().flat_map(FieldErrors::iter).map(|error| error.param.clone()).collect()
}

fn code() -> AuthorizationCode {
    AuthorizationCode {
        hash: TokenHash::of("code"),
        client: client_id(1),
        redirect: REDIRECT.to_owned(),
        challenge: challenge_of(CHALLENGE).unwrap(),
        org: OrgId::from_bytes([1; 16]),
        agent: AgentId::from_bytes([1; 16]),
        scopes: Scopes::NONE,
        user: UserId::from_bytes([1; 16]),
        expires_at: at(10),
        key: None,
    }
}

#[test]
fn a_client_registers_with_its_name_and_addresses() {
    let client = registered(Some("  Desk assistant "), &[REDIRECT, "http://localhost/"]).unwrap();
    assert_eq!((client.id, client.name.as_str()), (client_id(1), "Desk assistant"));
    assert_eq!(client.redirects, [REDIRECT, "http://localhost/"]);
    assert_eq!((client.created_at, client.used_at), (at(5), at(5)));
    assert_eq!(registered(None, &[REDIRECT]).unwrap().name, "");
}

#[rstest]
#[case::longest(&"é".repeat(100), true)]
#[case::too_long(&"é".repeat(101), false)]
#[case::empty("", true)]
#[case::nul("a\0b", false)]
#[case::line_break("a\nb", false)]
#[case::direction("a\u{202e}b", false)]
#[case::arabic_letter_mark("a\u{61c}b", false)]
#[case::zero_width_space("a\u{200b}b", false)]
#[case::zero_width_joiner("a\u{200d}b", false)]
#[case::word_joiner("a\u{2060}b", false)]
#[case::byte_order_mark("a\u{feff}b", false)]
#[case::emoji("Kalends \u{1f4c5}", true)]
fn names_are_bounded(#[case] name: &str, #[case] fits: bool) {
    assert_eq!(wrong(Some(name), &[REDIRECT]).is_empty(), fits);
}

#[test]
fn every_wrong_field_is_named() {
    assert_eq!(
        wrong(Some("a\0"), &[REDIRECT, "/a", REDIRECT, "b"]),
        ["client_name", "redirect_uris[1]", "redirect_uris[3]"]
    );
    assert_eq!(wrong(None, &[]), ["redirect_uris"]);
    assert!(wrong(None, &[REDIRECT; REDIRECTS_MAX]).is_empty());
    assert_eq!(wrong(None, &[REDIRECT; REDIRECTS_MAX + 1]), ["redirect_uris"]);
}

#[rstest]
#[case::https(REDIRECT, true)]
#[case::port_and_query("https://client.example:8443/callback?for=kalends%20app", true)]
#[case::no_path("https://client.example", true)]
#[case::ipv4("http://127.0.0.1:8123/callback", true)]
#[case::ipv6("http://[::1]:8123/callback", true)]
#[case::localhost("http://localhost:8123/callback", true)]
#[case::without_a_port("http://localhost/callback", true)]
#[case::https_on_loopback("https://localhost:8123/", true)]
#[case::plain_http("http://client.example/callback", false)]
#[case::looks_like_loopback("http://localhost.example/callback", false)]
#[case::loopback_as_user("http://127.0.0.1@client.example/", false)]
#[case::another_loopback("http://127.1/callback", false)]
#[case::upper_case("HTTPS://client.example/callback", false)]
#[case::app("com.example.client:/callback", true)]
#[case::app_with_a_host("com.example.client://oauth/callback?for=kalends", true)]
#[case::app_with_digits("com.example.apps.123-x:/callback", true)]
#[case::cursor("cursor://anysphere.cursor-mcp/oauth/callback", true)]
#[case::vscode("vscode://publisher.extension/callback", true)]
#[case::vscode_insiders("vscode-insiders://publisher.extension/callback", true)]
#[case::windsurf("windsurf://callback", true)]
#[case::another_scheme("client://callback/", false)]
#[case::looks_like_an_editor("cursors://callback/", false)]
#[case::editor_in_upper_case("Cursor://callback/", false)]
#[case::app_in_upper_case("com.Example.client:/callback", false)]
#[case::app_without_a_slash("com.example.client:callback", false)]
#[case::app_without_a_name("com.:/callback", false)]
#[case::app_with_an_empty_label("com..client:/callback", false)]
#[case::app_without_a_top_level(".example:/callback", false)]
#[case::short_top_level("x.example:/callback", false)]
#[case::no_top_level("x-vendor.settings:/callback", false)]
#[case::app_with_a_fragment("com.example.client:/callback#a", false)]
#[case::app_with_a_user("cursor://ada@callback/", false)]
#[case::app_with_an_empty_user("cursor://@callback/", false)]
#[case::app_with_a_password("com.example.client://ada:secret@callback/", false)]
#[case::app_with_a_bad_port("cursor://callback:65536/", false)]
#[case::app_with_dots("com.example.client:/a/../callback", false)]
#[case::app_with_a_quote("cursor://callback/\"onclick", false)]
#[case::app_with_a_line_break("cursor://callback/\r\nLocation: x", false)]
#[case::script("javascript://client.example/%0aalert(1)", false)]
#[case::script_with_a_slash("javascript:/alert(1)", false)]
#[case::data("data:text/html,x", false)]
#[case::data_with_a_slash("data:/text/html,x", false)]
#[case::file("file:///etc/passwd", false)]
#[case::blob("blob:https://client.example/x", false)]
#[case::about("about:blank", false)]
#[case::source_of_a_page("view-source:https://client.example/", false)]
#[case::ftp("ftp://client.example/callback", false)]
#[case::relative("/callback", false)]
#[case::empty("", false)]
#[case::scheme_only("https://", false)]
#[case::no_host("https:///callback", false)]
#[case::only_a_port("https://:443/callback", false)]
#[case::bad_port("https://client.example:65536/", false)]
#[case::fragment("https://client.example/callback#a", false)]
#[case::empty_fragment("https://client.example/callback#", false)]
#[case::user("https://ada@client.example/", false)]
#[case::empty_user("https://@client.example/", false)]
#[case::password("https://ada:secret@client.example/", false)]
#[case::encoded_host("https://cli%65nt.example/", false)]
#[case::shortened_host("https://127.1/", false)]
#[case::at_in_the_path("https://client.example/@ada", true)]
#[case::backslash("https://client.example\\@other.example/", false)]
#[case::space("https://client.example/a b", false)]
#[case::line_break("https://client.example/\r\nLocation: x", false)]
#[case::quote("https://client.example/\"onclick", false)]
#[case::not_ascii("https://clíent.example/", false)]
fn addresses_are_checked(#[case] redirect: &str, #[case] is_allowed: bool) {
    assert_eq!(wrong(None, &[redirect]).is_empty(), is_allowed, "{:?}", registered(None, &[redirect]));
}

#[test]
fn an_editor_registers_its_app_its_site_and_a_loopback_address_together() {
    let addresses = [
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "https://www.cursor.com/agents/mcp/oauth/callback",
        "http://localhost:8787/callback",
    ];
    let client = registered(Some("Cursor"), &addresses).unwrap();
    assert!(addresses.iter().all(|address| client.allows(address)));
}

#[test]
fn long_addresses_are_refused() {
    let of_length = |length: usize| format!("{REDIRECT}/{}", "a".repeat(length - REDIRECT.len() - 1));
    assert!(wrong(None, &[&of_length(REDIRECT_MAX)]).is_empty());
    assert_eq!(wrong(None, &[&of_length(REDIRECT_MAX + 1)]), ["redirect_uris[0]"]);
}

#[test]
fn addresses_are_bounded_together() {
    let of_length = |length: usize| format!("{REDIRECT}/{}", "a".repeat(length - REDIRECT.len() - 1));
    let half = of_length(REDIRECTS_BYTES_MAX / 2);
    assert!(wrong(None, &[&half, &half]).is_empty());
    assert_eq!(wrong(None, &[&half, &of_length(REDIRECTS_BYTES_MAX / 2 - 40), REDIRECT, REDIRECT]), ["redirect_uris"]);
}

#[rstest]
#[case::never_used(5, 6, true)]
#[case::today(6, 7, false)]
#[case::almost_a_day(6, 86_400_000_005, false)]
#[case::a_day(6, 86_400_000_006, true)]
fn uses_are_noted_once_a_day(#[case] used: i64, #[case] now: i64, #[case] is_noted: bool) {
    let client = ConnectorClient { used_at: at(used), ..registered(None, &[REDIRECT]).unwrap() };
    assert_eq!(client.notes_use(at(now)), is_noted);
}

#[rstest]
#[case::same(REDIRECT, REDIRECT, true)]
#[case::another_path(REDIRECT, "https://client.example/callback/", false)]
#[case::query(REDIRECT, "https://client.example/callback?a=1", false)]
#[case::default_port(REDIRECT, "https://client.example:443/callback", false)]
#[case::case_of_the_host(REDIRECT, "https://CLIENT.example/callback", false)]
#[case::another_port_on_loopback("http://127.0.0.1:1/cb?a", "http://127.0.0.1:65535/cb?a", true)]
#[case::a_port_where_none_was("http://localhost/cb", "http://localhost:8123/cb", true)]
#[case::no_port_where_one_was("http://[::1]:8123/cb", "http://[::1]/cb", true)]
#[case::another_loopback_host("http://127.0.0.1:1/cb", "http://localhost:1/cb", false)]
#[case::another_path_on_loopback("http://127.0.0.1:1/cb", "http://127.0.0.1:1/", false)]
#[case::port_out_of_range("http://127.0.0.1:1/cb", "http://127.0.0.1:65536/cb", false)]
#[case::no_number("http://127.0.0.1:1/cb", "http://127.0.0.1:+1/cb", false)]
#[case::user_on_loopback("http://127.0.0.1:1/cb", "http://127.0.0.1:1@evil.example/cb", false)]
#[case::fragment_on_loopback("http://127.0.0.1:1/cb", "http://127.0.0.1:1/cb#a", false)]
#[case::https_on_loopback("https://localhost:1/cb", "https://localhost:2/cb", false)]
#[case::app("cursor://client/cb", "cursor://client/cb", true)]
#[case::another_path_of_an_app("cursor://client/cb", "cursor://client/cb/", false)]
#[case::another_port_of_an_app("cursor://localhost:1/cb", "cursor://localhost:2/cb", false)]
#[case::another_app("com.example.client:/cb", "com.example.other:/cb", false)]
#[case::another_number_of_slashes("com.example.client:/cb", "com.example.client:///cb", false)]
fn a_code_is_sent_to_registered_addresses(#[case] known: &str, #[case] asked: &str, #[case] is_allowed: bool) {
    let client = registered(None, &["https://other.example/", known]).unwrap();
    assert_eq!(client.allows(asked), is_allowed);
}

#[rstest]
#[case::in_time(1, REDIRECT, VERIFIER, 9, Ok(()))]
#[case::too_late(1, REDIRECT, VERIFIER, 10, Err(CodeError::Expired))]
#[case::another_client(2, REDIRECT, VERIFIER, 9, Err(CodeError::OtherClient))]
#[case::another_address(1, "https://client.example/", VERIFIER, 9, Err(CodeError::OtherRedirect))]
#[case::the_challenge_itself(1, REDIRECT, CHALLENGE, 9, Err(CodeError::WrongVerifier))]
#[case::no_verifier(1, REDIRECT, "", 9, Err(CodeError::WrongVerifier))]
fn a_code_opens_for_its_client(
    #[case] client: u8,
    #[case] redirect: &str,
    #[case] verifier: &str,
    #[case] now: i64,
    #[case] outcome: Result<(), CodeError>,
) {
    assert_eq!(code().opens(client_id(client), redirect, verifier, at(now)), outcome);
    let used = AuthorizationCode { key: Some(KeyId::from_bytes([1; 16])), ..code() };
    assert_eq!(used.opens(client_id(client), redirect, verifier, at(now)), Err(CodeError::Used));
}

#[rstest]
#[case::shortest(&"a".repeat(43), true)]
#[case::longest(&"a".repeat(128), true)]
#[case::every_kind(&"aZ09-._~".repeat(8), true)]
#[case::too_short(&"a".repeat(42), false)]
#[case::too_long(&"a".repeat(129), false)]
#[case::reserved(&"a+/=".repeat(11), false)]
#[case::not_ascii(&"é".repeat(43), false)]
fn verifiers_have_a_form(#[case] verifier: &str, #[case] is_accepted: bool) {
    let challenge = challenge_of(&base64url(&Sha256::digest(verifier.as_bytes()))).unwrap();
    let opened = AuthorizationCode { challenge, ..code() }.opens(client_id(1), REDIRECT, verifier, at(0));
    assert_eq!(opened, if is_accepted { Ok(()) } else { Err(CodeError::WrongVerifier) });
}

#[rstest]
#[case::rfc(CHALLENGE, true)]
#[case::short(&CHALLENGE[..42], false)]
#[case::padded(&format!("{CHALLENGE}="), false)]
#[case::stray_bits(&CHALLENGE.replace("-cM", "-cN"), false)]
#[case::another_alphabet(&CHALLENGE.replace('-', "+"), false)]
#[case::empty("", false)]
fn challenges_have_a_form(#[case] text: &str, #[case] is_read: bool) {
    assert_eq!(challenge_of(text).is_some(), is_read);
}

#[rstest]
#[case::in_time(1, None, 9, Ok(()))]
#[case::too_late(1, None, 10, Err(RefreshError::Expired))]
#[case::another_client(2, None, 9, Err(RefreshError::OtherClient))]
#[case::spent(1, Some(3), 9, Err(RefreshError::Spent))]
#[case::spent_and_too_late(2, Some(3), 10, Err(RefreshError::Spent))]
fn a_refresh_token_is_exchanged_once(
    #[case] client: u8,
    #[case] spent: Option<i64>,
    #[case] now: i64,
    #[case] outcome: Result<(), RefreshError>,
) {
    let token = RefreshToken {
        hash: TokenHash::of("token"),
        org: OrgId::from_bytes([1; 16]),
        key: KeyId::from_bytes([1; 16]),
        client: client_id(1),
        created_at: at(0),
        expires_at: at(10),
        spent_at: spent.map(at),
    };
    assert_eq!(token.check(client_id(client), at(now)), outcome);
}

#[test]
fn an_access_token_is_never_logged() {
    let token = NewAccessToken::generate(&Bytes(7));
    assert_eq!((token.hash, token.prefix.as_str()), (KeyHash::of(&token.text), &token.text[..20]));
    assert!(!format!("{token:?}").contains(&token.text));
}

proptest! {
    /// A client may send a code to every address that it registered, and to a loopback address on every port.
    #[test]
    fn registered_addresses_are_allowed(
        host in "[a-z]{1,9}\\.example|127\\.0\\.0\\.1|\\[::1\\]|localhost",
        registered_port in any::<Option<u16>>(),
        asked_port in any::<Option<u16>>(),
        rest in "(/[a-z0-9._~-]{0,9}){0,3}(\\?[a-z=&]{0,9})?",
    ) {
        let scheme = if host.ends_with(".example") { "https" } else { "http" };
        let on = |port: Option<u16>| {
            let port = port.map(|port| format!(":{port}")).unwrap_or_default();
            format!("{scheme}://{host}{port}{rest}")
        };
        let client = registered(None, &[&on(registered_port)]).unwrap();
        prop_assert!(client.allows(&on(registered_port)));
        prop_assert_eq!(client.allows(&on(asked_port)), scheme == "http" || registered_port == asked_port);
        let longer = on(asked_port) + "x";
        prop_assert!(!client.allows(&longer));
    }

    /// Browsers read an address that is registered as it is written: with its host, without a user and without a fragment.
    #[test]
    fn registered_addresses_are_what_they_seem(redirect in "https?://[ -~]{0,40}") {
        if let Ok(client) = registered(None, &[&redirect]) {
            let url = Url::parse(&client.redirects[0]).unwrap();
            let host = url.host_str().unwrap();
            prop_assert!(redirect.starts_with("https://") || LOOPBACK_HOSTS.contains(&host));
            let after = redirect.split_once("://").unwrap().1.to_ascii_lowercase();
            prop_assert!(after.starts_with(host), "{redirect} has the host {host}");
            prop_assert!(url.username().is_empty() && url.password().is_none() && url.fragment().is_none());
        }
    }

    /// A code opens with the verifier of its challenge, and with no other.
    #[test]
    fn a_code_opens_with_its_verifier_only(verifier in "[A-Za-z0-9._~-]{43,128}", other in "[A-Za-z0-9._~-]{43,128}") {
        let challenge: [u8; 32] = Sha256::digest(verifier.as_bytes()).into();
        let granted = AuthorizationCode { challenge, ..code() };
        prop_assert_eq!(challenge_of(&base64url(&challenge)), Some(challenge));
        prop_assert_eq!(granted.opens(client_id(1), REDIRECT, &verifier, at(0)), Ok(()));
        let opened = granted.opens(client_id(1), REDIRECT, &other, at(0));
        prop_assert_eq!(opened.is_ok(), other == verifier);
    }
}
