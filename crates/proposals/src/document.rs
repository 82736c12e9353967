//! The parts of a proposal that stores keep as documents.

use kalends_kernel::{IdError, Metadata};
use kalends_time::{Span, SpanError, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{NewSlot, Proposal, Response, Slot, Weight};

/// The text and metadata of a proposal, which stores seal.
///
/// ```
#[doc = include_str!("offered.txt")]
/// use kalends_kernel::Metadata;
/// use kalends_proposals::Confidential;
///
/// let document = Confidential::write(&proposal);
/// assert_eq!(Confidential::read(&document)?, ("Kick-off".to_owned(), None, Metadata::default()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Confidential {
    title: String,
    description: Option<String>,
    metadata: Map<String, Value>,
}

impl Confidential {
    /// Writes the document of a proposal. [`Confidential`] has an example.
    pub fn write(proposal: &Proposal) -> Vec<u8> {
        let document = Self {
            title: proposal.title().to_owned(),
            description: proposal.description().map(str::to_owned),
            metadata: proposal.metadata().as_map().clone(),
        };
        bytes(&document)
    }

    /// Reads the title, the description and the metadata. [`Confidential`] has an example.
    ///
    /// # Errors
    /// If the bytes are not such a document.
    pub fn read(bytes: &[u8]) -> Result<(String, Option<String>, Metadata), serde_json::Error> {
        let document: Self = serde_json::from_slice(bytes)?;
        let metadata = Metadata::from_json(&Value::Object(document.metadata).to_string())?;
        Ok((document.title, document.description, metadata))
    }
}

/// The message and the counter-proposals of a response, which stores seal.
///
/// ```
#[doc = include_str!("offered.txt")]
/// use kalends_proposals::{NewResponse, Remark};
///
/// let counter = NewResponse::counter(None).with_message("Earlier?".to_owned());
/// let answered = proposal.respond(ben, counter, now, &entropy)?;
/// let document = Remark::write(&answered.responses()[0]);
/// assert_eq!(Remark::read(&document)?, (Some("Earlier?".to_owned()), Vec::new()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    message: Option<String>,
    /// Start and end in microseconds.
    counter_slots: Vec<(i64, i64)>,
}

impl Remark {
    /// Writes the document of a response. [`Remark`] has an example.
    pub fn write(response: &Response) -> Vec<u8> {
        let ends = |span: &Span| (span.start().as_micros(), span.end().as_micros());
        let counter_slots = response.counter_slots().iter().map(ends).collect();
        bytes(&Self { message: response.message().map(str::to_owned), counter_slots })
    }

    /// Reads the message and the counter-proposals. [`Remark`] has an example.
    ///
    /// # Errors
    /// If the bytes are not such a document.
    pub fn read(bytes: &[u8]) -> Result<(Option<String>, Vec<Span>), DocumentError> {
        let document: Self = serde_json::from_slice(bytes)?;
        let spans = document.counter_slots.into_iter().map(span).collect::<Result<_, _>>()?;
        Ok((document.message, spans))
    }
}

/// Why a stored document is invalid.
///
/// ```
/// use kalends_proposals::{DocumentError, Remark};
///
/// let backwards = br#"{"message":null,"counter_slots":[[2,1]]}"#;
/// assert!(matches!(Remark::read(backwards), Err(DocumentError::Span(_))));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// It does not have the expected shape.
    #[error("the document does not have the expected shape")]
    Shape(#[from] serde_json::Error),
    /// The end of a time is not after its start.
    #[error("a time in the document is invalid")]
    Span(#[from] SpanError),
    /// An identifier is invalid.
    #[error("an identifier in the document is invalid")]
    Id(#[from] IdError),
}

/// The stored form of a slot.
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
///
/// ```
#[doc = include_str!("offered.txt")]
/// use kalends_proposals::{read_slots, write_slots};
///
/// let text = write_slots(proposal.slots());
/// assert_eq!(read_slots(&text)?, proposal.slots());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    // Serializing numbers and strings cannot fail.
    serde_json::to_string(&stored).unwrap_or_default()
}

/// Reads the slots from JSON text. [`write_slots`] has an example.
///
/// # Errors
/// If the text is not such a document.
pub fn read_slots(text: &str) -> Result<Vec<Slot>, DocumentError> {
    let stored: Vec<StoredSlot> = serde_json::from_str(text)?;
    let read = stored.into_iter().map(|slot| {
        let calendar = slot.calendar.as_deref().map(str::parse).transpose()?;
        let fields = NewSlot::new(span((slot.start, slot.end))?).with_weight(slot.weight).with_calendar(calendar);
        Ok(Slot::from_stored(slot.id.parse()?, fields))
    });
    read.collect()
}

fn span((start, end): (i64, i64)) -> Result<Span, SpanError> {
    Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end))
}

fn bytes(document: &impl Serialize) -> Vec<u8> {
    // With string keys and infallible serializers, this cannot fail. If it did, reading the empty document would.
    serde_json::to_vec(document).unwrap_or_default()
}
