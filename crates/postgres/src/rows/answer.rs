//! A row of `idempotent_answers`.

use kalends_app::ports::FieldCipher;
use kalends_app::{Answer, StoredAnswer};
use kalends_kernel::{StoreError, Timestamp, Version};

use super::Located;
use crate::sealed;

/// The columns of a stored answer.
pub(crate) struct AnswerRow {
    pub(crate) scope: Vec<u8>,
    pub(crate) fingerprint: Vec<u8>,
    pub(crate) status: i32,
    pub(crate) resource_version: Option<i64>,
    pub(crate) body: Option<String>,
    pub(crate) created_at: i64,
    pub(crate) expires_at: i64,
}

/// Locates an answer. Its scope, in hexadecimal digits, serves as the identifier.
pub(crate) fn located_answer(scope: &[u8]) -> Located<String> {
    Located { table: "idempotent_answers", id: scope.iter().map(|byte| format!("{byte:02x}")).collect() }
}

impl AnswerRow {
    pub(crate) fn into_domain(self, cipher: &dyn FieldCipher) -> Result<StoredAnswer, StoreError> {
        let row = located_answer(&self.scope);
        let scope = row.hash("scope", &self.scope)?;
        let body = match self.body {
            None => None,
            Some(body) => {
                let opened =
                    cipher.open(sealed::answer_body(&scope), &body).map_err(|error| row.corrupt("body", error))?;
                Some(String::from_utf8(opened).map_err(|error| row.corrupt("body", error))?)
            }
        };
        let status = u16::try_from(self.status).map_err(|_| row.corrupt("status", "is not an HTTP status"))?;
        Ok(StoredAnswer {
            scope,
            fingerprint: row.hash("fingerprint", &self.fingerprint)?,
            answer: Answer { status, body, version: self.resource_version.map(Version) },
            created_at: Timestamp::from_micros(self.created_at),
            expires_at: Timestamp::from_micros(self.expires_at),
        })
    }
}
