//! The file mailbox, which writes each message to a file.

use std::{
    fs::{DirBuilder, OpenOptions, rename},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use kalends_app::ports::{Mail, MailError, MailReply, Mailer};
use kalends_kernel::{base64url, random_bytes};

use crate::Letterhead;

/// Writes each message to `DIR/<time>-<random>.eml`. The names that one process writes sort in the order of sending.
/// Only the owner can read the files.
#[derive(Debug)]
pub struct FileMailbox {
    directory: PathBuf,
    letterhead: Letterhead,
    /// The time in the last file's name, in microseconds.
    last: Mutex<i64>,
}

impl FileMailbox {
    /// A mailbox in `directory`, which is created if it is missing.
    ///
    /// # Errors
    /// If the directory cannot be created.
    pub fn new(directory: impl Into<PathBuf>, letterhead: Letterhead) -> io::Result<Self> {
        let directory = directory.into();
        make(&directory)?;
        Ok(Self { directory, letterhead, last: Mutex::new(0) })
    }

    /// A unique name that sorts after all earlier ones.
    fn name(&self) -> String {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = self.letterhead.now().as_micros().max(*last + 1);
        let random = base64url(&random_bytes::<9>(self.letterhead.entropy()));
        // Another process may write in the same microsecond. The random characters keep the names apart.
        format!("{:016}-{random}.eml", *last)
    }
}

#[async_trait]
impl Mailer for FileMailbox {
    async fn send(&self, mail: Mail) -> Result<Option<MailReply>, MailError> {
        let message = self.letterhead.message(&mail)?.formatted();
        let (directory, name) = (self.directory.clone(), self.name());
        tokio::task::spawn_blocking(move || write(&directory, &name, &message))
            .await
            .map_err(MailError::new)?
            .map_err(MailError::new)?;
        Ok(None)
    }

    fn sender(&self) -> String {
        self.letterhead.sender()
    }
}

fn make(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// Writes under a hidden name, then renames: a listing of `*.eml` contains only complete messages.
fn write(directory: &Path, name: &str, message: &[u8]) -> io::Result<()> {
    let hidden = directory.join(format!(".{name}.part"));
    // A developer may delete the mailbox, including its directory, while the service runs.
    make(directory)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&hidden)?;
    file.write_all(message)?;
    rename(&hidden, directory.join(name))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use mail_parser::MessageParser;

    use super::*;
    use crate::stand_ins::{letterhead, mail};

    fn messages(directory: &Path) -> Vec<PathBuf> {
        let mut paths: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    }

    #[tokio::test]
    async fn a_written_message_can_be_parsed() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("data/mail");
        let mailbox = FileMailbox::new(&directory, letterhead("kalends.example")).unwrap();
        mailbox.send(mail()).await.unwrap();

        let paths = messages(&directory);
        assert_eq!(paths.len(), 1);
        assert_eq!(paths[0].extension().unwrap(), "eml");
        assert_eq!(fs::metadata(&paths[0]).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&directory).unwrap().permissions().mode() & 0o777, 0o700);

        let bytes = fs::read(&paths[0]).unwrap();
        let message = MessageParser::new().parse(&bytes).unwrap();
        let from = message.from().unwrap().first().unwrap();
        assert_eq!((from.name(), from.address()), (Some("Kalends"), Some("no-reply@kalends.example")));
        assert_eq!(message.to().unwrap().first().unwrap().address(), Some("ada@example.com"));
        assert_eq!(message.subject(), Some("Ihr Schlüssel"));
        assert_eq!(message.body_text(0).unwrap().replace("\r\n", "\n").trim_end(), mail().text.trim_end());
        assert_eq!(message.body_html(0).unwrap().replace("\r\n", "\n").trim_end(), mail().html.trim_end());
        assert_eq!((message.text_body_count(), message.html_body_count(), message.attachment_count()), (1, 1, 0));
        assert_eq!(message.date().unwrap().to_rfc3339(), "2026-09-21T14:13:20Z");
        assert!(message.message_id().unwrap().ends_with("@kalends.example"));
    }

    #[tokio::test]
    async fn names_sort_in_the_order_of_sending() {
        let root = tempfile::tempdir().unwrap();
        let mailbox = FileMailbox::new(root.path(), letterhead("kalends.example")).unwrap();
        for number in 0..20 {
            mailbox.send(Mail { subject: format!("number {number}"), ..mail() }).await.unwrap();
        }
        let subjects: Vec<_> = messages(root.path())
            .iter()
            .map(|path| {
                let bytes = fs::read(path).unwrap();
                MessageParser::new().parse(&bytes).unwrap().subject().unwrap().to_owned()
            })
            .collect();
        assert_eq!(subjects, (0..20).map(|number| format!("number {number}")).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn a_deleted_mailbox_is_created_again() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("mail");
        let mailbox = FileMailbox::new(&directory, letterhead("kalends.example")).unwrap();
        fs::remove_dir_all(&directory).unwrap();
        mailbox.send(mail()).await.unwrap();
        assert_eq!(messages(&directory).len(), 1);
    }
}
