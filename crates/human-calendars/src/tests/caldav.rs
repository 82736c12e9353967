//! Finding the calendars of an account at a CalDAV server.

use kalends_app::ports::{CalendarProviders as _, DiscoveryError, ProviderError};
use kalends_bridge::{CalendarProvider::Caldav, TheirCalendar};
use rstest::rstest;

use super::{
    caldav_server::{Asked, PASSWORD, access, accounts, answered, arrived, calendar, login, resource, server},
    stand_in::{StandIn, StubAnswer, ok, reply},
};

const COLLECTION: &str = "<d:resourcetype><d:collection/></d:resourcetype>";

/// The resources of Ada: a principal, and a collection with two calendars, tasks, and an inbox.
fn adas(asked: &Asked) -> StubAnswer {
    let principal = "<d:current-user-principal><d:href>/dav/principal/</d:href></d:current-user-principal>";
    match asked.short().as_str() {
        "PROPFIND 0 /dav/" => answered(&[resource("/dav/", &format!("{COLLECTION}{principal}"))]),
        "PROPFIND 0 /dav/principal/" => answered(&[resource(
            "/dav/principal/",
            &format!(
                "{principal}<c:calendar-home-set><d:href>/dav/ada/</d:href></c:calendar-home-set>\
                 <c:calendar-user-address-set><d:href>mailto:Ada@Example.com</d:href>\
                 <d:href>/dav/principal/</d:href></c:calendar-user-address-set>"
            ),
        )]),
        "PROPFIND 0 /dav/ada/" => answered(&[resource("/dav/ada/", &format!("{COLLECTION}{principal}"))]),
        "PROPFIND 0 /dav/ada/office/" => answered(&[calendar("/dav/ada/office/", "Work")]),
        "PROPFIND 1 /dav/ada/" => answered(&[
            resource("/dav/ada/", COLLECTION),
            calendar("/dav/ada/office/", "Work"),
            calendar("private/", "Private"),
            calendar(
                "/dav/ada/tasks/",
                "Tasks</d:displayname><c:supported-calendar-component-set>\
                <c:comp name=\"VTODO\"/></c:supported-calendar-component-set><d:displayname>",
            ),
            resource("/dav/ada/feed/", "<d:resourcetype><d:collection/><s:subscribed/></d:resourcetype>"),
            resource(
                "/dav/ada/inbox/",
                "<d:resourcetype><d:collection/><c:schedule-inbox/></d:resourcetype>\
                 <c:schedule-default-calendar-URL><d:href>/dav/ada/private/</d:href>\
                 </c:schedule-default-calendar-URL>",
            ),
            calendar("https://dav.example.net/elsewhere/", "Elsewhere"),
        ]),
        "PROPFIND 0 /.well-known/caldav" => reply(301, "").header("location", "/dav/"),
        _ => reply(404, "Dentist"),
    }
}

fn listed(calendars: &[TheirCalendar], server: &StandIn) -> Vec<(String, String, bool)> {
    let path = |calendar: &TheirCalendar| calendar.reference.strip_prefix(&server.url("")).unwrap().to_owned();
    calendars.iter().map(|calendar| (path(calendar), calendar.name.clone(), calendar.primary)).collect()
}

fn both() -> Vec<(String, String, bool)> {
    vec![("/dav/ada/private/".into(), "Private".into(), true), ("/dav/ada/office/".into(), "Work".into(), false)]
}

#[rstest]
#[case::the_host("/", &["PROPFIND 0 /", "PROPFIND 0 /.well-known/caldav", "PROPFIND 0 /dav/"])]
#[case::a_path("/dav/", &["PROPFIND 0 /dav/"])]
#[case::the_collection("/dav/ada/", &["PROPFIND 0 /dav/ada/"])]
#[tokio::test]
async fn accounts_are_found(#[case] path: &str, #[case] first: &[&str]) {
    let server = server(adas).await;
    let (account, calendars) = accounts(&[&server]).discover(&login(&server, path)).await.unwrap();
    assert_eq!(listed(&calendars, &server), both());
    assert_eq!((account.server, account.home), (server.url(path), server.url("/dav/ada/")));
    assert_eq!(account.addresses, ["mailto:ada@example.com", "/dav/principal/"]);
    assert_eq!((account.username.as_str(), account.password.as_str()), ("ada", PASSWORD));
    let last = ["PROPFIND 0 /dav/principal/", "PROPFIND 1 /dav/ada/"];
    assert_eq!(arrived(&server), [first, &last].concat());
}

