//! Email over SMTP.

use std::{
    error::Error as _,
    fmt, io, iter,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use async_trait::async_trait;
use kalends_app::ports::{LETTER_CLAIM_LASTS, Mail, MailError, MailReply, Mailer};
use lettre::{
    Message,
    transport::smtp::{
        Error,
        authentication::{Credentials, DEFAULT_MECHANISMS},
        client::{AsyncSmtpConnection, TlsParameters},
        commands,
        extension::ClientId,
        response::Severity,
    },
};
use tokio::time::{Instant, error::Elapsed, sleep, timeout};

use crate::{Letterhead, SmtpUrl, smtp_url::Protection};

/// The replies that can say that there is no such mailbox (RFC 5321 section 4.2.3).
const NO_MAILBOX: [u16; 3] = [550, 551, 553];
/// The status codes about the address of the recipient (RFC 3463 section 3.2, RFC 7505). Without one, a reply may as well be
/// about the sender, and end when the operator corrects the settings.
const OF_THE_RECIPIENT: [&str; 5] = ["5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10"];
/// The timeout of connecting.
const CONNECT_WITHIN: Duration = Duration::from_secs(15);
/// The timeout of everything before the message: connecting, signing in, and naming sender and recipient.
const BEGIN_WITHIN: Duration = Duration::from_secs(40);
/// The timeout of the message and its reply. Many servers examine a message before they reply.
const ACCEPT_WITHIN: Duration = Duration::from_secs(75);
const _: () = assert!(
    (BEGIN_WITHIN.as_secs() + ACCEPT_WITHIN.as_secs()) * 1_000_000 < LETTER_CLAIM_LASTS.as_micros().unsigned_abs(),
    "another worker would send the letter at the same time"
);
/// The timeout of the test whether a kept connection still works, and of taking leave of a server.
const CHECK_WITHIN: Duration = Duration::from_secs(5);
/// The most connections that are kept open between messages.
const IDLE_MAX: usize = 4;
/// How long a connection is kept open between messages.
const IDLE_LASTS: Duration = Duration::from_secs(20);

/// The connections that are kept, each with the time from which on it is.
type Idle = Mutex<Vec<(AsyncSmtpConnection, Instant)>>;

/// Sends messages to an SMTP server, and keeps a few connections open between them.
///
/// A connection is kept only after a complete exchange. A connection on which a reply is missing is closed: the reply
/// would be taken for that of the next command.
pub struct SmtpMailer {
    host: String,
    port: u16,
    protection: Protection,
    tls: TlsParameters,
    credentials: Option<Credentials>,
    hello: ClientId,
    idle: Arc<Idle>,
    letterhead: Letterhead,
}

impl fmt::Debug for SmtpMailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SmtpMailer(…)")
    }
}

/// The part of an exchange that failed.
#[derive(Clone, Copy)]
enum Part {
    Connecting,
    Securing,
    SigningIn,
    HandingOver,
}

