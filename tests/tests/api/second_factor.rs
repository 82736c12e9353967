//! The second factor of sign-ins with a password: codes of an authenticator app, recovery codes, and the pages.

use std::time::{Duration, SystemTime};

use kalends_e2e::{Answer, Client, Database, Mail, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};
use totp_rs::{Builder, Secret};

use crate::{
    console::{Human, PASSWORD},
    fixtures::has_exactly,
    on_both,
    pages::{Pages, hidden},
};

const FACTOR: &str = "/v1/auth/second-factor";
const CONFIRM: &str = "/v1/auth/second-factor/confirm";
const CODES: &str = "/v1/auth/second-factor/recovery-codes";
const ADA: &str = "ada@example.com";
/// The subject of the email about too many wrong codes.
const USED_UP: &str = "Too many wrong codes for your Kalends account";
/// How long a code lasts, in seconds.
const STEP: u64 = 30;

/// An authenticator app.
pub(crate) struct Phone {
    secret: String,
    /// How far the clock of the server is ahead, in seconds.
    ahead: u64,
    /// The step of the last code that it showed.
    last: u64,
}

impl Phone {
    pub(crate) const fn new(secret: String) -> Self {
        Self { secret, ahead: 0, last: 0 }
    }

    /// The time of the server, in seconds since 1970.
    #[expect(clippy::disallowed_methods, reason = "an authenticator app has a clock of its own")]
    fn now(&self) -> u64 {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() + self.ahead
    }

    fn code_of(&self, step: u64) -> String {
        let secret = Secret::try_from_base32(&self.secret).unwrap();
        Builder::new().with_secret(secret).build().unwrap().generate(step * STEP).to_string()
    }

    /// A code that the server has not seen: that of the current step, or of the next one. If both were shown, the clock
    /// of the server has to move.
    pub(crate) fn code(&mut self) -> String {
        let now = self.now();
        assert!(self.last <= now / STEP, "move the clock first");
        self.last = (now / STEP).max(self.last + 1);
        self.code_of(self.last)
    }

    /// A code that the server does not accept now or soon.
    pub(crate) fn wrong_code(&self) -> String {
        let step = self.now() / STEP;
        let near: Vec<_> = (step - 3..=step + 3).map(|step| self.code_of(step)).collect();
        (0..).map(|number| format!("{number:06}")).find(|code| !near.contains(code)).unwrap()
    }

    /// Moves the clock of the server.
    async fn later(&mut self, server: &mut Server, seconds: u64) {
        self.ahead += seconds;
        server.restart_at_offset(i64::try_from(self.ahead).unwrap()).await;
    }
}

/// Turns the second factor of a user on, and returns their phone and their recovery codes.
pub(crate) async fn turn_on(server: &Server, token: &str, password: &str) -> (Phone, Vec<String>) {
    let session = server.client(token);
    let started = session.post(FACTOR).json(json!({ "password": password })).await.expect(201);
    let mut phone = Phone::new(started["secret"].as_str().unwrap().to_owned());
    let codes = session.post(CONFIRM).json(json!({ "code": phone.code() })).await.expect(200);
    (phone, recovery_codes(&codes))
}

fn recovery_codes(answer: &Answer) -> Vec<String> {
    has_exactly(&answer.json, &["recovery_codes"]);
    let codes = answer["recovery_codes"].as_array().unwrap();
    assert_eq!(codes.len(), 10);
    codes.iter().map(|code| code.as_str().unwrap().to_owned()).collect()
}

async fn sign_in(server: &Server, password: &str, code: Option<&str>) -> Answer {
    let mut body = json!({ "email": ADA, "password": password });
    if let Some(code) = code {
        body["code"] = json!(code);
    }
    server.anonymous().post("/v1/auth/signin").json(body).await
}

async fn session(server: &Server, code: &str) -> Client {
    server.client(sign_in(server, PASSWORD, Some(code)).await.expect(200)["token"].as_str().unwrap())
}

