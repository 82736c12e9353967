//! A mailer that stores the emails it is given.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use kalends_accounts::Email;
use kalends_app::ports::{Mail, MailError, MailReply, Mailer};

/// The end of addresses at which there are no mailboxes.
const GONE: &str = "@gone.example";

/// Accepts every email and stores it for inspection, except to `@gone.example`, where nobody has a mailbox. Clones are
/// the same mailbox.
#[derive(Debug, Clone, Default)]
pub struct Mailbox {
    mails: Arc<Mutex<Vec<Mail>>>,
    refuses: Arc<AtomicBool>,
}

impl Mailbox {
    /// Every email so far, in order.
    pub fn mails(&self) -> Vec<Mail> {
        self.lock().clone()
    }

    /// The emails to `address`, in order.
    pub fn mails_to(&self, address: &Email) -> Vec<Mail> {
        self.lock().iter().filter(|mail| mail.to == *address).cloned().collect()
    }

    /// The last email to `address`.
    pub fn last_to(&self, address: &Email) -> Option<Mail> {
        self.mails_to(address).pop()
    }

    /// Removes and returns all emails.
    pub fn empty(&self) -> Vec<Mail> {
        std::mem::take(&mut *self.lock())
    }

    /// Sets whether every email is refused from now on.
    pub fn refuse(&self, refuses: bool) {
        self.refuses.store(refuses, Ordering::SeqCst);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Mail>> {
        self.mails.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn reply(code: u16, text: &str) -> MailReply {
    MailReply { code: Some(code), text: text.to_owned() }
}

#[async_trait]
impl Mailer for Mailbox {
    async fn send(&self, mail: Mail) -> Result<Option<MailReply>, MailError> {
        if self.refuses.load(Ordering::SeqCst) {
            return Err(MailError::new("the mailbox refuses all mail").with_reply(reply(451, "4.7.1 try again later")));
        }
        if mail.to.as_str().ends_with(GONE) {
            let text = format!("5.1.1 no mailbox {}", mail.to.as_str());
            return Err(MailError::lasting("there is no such mailbox").with_reply(reply(550, &text)));
        }
        self.lock().push(mail);
        Ok(Some(reply(250, "2.0.0 queued")))
    }

    fn sender(&self) -> String {
        "no-reply@kalends.test".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn keeps_what_it_accepts() {
        let mailbox = Mailbox::default();
        let to = |address: &str| Email::parse("email", address).unwrap();
        let mail = |address: &str, subject: &str| Mail {
            to: to(address),
            subject: subject.into(),
            text: "…".into(),
            html: "<p>…</p>".into(),
            calendar: None,
            agreed: false,
            until: None,
            reply_to: None,
        };
        mailbox.send(mail("ada@example.com", "one")).await.unwrap();
        mailbox.send(mail("bob@example.com", "two")).await.unwrap();
        mailbox.clone().send(mail("ada@example.com", "three")).await.unwrap();
        mailbox.refuse(true);
        mailbox.send(mail("ada@example.com", "four")).await.unwrap_err();
        assert_eq!(mailbox.mails_to(&to("ada@example.com")).len(), 2);
        assert_eq!(mailbox.last_to(&to("ada@example.com")).unwrap().subject, "three");
        assert_eq!(mailbox.empty().len(), 3);
        assert!(mailbox.mails().is_empty());
    }
}