impl SmtpMailer {
    /// A mailer for the server of `url`. It connects when it sends the first message.
    ///
    /// # Errors
    /// If TLS cannot be set up for that host.
    pub fn new(url: &SmtpUrl, letterhead: Letterhead) -> io::Result<Self> {
        Ok(Self {
            host: url.host.clone(),
            port: url.port,
            protection: url.protection,
            tls: TlsParameters::new(url.host.clone()).map_err(io::Error::other)?,
            credentials: url.credentials(),
            hello: ClientId::default(),
            idle: Arc::default(),
            letterhead,
        })
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(AsyncSmtpConnection, Instant)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection that is ready for a message.
    async fn connection(&self) -> Result<AsyncSmtpConnection, MailError> {
        loop {
            let kept = self.idle().pop();
            let Some((mut connection, since)) = kept else { break };
            let works = since.elapsed() < IDLE_LASTS
                && timeout(CHECK_WITHIN, connection.test_connected()).await.unwrap_or(false);
            if works {
                return Ok(connection);
            }
        }
        let wrapped = (self.protection == Protection::Wrapped).then(|| self.tls.clone());
        let server = (self.host.as_str(), self.port);
        let connecting = AsyncSmtpConnection::connect_tokio1(server, Some(CONNECT_WITHIN), &self.hello, wrapped, None);
        let mut connection = connecting.await.map_err(|error| failure(error, Part::Connecting))?;
        let secures = match self.protection {
            Protection::Required => true,
            Protection::Offered => connection.can_starttls(),
            Protection::Wrapped | Protection::Plain => false,
        };
        if secures {
            let secured = connection.starttls(self.tls.clone(), &self.hello).await;
            secured.map_err(|error| failure(error, Part::Securing))?;
        }
        if let Some(credentials) = &self.credentials {
            let signed_in = connection.auth(DEFAULT_MECHANISMS, credentials).await;
            signed_in.map_err(|error| failure(error, Part::SigningIn))?;
        }
        Ok(connection)
    }

    /// A connection to which sender and recipient of the message are named, and which waits for the message.
    async fn begun(&self, message: &Message) -> Result<AsyncSmtpConnection, MailError> {
        let mut connection = self.connection().await?;
        let envelope = message.envelope();
        let mut commands = vec![commands::Mail::new(envelope.from().cloned(), Vec::new()).to_string()];
        commands.extend(envelope.to().iter().map(|to| commands::Rcpt::new(to.clone(), Vec::new()).to_string()));
        commands.push(commands::Data.to_string());
        for command in commands {
            connection.command(command).await.map_err(|error| failure(error, Part::HandingOver))?;
        }
        Ok(connection)
    }

    /// Keeps a connection for the next message, for a while.
    fn keep(&self, connection: AsyncSmtpConnection) {
        let mut idle = self.idle();
        if idle.len() < IDLE_MAX {
            idle.push((connection, Instant::now()));
            tokio::spawn(close_unused(Arc::downgrade(&self.idle)));
        } else {
            tokio::spawn(take_leave(connection));
        }
    }
}

/// Closes the connections that nobody used for [`IDLE_LASTS`].
async fn close_unused(idle: Weak<Idle>) {
    sleep(IDLE_LASTS).await;
    let Some(idle) = idle.upgrade() else { return };
    let is_old = |since: Instant| since.elapsed() >= IDLE_LASTS;
    let old: Vec<_> = {
        let mut idle = idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.extract_if(.., |(_, since)| is_old(*since)).collect()
    };
    for (connection, _) in old {
        take_leave(connection).await;
    }
}

/// Ends a connection after a complete exchange. A server that does not reply is left.
async fn take_leave(mut connection: AsyncSmtpConnection) {
    let _: Result<_, _> = timeout(CHECK_WITHIN, connection.quit()).await;
}

#[async_trait]
impl Mailer for SmtpMailer {
    async fn send(&self, mail: Mail) -> Result<Option<MailReply>, MailError> {
        let message = self.letterhead.message(&mail)?;
        let begun = timeout(BEGIN_WITHIN, self.begun(&message)).await;
        let mut connection = begun.unwrap_or_else(|late| Err(too_late(late)))?;
        let accepting = timeout(ACCEPT_WITHIN, connection.message(&message.formatted())).await;
        let reply = match accepting {
            Ok(Ok(reply)) => reply,
            Ok(Err(error)) => {
                // Without a reply, the message may have been accepted.
                let lost = error.status().is_none();
                let failed = failure(error, Part::HandingOver);
                return Err(if lost { failed.maybe_delivered() } else { failed });
            }
            Err(late) => return Err(too_late(late).maybe_delivered()),
        };
        let accepted = reply.code().severity == Severity::PositiveCompletion;
        let reply = MailReply { code: Some(reply.code().into()), text: reply.message().collect::<Vec<_>>().join(" ") };
        if !accepted {
            return Err(MailError::new("the reply to the message does not accept it").with_reply(reply));
        }
        self.keep(connection);
        Ok(Some(reply))
    }

