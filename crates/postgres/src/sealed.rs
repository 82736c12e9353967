//! What is sealed at rest, where each seal belongs, and the plain form inside.
//!
//! Fields are sealed before a transaction begins and opened after the rows have been read, so that
//! no lock and no connection is held meanwhile.

use std::sync::Arc;

use kalends_app::ports::{FieldCipher, Place};
use kalends_app::{ChangeSet, StoredAnswer};
use kalends_calendars::{Change, Event};
use kalends_kernel::{EventId, MessageId, Metadata, StoreError, Version};
use kalends_notifications::Message;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};
use uuid::Uuid;

use crate::error::failed;

/// Where the sealed content of an event stands.
pub(crate) const fn event_content(id: EventId) -> Place {
    Place { table: "events", column: "content", id: id.uuid() }
}

/// Where the sealed payload of a message stands.
pub(crate) const fn message_payload(id: MessageId) -> Place {
    Place { table: "outbox", column: "payload", id: id.uuid() }
}

/// Where the sealed body of an answer stands. Its row has a scope instead of an identifier; half of
/// that hash tells rows apart just as well.
pub(crate) fn answer_body(scope: &[u8; 32]) -> Place {
    let mut half = [0; 16];
    half.copy_from_slice(&scope[..16]);
    Place { table: "idempotent_answers", column: "body", id: Uuid::from_bytes(half) }
}

/// What people wrote about an event.
#[derive(Debug, PartialEq)]
pub(crate) struct Content {
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) metadata: Metadata,
}

#[derive(Serialize)]
struct Written<'a> {
    title: &'a str,
    description: Option<&'a str>,
    metadata: &'a Map<String, Value>,
}

#[derive(Deserialize)]
struct Read<'a> {
    title: String,
    description: Option<String>,
    #[serde(borrow)]
    metadata: &'a RawValue,
}

impl Content {
    /// The plain form of an event's content: a JSON object.
    fn write(event: &Event) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(&Written {
            title: &event.title,
            description: event.description.as_deref(),
            metadata: event.metadata.as_map(),
        })
    }

    /// Reads the plain form.
    pub(crate) fn parse(plain: &[u8]) -> Result<Self, serde_json::Error> {
        let Read { title, description, metadata } = serde_json::from_slice(plain)?;
        Ok(Self { title, description, metadata: Metadata::from_json(metadata.get())? })
    }
}

/// A change-set whose fields are sealed: ready to be written, alone or with others, and again after a
/// retry.
pub(crate) struct SealedChangeSet {
    changes: Arc<ChangeSet>,
    /// The contents of the events that are written, in their order.
    contents: Vec<String>,
    /// The payloads of the messages, in their order.
    payloads: Vec<String>,
    /// The body of the answer.
    body: Option<String>,
}

/// One event to write.
pub(crate) struct EventWrite<'a> {
    pub(crate) event: &'a Event,
    pub(crate) content: &'a str,
    /// The version that was read; `None` for a new event.
    pub(crate) seen: Option<Version>,
}

impl SealedChangeSet {
    pub(crate) fn seal(changes: Arc<ChangeSet>, cipher: &dyn FieldCipher) -> Result<Self, StoreError> {
        let contents = events(&changes).map(|(event, _)| {
            let plain = Content::write(event).map_err(failed)?;
            Ok(cipher.seal(event_content(event.id), &plain))
        });
        let contents = contents.collect::<Result<_, StoreError>>()?;
        let payloads = changes.messages.iter();
        let payloads =
            payloads.map(|message| cipher.seal(message_payload(message.id), message.payload.as_bytes())).collect();
        let body = changes.answer.as_ref().and_then(|stored| {
            let body = stored.answer.body.as_ref()?;
            Some(cipher.seal(answer_body(&stored.scope), body.as_bytes()))
        });
        Ok(Self { changes, contents, payloads, body })
    }

    pub(crate) fn changes(&self) -> &ChangeSet {
        &self.changes
    }

    pub(crate) fn events(&self) -> impl Iterator<Item = EventWrite<'_>> {
        events(&self.changes).zip(&self.contents).map(|((event, seen), content)| EventWrite { event, content, seen })
    }

    pub(crate) fn messages(&self) -> impl Iterator<Item = (&Message, &str)> {
        self.changes.messages.iter().zip(self.payloads.iter().map(String::as_str))
    }

    pub(crate) fn answer(&self) -> Option<(&StoredAnswer, Option<&str>)> {
        self.changes.answer.as_ref().map(|answer| (answer, self.body.as_deref()))
    }

    /// About how many bytes are sent for it.
    pub(crate) fn weight(&self) -> usize {
        const ROW: usize = 256;
        let texts = self.contents.iter().chain(&self.payloads).chain(&self.body);
        texts.map(|text| text.len() + ROW).sum::<usize>() + ROW
    }
}

fn events(changes: &ChangeSet) -> impl Iterator<Item = (&Event, Option<Version>)> {
    changes.calendars.iter().filter_map(|change| match change {
        Change::CreateEvent(event) => Some((event, None)),
        Change::UpdateEvent { event, seen } => Some((event, Some(*seen))),
        Change::CreateAgent(_)
        | Change::UpdateAgent { .. }
        | Change::CreateCalendar(_)
        | Change::UpdateCalendar { .. }
        | Change::PutRules { .. }
        | Change::DeleteRules(_) => None,
    })
}
