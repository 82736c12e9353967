//! Email over SMTP.

use std::{error::Error as _, fmt, io, time::Duration};

use async_trait::async_trait;
use kalends_app::ports::{Mail, MailError, MailReply, Mailer};
use lettre::{
    AsyncSmtpTransport, AsyncTransport, Tokio1Executor,
    transport::smtp::{
        self, PoolConfig,
        client::{Tls, TlsParameters},
    },
};

use crate::{Letterhead, SmtpUrl, smtp_url::Protection};

/// The replies that can say that there is no such mailbox (RFC 5321 section 4.2.3).
const NO_MAILBOX: [u16; 3] = [550, 551, 553];
/// The status codes about the address of the recipient (RFC 3463 section 3.2, RFC 7505). Without one, a reply may as well be
/// about the sender, and end when the operator corrects the settings.
const OF_THE_RECIPIENT: [&str; 5] = ["5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10"];
/// The timeout of one SMTP command. Some requests wait until their email is sent.
const TIMEOUT: Duration = Duration::from_secs(15);
/// The most connections to the server.
const CONNECTIONS: u32 = 4;

/// Sends messages to an SMTP server over a few pooled connections.
pub struct SmtpMailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    letterhead: Letterhead,
}

impl fmt::Debug for SmtpMailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SmtpMailer(…)")
    }
}

impl SmtpMailer {
    /// A mailer for the server of `url`. It connects when it sends the first message. Call this inside a tokio
    /// runtime, because the connection pool spawns a task.
    ///
    /// # Errors
    /// If TLS cannot be set up for that host.
    pub fn new(url: &SmtpUrl, letterhead: Letterhead) -> io::Result<Self> {
        let parameters = || TlsParameters::new(url.host.clone()).map_err(io::Error::other);
        let tls = match url.protection {
            Protection::Wrapped => Tls::Wrapper(parameters()?),
            Protection::Required => Tls::Required(parameters()?),
            Protection::Offered => Tls::Opportunistic(parameters()?),
            Protection::Plain => Tls::None,
        };
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(url.host.clone())
            .port(url.port)
            .tls(tls)
            .timeout(Some(TIMEOUT))
            .pool_config(PoolConfig::new().max_size(CONNECTIONS));
        if let Some(credentials) = url.credentials() {
            builder = builder.credentials(credentials);
        }
        Ok(Self { transport: builder.build(), letterhead })
    }
}

#[async_trait]
impl Mailer for SmtpMailer {
    async fn send(&self, mail: Mail) -> Result<Option<MailReply>, MailError> {
        let message = self.letterhead.message(&mail)?;
        let accepted = self.transport.send(message).await.map_err(failure)?;
        let text = accepted.message().collect::<Vec<_>>().join(" ");
        Ok(Some(MailReply { code: Some(accepted.code().into()), text }))
    }

    fn sender(&self) -> String {
        self.letterhead.sender()
    }
}

/// A failure with the server's reply. Without a reply, the text says what failed, but not where: the organization that
/// reads it does not operate the server.
fn failure(error: smtp::Error) -> MailError {
    let code = error.status().map(u16::from);
    let said = error.source().map(ToString::to_string).filter(|_| code.is_some());
    let refuses = code.is_some_and(|code| NO_MAILBOX.contains(&code));
    let words = || said.iter().flat_map(|said| said.split_whitespace());
    let lasts = refuses && words().any(|word| OF_THE_RECIPIENT.contains(&word));
    let text = said.clone().unwrap_or_else(|| {
        let reason = if error.is_timeout() {
            "The mail server did not answer in time."
        } else if error.is_tls() {
            "The connection to the mail server could not be secured."
        } else {
            "The mail server could not be reached, or the connection was lost."
        };
        reason.to_owned()
    });
    let failed = if lasts { MailError::lasting(error) } else { MailError::new(error) };
    failed.with_reply(code, text)
}

#[cfg(test)]
mod tests {
    use mail_parser::MessageParser;
    use rstest::rstest;

    use super::*;
    use crate::stand_ins::{SmtpStandIn, letterhead, mail};

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

    #[tokio::test]
    async fn a_dead_connection_does_not_last() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        assert!(!mailer(&format!("smtp://127.0.0.1:{port}")).await.send(mail()).await.unwrap_err().is_lasting());
    }

    #[tokio::test]
    async fn credentials_are_not_sent_to_another_machine_in_the_clear() {
        let server = SmtpStandIn::start("250 accepted").await;
        let mut url: SmtpUrl = format!("smtp://ada:secret@127.0.0.1:{}", server.port).parse().unwrap();
        // Pretend that the stand-in, which does not offer STARTTLS, is on another machine.
        url.protection = Protection::Required;
        let mailer = SmtpMailer::new(&url, letterhead("kalends.example")).unwrap();
        assert!(mailer.send(mail()).await.is_err());
        assert!(server.signed_in().is_empty() && server.taken().is_empty());
    }

    #[tokio::test]
    async fn debug_output_has_no_account() {
        let mailer = mailer("smtps://ada:secret@mail.example.com").await;
        assert_eq!(format!("{mailer:?}"), "SmtpMailer(…)");
    }
}
