//! Rows of `letters` and `letter_records`.

use kalends_app::ports::FieldCipher;
use kalends_kernel::{EventId, LetterId, OrgId, StoreError};
use kalends_notifications::{About, ClaimedLetter, Envelope, Fence, Letter, LetterRecord, LetterStatus};
use kalends_time::Timestamp;

use crate::{Key, Located, places, row_id};

columns! {
    /// The columns of a letter that was just claimed.
    pub struct ClaimedLetterRow<K> {
        org_id: K,
        id: K,
        recipient: Vec<u8>,
        about: K,
        occurrence: Option<i64>,
        content: String,
        created_at: i64,
        fence: i64,
        put_off: i64,
        superseded: bool,
    }
}

impl<K: Key> ClaimedLetterRow<K> {
    /// The claim: organization, letter and number. `None` if not even these can be read.
    pub fn claim(&self) -> Option<(OrgId, LetterId, Fence)> {
        let (org, id) = (row_id("letters", "org_id", &self.org_id), row_id("letters", "id", &self.id));
        Some((OrgId::from_uuid(org.ok()?), LetterId::from_uuid(id.ok()?), Fence(self.fence)))
    }

    /// The claimed letter, or an error that names the corrupt column. Its envelope is in its record.
    pub fn open(self, cipher: &dyn FieldCipher) -> Result<ClaimedLetter, StoreError> {
        let id = LetterId::from_uuid(row_id("letters", "id", &self.id)?);
        let row = Located { table: "letters", id: &id };
        let letter = Letter {
            id,
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            recipient: row.digest("recipient", &self.recipient)?,
            about: About {
                event: EventId::from_uuid(row.uuid("about", &self.about)?),
                occurrence: self.occurrence.map(Timestamp::from_micros),
            },
            content: row.open_text(places::letter_content(id), &self.content, cipher)?,
            envelope: None,
            created_at: Timestamp::from_micros(self.created_at),
        };
        Ok(ClaimedLetter {
            letter,
            fence: Fence(self.fence),
            put_off: row.read("put_off", u32::try_from(self.put_off))?,
            superseded: self.superseded,
        })
    }
}

columns! {
    /// The columns of a letter's record, except the organization.
    pub struct LetterRecordRow<K> {
        id: K,
        status: String,
        attempts: i64,
        envelope: String,
        created_at: i64,
        next_attempt_at: Option<i64>,
        ended_at: Option<i64>,
    }
}

impl<K: Key> LetterRecordRow<K> {
    /// The record, or an error that names the corrupt column.
    pub fn open(self, org: OrgId, cipher: &dyn FieldCipher) -> Result<LetterRecord, StoreError> {
        let id = LetterId::from_uuid(row_id("letter_records", "id", &self.id)?);
        let row = Located { table: "letter_records", id: &id };
        let envelope = row.open_text(places::letter_envelope(id), &self.envelope, cipher)?;
        // An error of the parser does not repeat the text: it contains an address.
        let envelope: Envelope = serde_json::from_str(&envelope).map_err(|error| {
            row.corrupt("envelope", format_args!("is not an envelope at column {}", error.column()))
        })?;
        Ok(LetterRecord {
            id,
            org,
            envelope,
            status: row.named("status", &self.status, LetterStatus::from_name)?,
            attempts: row.read("attempts", u32::try_from(self.attempts))?,
            created_at: Timestamp::from_micros(self.created_at),
            next_attempt_at: self.next_attempt_at.map(Timestamp::from_micros),
            ended_at: self.ended_at.map(Timestamp::from_micros),
        })
    }
}

/// The envelope of a letter, sealed for its record.
pub fn sealed_envelope(id: LetterId, envelope: &Envelope, cipher: &dyn FieldCipher) -> String {
    // Cannot fail: an envelope has no maps and no numbers that JSON cannot write.
    let text = serde_json::to_string(envelope).unwrap_or_default();
    cipher.seal(places::letter_envelope(id), text.as_bytes())
}
