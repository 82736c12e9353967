//! A row of `idempotent_answers`, whose body is sealed.

use kalends_app::{
    Answer, StoredAnswer,
    ports::{FieldCipher, Place},
};
use kalends_kernel::{StoreError, Timestamp, Version};
use uuid::Uuid;

use super::Row;

pub(crate) struct AnswerRow {
    pub(crate) fingerprint: Vec<u8>,
    pub(crate) status: i64,
    pub(crate) resource_version: Option<i64>,
    pub(crate) body: Option<String>,
    pub(crate) created_at: i64,
    pub(crate) expires_at: i64,
}

/// Where the body of the answer under `scope` is sealed. A scope is twice as long as an identifier, and its first
/// half is practically unique.
pub(crate) fn body_place(scope: &[u8; 32]) -> Place {
    let mut half = [0; 16];
    half.copy_from_slice(&scope[..16]);
    Place { table: "idempotent_answers", column: "body", id: Uuid::from_bytes(half) }
}

impl AnswerRow {
    pub(crate) fn read(self, scope: [u8; 32], cipher: &dyn FieldCipher) -> Result<StoredAnswer, StoreError> {
        let place = body_place(&scope);
        let id = place.id.simple();
        let row = Row { table: "idempotent_answers", id: &id };
        let body = match self.body.as_deref() {
            Some(sealed) => {
                let plain = row.read("body", cipher.open(place, sealed))?;
                Some(row.read("body", String::from_utf8(plain))?)
            }
            None => None,
        };
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