    fn sender(&self) -> String {
        self.letterhead.sender()
    }
}

fn too_late(late: Elapsed) -> MailError {
    let text = "The mail server did not answer in time.".to_owned();
    MailError::new(late).with_reply(MailReply { code: None, text })
}

/// A failure with what the organization sees of it: the server's reply about the email. Replies about the connection and
/// the account are the operator's business, as is where the server is: for them, the text says what failed.
fn failure(error: Error, part: Part) -> MailError {
    let code = error.status().map(u16::from);
    let handing_over = matches!(part, Part::HandingOver) && code.is_some();
    let said = error.source().filter(|_| handing_over).map(ToString::to_string);
    let words = || said.iter().flat_map(|said| said.split_whitespace());
    let refuses = code.is_some_and(|code| NO_MAILBOX.contains(&code));
    let lasts = refuses && words().any(|word| OF_THE_RECIPIENT.contains(&word));
    let text = said.clone().unwrap_or_else(|| {
        let reason = match part {
            _ if error.is_timeout() => "The mail server did not answer in time.",
            Part::Connecting if code.is_some() => "The mail server refused the connection.",
            Part::Connecting if !is_about_tls(&error) => "The mail server could not be reached.",
            Part::Connecting | Part::Securing => "The connection to the mail server could not be secured.",
            Part::SigningIn => "Kalends could not sign in at the mail server.",
            Part::HandingOver => "The connection to the mail server was lost.",
        };
        reason.to_owned()
    });
    let failed = if lasts { MailError::lasting(error) } else { MailError::new(error) };
    failed.with_reply(MailReply { code, text })
}

/// Whether connecting failed because of TLS, which reports invalid data.
fn is_about_tls(error: &Error) -> bool {
    let mut causes = iter::successors(error.source(), |&cause| cause.source());
    let cause = causes.find_map(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::InvalidData)
}

#[cfg(test)]
mod tests {
    use mail_parser::MessageParser;
    use rstest::rstest;

    use super::*;
    use crate::stand_ins::{HANGS, SmtpStandIn, WAITS_ON, letterhead, mail};

    async fn mailer(url: &str) -> SmtpMailer {
        SmtpMailer::new(&url.parse().unwrap(), letterhead("kalends.example")).unwrap()
    }

    #[tokio::test]
    async fn messages_arrive_at_the_server() {
        let server = SmtpStandIn::start("250 accepted").await;
        let mailer = mailer(&format!("smtp://127.0.0.1:{}", server.port)).await;
        mailer.send(mail()).await.unwrap();
        mailer.send(Mail { text: "A line.\n.\n.dots\n".into(), ..mail() }).await.unwrap();

        let taken = server.taken();
        assert_eq!(taken.len(), 2);
        assert_eq!(taken[0].from, "<no-reply@kalends.example>");
        assert_eq!(taken[0].to, ["<ada@example.com>"]);
        let message = MessageParser::new().parse(&taken[0].message).unwrap();
        assert_eq!(message.subject(), Some("Ihr Schlüssel"));
        assert_eq!(message.body_text(0).unwrap().replace("\r\n", "\n").trim_end(), mail().text.trim_end());
        let second = MessageParser::new().parse(&taken[1].message).unwrap();
        assert_eq!(second.body_text(0).unwrap().replace("\r\n", "\n").trim_end(), "A line.\n.\n.dots");
    }

    #[tokio::test]
    async fn an_account_in_the_url_is_used() {
        let server = SmtpStandIn::start("250 accepted").await;
        mailer(&format!("smtp://ada:p%40ss@127.0.0.1:{}", server.port)).await.send(mail()).await.unwrap();
        // Base64 of "\0ada\0p@ss".
        assert_eq!(server.signed_in(), ["AUTH PLAIN AGFkYQBwQHNz"]);
    }

    #[tokio::test]
    async fn a_refusal_is_an_error_without_the_message_text() {
        let server = SmtpStandIn::start("550 no such mailbox").await;
        let error = mailer(&format!("smtp://127.0.0.1:{}", server.port)).await.send(mail()).await.unwrap_err();
        let printed = format!("{error:?} {error}");
        assert!(!printed.contains("314159"), "{printed}");
        assert!(server.taken().is_empty());
    }

    #[rstest]
    #[case::no_such_mailbox("550 5.1.1 no such mailbox", true)]
    #[case::no_such_domain("550 5.1.2 no such domain", true)]
    #[case::of_the_sender("553 5.1.8 bad sender address", false)]
    #[case::no_relay("550 5.7.1 relaying denied", false)]
    #[case::without_a_status("550 no", false)]
    #[case::greylisted("451 try again later", false)]
    #[case::full("452 insufficient storage", false)]
    #[case::a_wrong_password("535 authentication failed", false)]
    #[tokio::test]
    async fn only_the_refusal_of_a_mailbox_lasts(#[case] verdict: &'static str, #[case] lasts: bool) {
        let server = SmtpStandIn::start(verdict).await;
        let mailer = mailer(&format!("smtp://127.0.0.1:{}", server.port)).await;
        assert_eq!(mailer.send(mail()).await.unwrap_err().is_lasting(), lasts);
    }

    fn replied(error: &MailError) -> (Option<u16>, &str) {
        (error.reply().code, error.reply().text.as_str())
    }

