//! A row of `idempotent_answers`, whose body is sealed.

use kalends_app::{Answer, StoredAnswer, ports::FieldCipher};
use kalends_kernel::{StoreError, Version};
use kalends_time::Timestamp;

use crate::{Located, places};

columns! {
    /// The columns of a stored answer.
    pub struct AnswerRow {
        fingerprint: Vec<u8>,
        status: i64,
        resource_version: Option<i64>,
        body: Option<String>,
        created_at: i64,
        expires_at: i64,
    }
}

/// Locates an answer. Its scope, in hexadecimal digits, serves as the identifier.
pub fn located_answer(scope: &[u8]) -> Located<String> {
    Located { table: "idempotent_answers", id: scope.iter().map(|byte| format!("{byte:02x}")).collect() }
}

impl AnswerRow {
    /// The answer, or an error that names the corrupt column.
    pub fn open(self, scope: [u8; 32], cipher: &dyn FieldCipher) -> Result<StoredAnswer, StoreError> {
        let row = located_answer(&scope);
        let body = self.body.as_deref();
        let body = body.map(|sealed| row.open_text(places::answer_body(&scope), sealed, cipher)).transpose()?;
        let status = row.read("status", u16::try_from(self.status))?;
        Ok(StoredAnswer {
            scope,
            fingerprint: row.digest("fingerprint", &self.fingerprint)?,
            answer: Answer { status, body, version: self.resource_version.map(Version) },
            created_at: Timestamp::from_micros(self.created_at),
            expires_at: Timestamp::from_micros(self.expires_at),
        })
    }
}
