//! The parts of a proposal that stores keep as documents.

use kalends_kernel::{IdError, Metadata, Span, SpanError, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Proposal, Response, Slot, Weight};

/// The text of a proposal, which stores seal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Confidential {
    title: String,
    description: Option<String>,
    metadata: Map<String, Value>,
}

impl Confidential {
    /// That of a proposal, as bytes.
    pub fn write(proposal: &Proposal) -> Vec<u8> {
        let document = Self {
            title: proposal.title.clone(),
            description: proposal.description.clone(),
            metadata: proposal.metadata.as_map().clone(),
        };
        bytes(&document)
    }

    /// Title, description and metadata.
    ///
    /// # Errors
    /// The bytes are no such document.
    pub fn read(bytes: &[u8]) -> Result<(String, Option<String>, Metadata), serde_json::Error> {
        let document: Self = serde_json::from_slice(bytes)?;
        let metadata = Metadata::from_json(&Value::Object(document.metadata).to_string())?;
        Ok((document.title, document.description, metadata))
    }
}

/// The words of a response, which stores seal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    message: Option<String>,
    /// Start and end in microseconds.
    counter_slots: Vec<(i64, i64)>,
}

impl Remark {
    /// That of a response, as bytes.
    pub fn write(response: &Response) -> Vec<u8> {
        let ends = |span: &Span| (span.start().as_micros(), span.end().as_micros());
        let counter_slots = response.counter_slots.iter().map(ends).collect();
        bytes(&Self { message: response.message.clone(), counter_slots })
    }

    /// Message and counter-proposals.
    ///
    /// # Errors
    /// The bytes are no such document.
    pub fn read(bytes: &[u8]) -> Result<(Option<String>, Vec<Span>), DocumentError> {
        let document: Self = serde_json::from_slice(bytes)?;
        let spans = document.counter_slots.into_iter().map(span).collect::<Result<_, _>>()?;
        Ok((document.message, spans))
    }
}

/// Why a stored document makes no sense.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// It is not of that shape.
    #[error("the document has another shape")]
    Shape(#[from] serde_json::Error),
    /// A time ends before it starts.
    #[error("a time of the document is none")]
    Span(#[from] SpanError),
    /// What should identify something does not.
    #[error("an identifier of the document is none")]
    Id(#[from] IdError),
}

/// A slot as it is kept.
#[derive(Serialize, Deserialize)]
struct StoredSlot {
    id: String,
    /// Microseconds.
    start: i64,
    /// Microseconds.
    end: i64,
    weight: Weight,
    #[serde(skip_serializing_if = "Option::is_none")]
    calendar: Option<String>,
}

/// The slots of a proposal as JSON text.
pub fn write_slots(slots: &[Slot]) -> String {
    let stored: Vec<StoredSlot> = slots
        .iter()
        .map(|slot| StoredSlot {
            id: slot.id.to_string(),
            start: slot.span.start().as_micros(),
            end: slot.span.end().as_micros(),
            weight: slot.weight,
            calendar: slot.calendar.map(|calendar| calendar.to_string()),
        })
        .collect();
    // Numbers, texts and a list of them: nothing here can fail to be written.
    serde_json::to_string(&stored).unwrap_or_default()
}

/// The slots that the JSON text tells.
///
/// # Errors
/// The text is no such document.
pub fn read_slots(text: &str) -> Result<Vec<Slot>, DocumentError> {
    let stored: Vec<StoredSlot> = serde_json::from_str(text)?;
    let read = stored.into_iter().map(|slot| {
        Ok(Slot {
            id: slot.id.parse()?,
            span: span((slot.start, slot.end))?,
            weight: slot.weight,
            calendar: slot.calendar.as_deref().map(str::parse).transpose()?,
        })
    });
    read.collect()
}

fn span((start, end): (i64, i64)) -> Result<Span, SpanError> {
    Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end))
}

fn bytes(document: &impl Serialize) -> Vec<u8> {
    // String keys and no failing serializers: this cannot fail, and an empty document would not be read back as one.
    serde_json::to_vec(document).unwrap_or_default()
}