    #[tokio::test]
    async fn a_dead_connection_does_not_last() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let error = mailer(&format!("smtp://127.0.0.1:{port}")).await.send(mail()).await.unwrap_err();
        assert!(!error.is_lasting());
        assert_eq!(replied(&error), (None, "The mail server could not be reached."));
    }

    #[tokio::test]
    async fn the_replies_of_the_server_are_returned() {
        let server = SmtpStandIn::start("250 accepted").await;
        let reply = mailer(&format!("smtp://127.0.0.1:{}", server.port)).await.send(mail()).await.unwrap();
        assert_eq!(reply, Some(MailReply { code: Some(250), text: "taken".to_owned() }));
        let server = SmtpStandIn::start("451-4.7.1 greylisted\r\n451 4.7.1 try again later").await;
        let error = mailer(&format!("smtp://127.0.0.1:{}", server.port)).await.send(mail()).await.unwrap_err();
        assert_eq!(error.reply().code, Some(451));
        assert!(error.reply().text.contains("greylisted"), "{}", error.reply().text);
    }

    #[tokio::test]
    async fn a_message_that_the_server_still_waits_for_is_not_sent() {
        let server = SmtpStandIn::start(WAITS_ON).await;
        let mailer = mailer(&format!("smtp://127.0.0.1:{}", server.port)).await;
        let error = mailer.send(mail()).await.unwrap_err();
        assert_eq!(replied(&error), (Some(354), "go on"));
        assert!(mailer.idle().is_empty(), "the next command would be taken for a part of the message");
    }

    #[tokio::test]
    async fn a_connection_is_used_again() {
        let server = SmtpStandIn::start("250 accepted").await;
        let mailer = mailer(&format!("smtp://127.0.0.1:{}", server.port)).await;
        for _ in 0..3 {
            mailer.send(mail()).await.unwrap();
        }
        assert_eq!((server.connections(), mailer.idle().len()), (1, 1));
        // Not if it was kept too long.
        tokio::time::pause();
        tokio::time::advance(IDLE_LASTS).await;
        tokio::time::resume();
        mailer.send(mail()).await.unwrap();
        assert_eq!((server.connections(), mailer.idle().len()), (2, 1));
        assert_eq!(server.taken().len(), 4);
    }

    #[tokio::test]
    async fn a_server_that_says_nothing_is_given_up() {
        let server = SmtpStandIn::start(HANGS).await;
        let mailer = mailer(&format!("smtp://127.0.0.1:{}", server.port)).await;
        let sending = tokio::spawn(async move { (mailer.send(mail()).await, mailer) });
        server.waits().await;
        tokio::time::pause();
        tokio::time::advance(BEGIN_WITHIN).await;
        let (sent, mailer) = sending.await.unwrap();
        let error = sent.unwrap_err();
        assert!(!error.is_lasting());
        assert_eq!(replied(&error), (None, "The mail server did not answer in time."));
        assert!(mailer.idle().is_empty(), "a connection on which a reply is missing is closed");
    }

    #[tokio::test]
    async fn a_server_without_tls_gets_nothing() {
        let server = SmtpStandIn::start("250 accepted").await;
        let error =
            mailer(&format!("smtps://ada:secret@127.0.0.1:{}", server.port)).await.send(mail()).await.unwrap_err();
        assert_eq!(replied(&error), (None, "The connection to the mail server could not be secured."), "{error:?}");
        assert!(server.signed_in().is_empty() && server.taken().is_empty());
    }

    #[tokio::test]
    async fn credentials_are_not_sent_to_another_machine_in_the_clear() {
        let server = SmtpStandIn::start("250 accepted").await;
        let mut url: SmtpUrl = format!("smtp://ada:secret@127.0.0.1:{}", server.port).parse().unwrap();
        // Pretend that the stand-in, which does not offer STARTTLS, is on another machine.
        url.protection = Protection::Required;
        let mailer = SmtpMailer::new(&url, letterhead("kalends.example")).unwrap();
        let error = mailer.send(mail()).await.unwrap_err();
        assert_eq!(replied(&error), (None, "The connection to the mail server could not be secured."));
        assert!(server.signed_in().is_empty() && server.taken().is_empty());
    }

    #[tokio::test]
    async fn debug_output_has_no_account() {
        let mailer = mailer("smtps://ada:secret@mail.example.com").await;
        assert_eq!(format!("{mailer:?}"), "SmtpMailer(…)");
    }
}