#[tokio::test]
async fn the_principal_itself_may_be_entered() {
    let server = server(adas).await;
    let (account, calendars) = accounts(&[&server]).discover(&login(&server, "/dav/principal/")).await.unwrap();
    assert_eq!((account.home, listed(&calendars, &server)), (server.url("/dav/ada/"), both()));
    assert_eq!(arrived(&server), ["PROPFIND 0 /dav/principal/", "PROPFIND 1 /dav/ada/"]);
}

#[tokio::test]
async fn one_calendar_may_be_entered() {
    let server = server(adas).await;
    let accounts = accounts(&[&server]);
    let (account, calendars) = accounts.discover(&login(&server, "/dav/ada/office/")).await.unwrap();
    let work = [("/dav/ada/office/".to_owned(), "Work".to_owned(), false)];
    assert_eq!((account.home.clone(), listed(&calendars, &server)), (server.url("/dav/ada/office/"), work.to_vec()));
    // Its events are not listed later either.
    let found = accounts.calendars(Caldav, &kalends_bridge::Access::Password(account)).await.unwrap();
    assert_eq!(listed(&found, &server), work);
    assert_eq!(arrived(&server), ["PROPFIND 0 /dav/ada/office/", "PROPFIND 0 /dav/ada/office/"]);
}

#[tokio::test]
async fn a_collection_without_a_principal_may_be_entered() {
    let server = server(|asked| match asked.short().as_str() {
        "PROPFIND 0 /ada" => answered(&[resource("/ada", COLLECTION)]),
        "PROPFIND 1 /ada" => answered(&[calendar("/ada/office/", "")]),
        _ => reply(405, ""),
    })
    .await;
    let (account, calendars) = accounts(&[&server]).discover(&login(&server, "/ada")).await.unwrap();
    assert_eq!((account.home, account.addresses), (server.url("/ada"), vec![]));
    assert_eq!(listed(&calendars, &server), [("/ada/office/".into(), "office".into(), false)]);
}

#[tokio::test]
async fn a_nextcloud_in_a_folder_is_found() {
    let server = server(|asked| match asked.short().as_str() {
        "PROPFIND 0 /cloud/remote.php/dav/" => answered(&[resource(
            "/cloud/remote.php/dav/",
            "<c:calendar-home-set><d:href>/cloud/remote.php/dav/calendars/ada/</d:href></c:calendar-home-set>",
        )]),
        "PROPFIND 1 /cloud/remote.php/dav/calendars/ada/" => answered(&[calendar("personal/", "Personal")]),
        _ => ok("<html>Dentist</html>"),
    })
    .await;
    let (_, calendars) = accounts(&[&server]).discover(&login(&server, "/cloud")).await.unwrap();
    let personal = "/cloud/remote.php/dav/calendars/ada/personal/";
    assert_eq!(listed(&calendars, &server), [(personal.into(), "Personal".into(), false)]);
}

#[tokio::test]
async fn calendars_are_listed_again() {
    let server = server(adas).await;
    let found = accounts(&[&server]).calendars(Caldav, &access(&server)).await.unwrap();
    assert_eq!(listed(&found, &server), both());
    assert_eq!(arrived(&server), ["PROPFIND 0 /dav/ada/", "PROPFIND 1 /dav/ada/"]);
}

/// What is missing would look removed.
#[rstest]
#[case::cut("/dav/ada/", 507)]
#[case::later("/dav/ada/private/", 503)]
#[case::too_often("/dav/ada/private/", 429)]
#[tokio::test]
async fn an_incomplete_list_is_an_error(#[case] href: &'static str, #[case] status: u16) {
    let server = server(move |asked| match asked.depth.as_str() {
        "0" => adas(asked),
        _ => answered(&[
            calendar("/dav/ada/office/", "Work"),
            format!("<d:response><d:href>{href}</d:href><d:status>HTTP/1.1 {status} x</d:status></d:response>"),
        ]),
    })
    .await;
    let found = accounts(&[&server]).calendars(Caldav, &access(&server)).await;
    match found {
        Err(ProviderError::Malformed(_)) => assert_eq!(status, 507),
        Err(ProviderError::Unavailable(error)) => {
            assert_eq!(error.to_string(), format!("it answers with status {status}"));
        }
        other => panic!("{other:?}"),
    }
}

/// Redirects to another server at each of these paths, and everything else as in [`adas`].
async fn leading_elsewhere(from: &'static str) -> (StandIn, StandIn) {
    let other = StandIn::with_answers(vec![]).await;
    let location = other.url("/dav/");
    let server = server(move |asked| match asked.path.as_str() {
        path if path == from => reply(307, "").header("location", &location),
        _ => adas(asked),
    })
    .await;
    (server, other)
}

