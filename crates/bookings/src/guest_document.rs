//! What stores keep sealed of a booking.

use kalends_kernel::{Email, EventId, Locale};
use kalends_time::Zone;
use serde::{Deserialize, Serialize};

use crate::{
    booking::{Booking, KnownAs},
    guest::{Guest, Sees},
    questions::Answers,
    secret::BookingToken,
};

/// What a store keeps sealed of a booking, as one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestDocument {
    /// The guest.
    pub guest: Guest,
    /// The events of the booking on other calendars.
    pub also: Vec<EventId>,
    /// How calendars outside the service know its event.
    pub known_as: Option<KnownAs>,
    /// The token to move it.
    pub kept_token: Option<BookingToken>,
}

/// The plain form of a [`GuestDocument`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    name: String,
    email: String,
    notes: Option<String>,
    #[serde(default, skip_serializing_if = "Answers::is_empty")]
    answers: Answers,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timezone: Option<Zone>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    sees_place: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    sees_call: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    also_events: Vec<EventId>,
    /// The identifier and the number of [`KnownAs`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    known_as: Option<(EventId, i64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    move_token: Option<String>,
}

/// The document does not contain the fields of a guest. The error does not repeat its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a document of a guest")]
pub struct GuestDocumentError;

impl GuestDocument {
    /// That of a booking.
    pub fn of(booking: &Booking) -> Self {
        let Booking { guest, also, known_as, kept_token, .. } = booking.clone();
        Self { guest, also, known_as, kept_token }
    }

    /// Writes the document.
    pub fn write(self) -> Vec<u8> {
        let Self { guest, also, known_as, kept_token } = self;
        let Guest { name, email, notes, answers, zone, locale, sees } = guest;
        let plain = Plain {
            name,
            email: email.as_str().to_owned(),
            notes,
            answers,
            timezone: zone,
            language: (locale != Locale::DEFAULT).then(|| locale.to_string()),
            sees_place: sees.place,
            sees_call: sees.call,
            also_events: also,
            known_as: known_as.map(|known| (known.event, known.offset)),
            move_token: kept_token.map(|token| token.reveal().to_owned()),
        };
        // Serializing texts and booleans cannot fail.
        serde_json::to_vec(&plain).unwrap_or_default()
    }

    /// Reads a document.
    ///
    /// # Errors
    /// [`GuestDocumentError`].
    pub fn read(document: &[u8]) -> Result<Self, GuestDocumentError> {
        let plain: Plain = serde_json::from_slice(document).map_err(|_| GuestDocumentError)?;
        let Plain { name, email, notes, answers, timezone, sees_place, sees_call, also_events: also, .. } = plain;
        let sees = Sees { place: sees_place, call: sees_call };
        // A later version may know more languages. One that this version does not know is lost when it writes the document.
        let locale = plain.language.and_then(|tag| tag.parse().ok()).unwrap_or(Locale::DEFAULT);
        let guest = Guest { name, email: Email::from_stored(email), notes, answers, zone: timezone, locale, sees };
        let known_as = plain.known_as.map(|(event, offset)| KnownAs { event, offset });
        let kept_token = plain.move_token.as_deref().map(BookingToken::presented);
        Ok(Self { guest, also, known_as, kept_token })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::{Question, QuestionType, Questions};

    #[test]
    fn documents_round_trip() {
        let guest = Guest::parse("Ada \"the\" Countess", "ada@example.com", Some("line\nbreak")).unwrap();
        let document =
            |guest: &Guest| GuestDocument { guest: guest.clone(), also: vec![], known_as: None, kept_token: None };
        let read_back = |document: &GuestDocument| GuestDocument::read(&document.clone().write());
        assert_eq!(read_back(&document(&guest)), Ok(document(&guest)));
        let asked = vec![Question {
            id: "vip".into(),
            label: "VIP?".into(),
            kind: QuestionType::Checkbox,
            required: true,
            options: vec![],
        }];
        let given = serde_json::json!({ "vip": true });
        let answers = Questions::new(asked).unwrap().read(given.as_object().unwrap()).unwrap();
        let sees = Sees { place: true, call: true };
        let (zone, locale) = (Some("Australia/Lord_Howe".parse().unwrap()), "pt-BR".parse().unwrap());
        let guest = Guest { answers, sees, zone, locale, ..guest };
        let also = vec!["evt_01jn8r6v9ke0bt3m5qz2c7xwdh".parse().unwrap()];
        let kept_token = Some(BookingToken::presented("dGhlIG1vdmUgdG9rZW4h"));
        let known_as = Some(KnownAs { event: also[0], offset: -3 });
        let full = GuestDocument { also, known_as, kept_token, ..document(&guest) };
        assert_eq!(read_back(&full), Ok(full));
        assert_eq!(Guest::parse("Ada", "ada@example.com", Some(" \n")).unwrap().notes, None);
        for broken in ["", "{}", r#"{"name":"Ada","email":"a@b.example","notes":null,"phone":"1"}"#] {
            assert_eq!(GuestDocument::read(broken.as_bytes()), Err(GuestDocumentError), "{broken}");
        }
    }
}