async fn has_factor(session: &Client) -> Value {
    session.get("/v1/auth/me").await.expect(200).at("/user/second_factor")
}

/// The emails with that subject, once there are `count`.
async fn mails(server: &Server, subject: &str, count: usize) -> Vec<Mail> {
    for _ in 0..3_000 {
        let mut mails = server.mails();
        mails.retain(|mail| mail.subject == subject);
        if mails.len() >= count {
            return mails;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("no {count} emails with the subject {subject}: {:#?}", server.mails());
}

#[apply(on_both)]
#[tokio::test]
async fn a_sign_in_needs_a_code(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let ada = Human::sign_up(&server, ADA).await;
    let first = server.client(&ada.token);
    assert_eq!(has_factor(&first).await, json!(false));
    first
        .post(FACTOR)
        .json(json!({ "password": "not the password" }))
        .await
        .refused(400, "validation_error")
        .param("password");
    first.post(CONFIRM).json(json!({ "code": "123456" })).await.refused(409, "conflict").code("second_factor_off");
    for (path, remove) in [(CODES, false), (FACTOR, true)] {
        let call = if remove { first.delete(path) } else { first.post(path) };
        call.json(json!({ "code": "123456" })).await.refused(409, "conflict").code("second_factor_off");
    }

    // Another start replaces the secret. Until the first code, sign-ins need none.
    let old = first.post(FACTOR).json(json!({ "password": PASSWORD })).await.expect(201);
    has_exactly(&old.json, &["secret", "otpauth_url"]);
    let started = first.post(FACTOR).json(json!({ "password": PASSWORD })).await.expect(201);
    assert_ne!(old["secret"], started["secret"]);
    let secret = started["secret"].as_str().unwrap();
    let url = started["otpauth_url"].as_str().unwrap();
    assert!(
        url.starts_with(&format!("otpauth://totp/Kalends:ada%40example.com?secret={secret}&issuer=Kalends")),
        "{url}"
    );
    let other = server.client(sign_in(&server, PASSWORD, None).await.expect(200)["token"].as_str().unwrap());
    assert_eq!(has_factor(&other).await, json!(false));
    let stale = Phone::new(old["secret"].as_str().unwrap().to_owned()).code();
    first.post(CONFIRM).json(json!({ "code": stale })).await.refused(400, "validation_error").param("code");
    for wrong in ["", " ", &"1".repeat(65)] {
        first.post(CONFIRM).json(json!({ "code": wrong })).await.refused(400, "validation_error").param("code");
    }
    let mut phone = Phone::new(secret.to_owned());
    let confirmed = phone.code();
    let codes = recovery_codes(&first.post(CONFIRM).json(json!({ "code": confirmed })).await.expect(200));
    first.post(CONFIRM).json(json!({ "code": confirmed })).await.refused(409, "conflict").code("second_factor_on");
    first.post(FACTOR).json(json!({ "password": PASSWORD })).await.refused(409, "conflict").code("second_factor_on");
    assert_eq!(has_factor(&first).await, json!(true));
    // Somebody else who knew the password is signed out.
    other.get("/v1/auth/me").await.refused(401, "authentication_error");
    mails(&server, "Your Kalends account has a second factor", 1).await;

    // Without the password, nobody learns that a code is needed.
    sign_in(&server, "not the password", None).await.refused(401, "authentication_error").code("wrong_password");
    sign_in(&server, "not the password", Some("123456"))
        .await
        .refused(401, "authentication_error")
        .code("wrong_password");
    sign_in(&server, PASSWORD, None).await.refused(401, "authentication_error").code("second_factor_required");
    sign_in(&server, PASSWORD, Some("")).await.refused(400, "validation_error").param("code");
    let replayed = sign_in(&server, PASSWORD, Some(&confirmed)).await;
    replayed.refused(401, "authentication_error").code("second_factor_wrong");
    let code = phone.code();
    let spaced = format!("{} {}", &code[..3], &code[3..]);
    let signed_in = sign_in(&server, PASSWORD, Some(&spaced)).await.expect(200);
    assert_eq!(signed_in["user"]["second_factor"], true);
    sign_in(&server, PASSWORD, Some(&code)).await.refused(401, "authentication_error").code("second_factor_wrong");

    // A code of two steps ago is too old, although it was never used.
    phone.later(&mut server, 10 * STEP).await;
    let old = phone.code_of(phone.now() / STEP - 2);
    sign_in(&server, PASSWORD, Some(&old)).await.refused(401, "authentication_error").code("second_factor_wrong");
    let session = session(&server, &phone.code()).await;
    session.delete(FACTOR).json(json!({ "code": "123456" })).await.refused(400, "validation_error").param("code");
    session.delete(FACTOR).json(json!({ "code": phone.code() })).await.expect(204);
    assert_eq!(has_factor(&session).await, json!(false));
    mails(&server, "Your Kalends account has no second factor any more", 1).await;
    sign_in(&server, PASSWORD, None).await.expect(200);
    for action in ["auth.second_factor_on", "auth.second_factor_off"] {
        let log = session.get("/v1/audit-log").query(&[("action", action)]).await.expect(200);
        assert_eq!(log.data().len(), 1, "{action}");
    }
    // Neither the secret nor a code is in a log or an export.
    let all = [session.get("/v1/auth/export").await.text(), server.log()];
    assert!(all.iter().all(|text| !text.contains(&phone.secret) && !text.contains(&codes[0])));
}

#[apply(on_both)]
#[tokio::test]
async fn a_recovery_code_works_once(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, ADA).await;
    let (mut phone, codes) = turn_on(&server, &ada.token, PASSWORD).await;
    let by_recovery = session(&server, &codes[0].to_uppercase().replace('-', " ")).await;
    sign_in(&server, PASSWORD, Some(&codes[0])).await.refused(401, "authentication_error").code("second_factor_wrong");
    let mail = mails(&server, "A Kalends recovery code was used", 1).await.remove(0);
    assert!(mail.to == ADA && mail.text.contains("Recovery codes left: 9."), "{}", mail.text);
    let log = by_recovery.get("/v1/audit-log?action=auth.recovery_code").await.expect(200).data();
    assert_eq!((log.len(), &log[0]["path"], &log[0]["status"]), (1, &json!("/v1/auth/signin"), &json!(200)));

    // New ones void the old ones.
    let fresh = recovery_codes(&by_recovery.post(CODES).json(json!({ "code": phone.code() })).await.expect(200));
    let mail = mails(&server, "Your Kalends account has new recovery codes", 1).await.remove(0);
    assert!(mail.to == ADA && mail.text.contains("/console/forgot"), "{}", mail.text);
    assert!(fresh.iter().all(|code| !mail.text.contains(code)), "{}", mail.text);
    assert!(fresh.iter().all(|code| !codes.contains(code)));
    sign_in(&server, PASSWORD, Some(&codes[1])).await.refused(401, "authentication_error").code("second_factor_wrong");
    session(&server, &fresh[1]).await;
    // A recovery code turns the second factor off too.
    by_recovery.delete(FACTOR).json(json!({ "code": fresh[2] })).await.expect(204);
    sign_in(&server, PASSWORD, None).await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn concurrent_sign_ins_share_no_code(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, ADA).await;
    let (mut phone, codes) = turn_on(&server, &ada.token, PASSWORD).await;
    for code in [phone.code(), codes[0].clone()] {
        let (one, other) =
            tokio::join!(sign_in(&server, PASSWORD, Some(&code)), sign_in(&server, PASSWORD, Some(&code)));
        let mut statuses = [one.status, other.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 401], "{code}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn wrong_codes_are_limited(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let ada = Human::sign_up(&server, ADA).await;
    let (mut phone, codes) = turn_on(&server, &ada.token, PASSWORD).await;
    // Right codes do not count.
    session(&server, &codes[0]).await;
    let wrong = |number: usize| format!("{number}-wrong");
    for number in 0..9 {
        let refused = sign_in(&server, PASSWORD, Some(&wrong(number))).await;
        refused.refused(401, "authentication_error").code("second_factor_wrong");
    }
    session(&server, &codes[1]).await;
    // All operations count together.
    let caller = server.client(&ada.token);
    caller.post(CODES).json(json!({ "code": wrong(9) })).await.refused(400, "validation_error").param("code");
    let right = &*phone.code();
    let refused = sign_in(&server, PASSWORD, Some(right)).await.refused(429, "rate_limit_error");
    assert!(refused.header("retry-after").parse::<i64>().is_ok_and(|after| (1..=3_600).contains(&after)));
    refused.code("second_factor_limit");
    // Nobody can guess a recovery code, so it works even then.
    session(&server, &codes[2]).await;
    caller.delete(FACTOR).json(json!({ "code": right })).await.refused(429, "rate_limit_error");
    // The last wrong code sends one email, and the refused ones after it send none.
    mails(&server, "A Kalends recovery code was used", 3).await;
    let mut warned = mails(&server, USED_UP, 1).await;
    let mail = warned.remove(0);
    assert!(warned.is_empty() && mail.to == ADA && mail.text.contains("/console/forgot"), "{mail:?} {warned:?}");
    // A wrong password says nothing of it.
    sign_in(&server, "not the password", Some(right)).await.refused(401, "authentication_error").code("wrong_password");
    phone.later(&mut server, 3_601).await;
    session(&server, &phone.code()).await;
    for number in 0..10 {
        let refused = sign_in(&server, PASSWORD, Some(&wrong(number))).await;
        refused.refused(401, "authentication_error").code("second_factor_wrong");
    }
    for _ in 0..2 {
        sign_in(&server, PASSWORD, Some(right)).await.refused(429, "rate_limit_error").code("second_factor_limit");
    }
    assert_eq!(mails(&server, USED_UP, 2).await.len(), 2, "one for each hour");
}

#[apply(on_both)]
#[tokio::test]
async fn the_operator_removes_a_second_factor(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, ADA).await;
    let command = ["user", "remove-second-factor", ADA];
    let failed = server.cli(&command).await.failed();
    assert!(failed.stderr.contains("without a second factor"), "{failed:#?}");
    turn_on(&server, &ada.token, PASSWORD).await;
    sign_in(&server, PASSWORD, None).await.refused(401, "authentication_error").code("second_factor_required");
    let printed: Value = serde_json::from_str(&server.cli(&command).await.succeeded().stdout).unwrap();
    assert_eq!(printed, json!({ "user_id": ada.user, "email": ADA }));
    let signed_in = sign_in(&server, PASSWORD, None).await.expect(200);
    let session = server.client(signed_in["token"].as_str().unwrap());
    let log = session.get("/v1/audit-log?action=auth.second_factor_off").await.expect(200).data();
    assert_eq!((log.len(), &log[0]["method"]), (1, &json!("CLI")));
    assert_eq!(log[0]["resource"], ada.user);
}

/// Sets the password with a link of the operator.
async fn set_password(server: &Server, password: &str) {
    let printed = server.cli(&["user", "reset-password", ADA]).await.succeeded().stdout;
    let link: Value = serde_json::from_str(&printed).unwrap();
    let (_, token) = link["url"].as_str().unwrap().split_once('#').unwrap();
    let body = json!({ "token": token, "password": password });
    server.anonymous().post("/v1/auth/password/reset").json(body).await.expect(204);
}

#[apply(on_both)]
#[tokio::test]
async fn a_new_password_keeps_a_second_factor_unless_it_takes_the_account_over(#[case] database: Database) {
    let server = Server::start_with(database, &[("KALENDS_EMAIL_PROOF", "on")]).await;
    // The address is only stated: the one who reads mail there did not set the second factor up.
    let squatter = Human::sign_up(&server, ADA).await;
    turn_on(&server, &squatter.token, PASSWORD).await;
    set_password(&server, "a password of her own").await;
    let signed_in = sign_in(&server, "a password of her own", None).await.expect(200);
    assert_eq!(signed_in["user"]["second_factor"], false);
    // It is proved now.
    let (_, codes) = turn_on(&server, signed_in["token"].as_str().unwrap(), "a password of her own").await;
    set_password(&server, "another of her own").await;
    let refused = sign_in(&server, "another of her own", None).await;
    refused.refused(401, "authentication_error").code("second_factor_required");
    sign_in(&server, "another of her own", Some(&codes[0])).await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn a_second_factor_is_used_by_forms(#[case] database: Database) {
    let mut server = Server::start(database).await;
    Human::sign_up(&server, ADA).await;
    let credentials = [("email", ADA), ("password", PASSWORD)];
    let (mut phone, codes) = {
        let mut pages = Pages::new(&server);
        pages.send("/console/sign-in", &credentials).await;
        assert!(pages.open("/console/account").await.text.contains("href=\"/console/security\""));
        let off = pages.open("/console/security").await;
        assert!(off.status == 200 && off.text.contains("It is off."), "{}", off.text);
        let wrong = pages.send("/console/security/start", &[("password", "not the password")]).await;
        assert!(wrong.status == 400 && wrong.text.contains("This is not your password."), "{}", wrong.text);
        assert!(!wrong.text.contains("not the password"));
        let begun = pages.send("/console/security/start", &[("password", PASSWORD)]).await;
        assert!(begun.status == 200 && begun.text.contains("<svg class=\"qr\""), "{}", begun.text);
        let (_, rest) = begun.text.split_once("<p><code>").unwrap();
        let shown = rest.split_once("</code>").unwrap().0;
        assert_eq!(shown.split(' ').map(str::len).collect::<Vec<_>>(), [4; 8], "{shown}");
        let mut phone = Phone::new(shown.replace(' ', ""));
        let wrong = pages.send("/console/security/confirm", &[("code", "12")]).await;
        assert!(wrong.status == 400 && wrong.text.contains("This code is wrong"), "{}", wrong.text);
        assert!(wrong.text.contains(shown), "the secret is still there");
        let code = phone.code();
        let (once, spaced) = (hidden(&wrong.text, "once"), format!("{} {}", &code[..3], &code[3..]));
        let on = pages.send("/console/security/confirm", &[("code", &spaced), ("once", &once)]).await;
        assert_eq!(on.status, 200, "{}", on.text);
        let shown_codes = |text: &str| text.split("<li><code>").skip(1).map(|rest| rest[..14].to_owned()).collect();
        let (first, again): (Vec<_>, Vec<_>) = (
            shown_codes(&on.text),
            shown_codes(&pages.send("/console/security/confirm", &[("code", &spaced), ("once", &once)]).await.text),
        );
        assert!(first.len() == 10 && first == again, "a double click does not lose the codes: {first:?} {again:?}");
        // The code alone opens no earlier answer, and neither does the key with another code.
        for fields in [[("code", &*code), ("once", "")], [("code", "111111"), ("once", &once)]] {
            let guessed = pages.send("/console/security/confirm", &fields).await;
            assert!(
                guessed.text.contains("Please start again.") && !guessed.text.contains("<li><code>"),
                "{}",
                guessed.text
            );
        }
        let codes: Vec<_> = on.text.split("<li><code>").skip(1).map(|rest| rest[..14].to_owned()).collect();
        assert_eq!(codes.len(), 10, "{}", on.text);
        let late = pages.send("/console/security/start", &[("password", PASSWORD)]).await;
        assert!(late.status == 409 && late.text.contains("Please start again."), "{}", late.text);
        (phone, codes)
    };
    phone.later(&mut server, 10 * STEP).await;

    let mut pages = Pages::new(&server);
    let asked = pages.send("/console/sign-in", &[credentials[0], credentials[1], ("next", "/console/plans")]).await;
    assert_eq!((asked.status, &*asked.cookie), (200, ""));
    assert!(asked.text.contains("Enter your code") && asked.text.contains("one-time-code"), "{}", asked.text);
    assert!(!asked.text.contains(PASSWORD));
    let (_, rest) = asked.text.split_once("name=\"step\" value=\"").unwrap();
    let step = rest.split_once('"').unwrap().0.to_owned();
    // The token is not a session.
    server.client(&step).get("/v1/auth/me").await.refused(401, "authentication_error");
    for wrong in ["", "000", &"1".repeat(65)] {
        let again = pages.send("/console/sign-in", &[("step", &step), ("code", wrong)]).await;
        assert!([400, 401].contains(&again.status) && again.cookie.is_empty(), "{}", again.text);
        assert!(again.text.contains("This code is wrong") && again.text.contains(&step), "{}", again.text);
    }
    let code = phone.code();
    let fields = [("step", &*step), ("code", &*code), ("next", "/console/plans")];
    let signed_in = pages.send("/console/sign-in", &fields).await;
    assert_eq!((signed_in.status, &*signed_in.location), (303, "/console/plans"), "{}", signed_in.text);
    assert_eq!(pages.send("/console/sign-in", &fields).await.status, 401, "the code is used");
    let forged = format!("{step}x");
    let void = pages.send("/console/sign-in", &[("step", &forged), ("code", &codes[0])]).await;
    assert!(void.status == 401 && void.text.contains("Please start again."), "{}", void.text);

    let on = pages.open("/console/security").await;
    assert!(on.text.contains("It is on.") && on.text.contains("Recovery codes left: 10"), "{}", on.text);
    let wrong = pages.send("/console/security/recovery-codes", &[("code", "12")]).await;
    assert!(wrong.status == 400 && wrong.text.contains("id=\"code-problem\""), "{}", wrong.text);
    let renewed = pages.send("/console/security/recovery-codes", &[("code", &codes[1])]).await;
    assert!(renewed.status == 200 && !renewed.text.contains(&codes[2]), "{}", renewed.text);
    let wrong = pages.send("/console/security/off", &[("last_code", &codes[2])]).await;
    assert!(wrong.status == 400 && wrong.text.contains("id=\"last_code-problem\""), "{}", wrong.text);
    let off = pages.send("/console/security/off", &[("last_code", &phone.code())]).await;
    assert_eq!((off.status, &*off.location), (303, "/console/security"), "{}", off.text);
    assert!(pages.open("/console/security").await.text.contains("It is off."));

    // A token for the second step lasts five minutes, and a changed password voids it.
    let session = server.client(sign_in(&server, PASSWORD, None).await.expect(200)["token"].as_str().unwrap());
    let started = session.post(FACTOR).json(json!({ "password": PASSWORD })).await.expect(201);
    let mut phone = Phone { ahead: phone.ahead, ..Phone::new(started["secret"].as_str().unwrap().to_owned()) };
    let codes = recovery_codes(&session.post(CONFIRM).json(json!({ "code": phone.code() })).await.expect(200));
    let mut pages = Pages::new(&server);
    let asked = pages.send("/console/sign-in", &credentials).await;
    let (_, rest) = asked.text.split_once("name=\"step\" value=\"").unwrap();
    let step = rest.split_once('"').unwrap().0.to_owned();
    let body = json!({ "current_password": PASSWORD, "new_password": "a password of her own" });
    session.post("/v1/auth/password").json(body).await.expect(204);
    let void = pages.send("/console/sign-in", &[("step", &step), ("code", &codes[0])]).await;
    assert!(void.status == 401 && void.text.contains("Please start again."), "{}", void.text);
    let asked = pages.send("/console/sign-in", &[("email", ADA), ("password", "a password of her own")]).await;
    let (_, rest) = asked.text.split_once("name=\"step\" value=\"").unwrap();
    let step = rest.split_once('"').unwrap().0.to_owned();
    phone.later(&mut server, 5 * 60).await;
    let mut pages = Pages::new(&server);
    let void = pages.send("/console/sign-in", &[("step", &step), ("code", &codes[0])]).await;
    assert!(void.status == 401 && void.text.contains("Please start again."), "{}", void.text);
}