#[rstest]
#[case::at_the_address("/dav/")]
#[case::at_the_principal("/dav/principal/")]
#[case::at_the_collection("/dav/ada/")]
#[tokio::test]
async fn passwords_do_not_go_to_other_servers(#[case] from: &'static str) {
    let (server, other) = leading_elsewhere(from).await;
    let found = accounts(&[&server, &other]).discover(&login(&server, "/dav/")).await;
    // The server at the well-known address leads to the same place.
    assert!(matches!(found, Err(DiscoveryError::Elsewhere)), "{found:?}");
    assert_eq!(other.requests().len(), 0);
}

#[tokio::test]
async fn links_to_other_servers_are_not_followed() {
    let other = StandIn::with_answers(vec![]).await;
    let home = other.url("/dav/ada/");
    let server = server(move |_| {
        answered(&[resource("/", &format!("<c:calendar-home-set><d:href>{home}</d:href></c:calendar-home-set>"))])
    })
    .await;
    let found = accounts(&[&server, &other]).discover(&login(&server, "/")).await;
    assert!(matches!(found, Err(DiscoveryError::Elsewhere)), "{found:?}");
    assert_eq!(other.requests().len(), 0);
}

#[tokio::test]
async fn the_number_of_redirects_is_limited() {
    let server = server(|asked| reply(302, "").header("location", &asked.path)).await;
    let found = accounts(&[&server]).discover(&login(&server, "/a/")).await;
    let Err(DiscoveryError::NotAllowed(reason)) = found else { panic!("{found:?}") };
    assert_eq!(reason, "the server redirects more than 5 times");
    let at = |path: &str| arrived(&server).iter().filter(|asked| asked.ends_with(path)).count();
    assert_eq!((at(" /a/"), at(" /.well-known/caldav")), (6, 6));
}

#[rstest]
#[case::basic("Basic realm=\"x\"", true)]
#[case::digest("Digest realm=\"x\", nonce=\"y\"", false)]
#[tokio::test]
async fn a_refused_password_is_sent_once(#[case] challenge: &'static str, #[case] basic: bool) {
    let server = server(move |_| reply(401, "").header("www-authenticate", challenge)).await;
    let accounts = accounts(&[&server]);
    match accounts.discover(&login(&server, "/")).await {
        Err(DiscoveryError::Refused) => assert!(basic),
        Err(DiscoveryError::NotAllowed(reason)) => assert!(!basic && reason.contains("Basic"), "{reason}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(server.requests().len(), 1);
    let listed = accounts.calendars(Caldav, &access(&server)).await;
    let code = if basic {
        "the server refuses the password"
    } else {
        "the server no longer accepts passwords by Basic authentication"
    };
    assert!(matches!(&listed, Err(ProviderError::Lapsed(error)) if error == code), "{listed:?}");
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_website_is_no_server() {
    let server = server(|_| ok("<html>Dentist</html>")).await;
    let found = accounts(&[&server]).discover(&login(&server, "/")).await;
    assert!(matches!(found, Err(DiscoveryError::NoServer)), "{found:?}");
    let paths = ["/", "/.well-known/caldav", "/remote.php/dav/", "/dav.php/"];
    assert_eq!(arrived(&server), paths.map(|path| format!("PROPFIND 0 {path}")));
}

#[tokio::test]
async fn a_server_that_is_broken_is_no_missing_server() {
    let server = server(|_| reply(503, "Dentist")).await;
    let found = accounts(&[&server]).discover(&login(&server, "/")).await;
    assert!(matches!(found, Err(DiscoveryError::Provider(ProviderError::Unavailable(_)))), "{found:?}");
    assert!(!format!("{found:?}").contains("Dentist"));
}

#[tokio::test]
async fn an_account_without_calendars_is_not_connected() {
    let server = server(|asked| match asked.short().as_str() {
        "PROPFIND 1 /dav/ada/" => answered(&[resource("/dav/ada/", COLLECTION)]),
        _ => adas(asked),
    })
    .await;
    let found = accounts(&[&server]).discover(&login(&server, "/dav/")).await;
    assert!(matches!(found, Err(DiscoveryError::NoCalendars)), "{found:?}");
}

#[rstest]
#[case::plain_http("http://dav.example.com/", "plain http")]
#[case::a_local_name("https://localhost/", "KALENDS_EGRESS_ALLOW")]
#[case::credentials("https://ada:x@dav.example.com/", "credentials")]
#[case::google("https://apidata.googleusercontent.com/caldav/v2/ada/user", "Google")]
#[tokio::test]
async fn some_addresses_are_refused(#[case] url: &str, #[case] reason: &str) {
    let server = StandIn::with_answers(vec![]).await;
    let login = kalends_app::ports::CaldavLogin { url: url.to_owned(), ..login(&server, "/") };
    let found = accounts(&[&server]).discover(&login).await;
    assert!(matches!(&found, Err(DiscoveryError::NotAllowed(text)) if text.contains(reason)), "{found:?}");
}
