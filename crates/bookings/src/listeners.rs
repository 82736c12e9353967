//! The addresses that get an email about each booking of a page.
//!
//! Anyone can name any address, so an address that does not belong to a member is asked first, and gets nothing else
//! until its owner has agreed. Everyone can end the emails with the link that each of them contains.

use std::fmt;

use kalends_accounts::Email;
use kalends_kernel::{BookingPageId, Entropy, FieldError, FieldErrors, OrgId, base64url, from_base64url, random_bytes};
use serde::{Deserialize, Serialize};

#[cfg(test)]
mod tests;

/// How many addresses that refused a page remembers after their removal.
const REFUSED_KEPT: usize = 50;
/// The maximum number of addresses of a page.
pub const NOTIFY_EMAILS_MAX: usize = 5;

/// Whether an address gets emails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// It was a member's when the page was written, and gets emails while it is one.
    Member,
    /// Its owner was asked and has not answered.
    Asked,
    /// Its owner agreed.
    Agreed,
    /// Its owner wants no emails.
    Refused,
}

impl Consent {
    /// Every consent.
    pub const ALL: &'static [Self] = &[Self::Member, Self::Asked, Self::Agreed, Self::Refused];

    /// The name in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Member => "member",
            Self::Asked => "asked",
            Self::Agreed => "agreed",
            Self::Refused => "refused",
        }
    }
}

/// The secret of an address: the person who has it answers for the address.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ConsentSecret([u8; 16]);

impl fmt::Debug for ConsentSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConsentSecret(…)")
    }
}

/// An address that gets emails about bookings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// The address.
    pub email: Email,
    /// Whether it gets emails.
    pub consent: Consent,
    secret: ConsentSecret,
}

/// The addresses of a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listeners {
    /// In the order in which the owner named them.
    named: Vec<Listener>,
    /// Those that the owner has removed, but that refused before, at most [`REFUSED_KEPT`], the newest last. If the owner
    /// names them again, they are not asked again.
    refused: Vec<Listener>,
}

/// The token of the link with which an address answers: whether it wants the emails of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConsentToken {
    /// The organization.
    pub org: OrgId,
    /// The page.
    pub page: BookingPageId,
    secret: ConsentSecret,
}

impl ConsentToken {
    /// The number of characters of a token.
    const LENGTH: usize = 64;

    /// The text for an address: 64 characters of base64url.
    pub fn reveal(&self) -> String {
        base64url([self.org.uuid().into_bytes(), self.page.uuid().into_bytes(), self.secret.0].as_flattened())
    }

    /// The token from an address; `None` if the text cannot be one.
    pub fn presented(text: &str) -> Option<Self> {
        let bytes = if text.len() == Self::LENGTH { from_base64url(text)? } else { return None };
        let (parts, []) = bytes.as_chunks::<16>() else { return None };
        let [org, page, secret] = *<&[[u8; 16]; 3]>::try_from(parts).ok()?;
        Some(Self { org: OrgId::from_bytes(org), page: BookingPageId::from_bytes(page), secret: ConsentSecret(secret) })
    }
}

/// Checks the addresses of a page: at most [`NOTIFY_EMAILS_MAX`], each once.
///
/// # Errors
/// Every invalid address, such as `notify_emails[2]`.
pub fn notify_emails(given: &[String]) -> Result<Vec<Email>, FieldErrors> {
    if given.len() > NOTIFY_EMAILS_MAX {
        let message = format!("must have at most {NOTIFY_EMAILS_MAX} addresses, got {}", given.len());
        return Err(FieldError::new("notify_emails", message).into());
    }
    let mut errors = FieldErrors::default();
    let mut emails: Vec<Email> = Vec::with_capacity(given.len());
    for (index, text) in given.iter().enumerate() {
        let param = format!("notify_emails[{index}]");
        let parsed = Email::parse(&param, text).and_then(|email| {
            let twice = emails.contains(&email);
            if twice {
                Err(FieldError::new(&param, "must not repeat an address of the list; remove it"))
            } else {
                Ok(email)
            }
        });
        emails.extend(errors.take(parsed));
    }
    errors.finish()?;
    Ok(emails)
}

impl Listeners {
    /// The addresses of a page after a change. Those that were there keep their answers, and so do those that refused before
    /// they were removed. Among the others, `members` are known to belong to the organization, and the rest is to be asked.
    #[must_use]
    pub fn renewed(&self, emails: Vec<Email>, members: &[Email], entropy: &dyn Entropy) -> Self {
        let named: Vec<Listener> = emails
            .into_iter()
            .map(|email| {
                let known = self.all().find(|known| known.email == email);
                let secret = known.map_or_else(|| ConsentSecret(random_bytes(entropy)), |known| known.secret);
                let consent = match known.map(|known| known.consent) {
                    Some(answered @ (Consent::Agreed | Consent::Refused)) => answered,
                    _ if members.contains(&email) => Consent::Member,
                    _ => Consent::Asked,
                };
                Listener { email, consent, secret }
            })
            .collect();
        let is_removed =
            |of: &&Listener| of.consent == Consent::Refused && named.iter().all(|named| named.email != of.email);
        let mut refused: Vec<Listener> = self.refused.iter().chain(&self.named).filter(is_removed).cloned().collect();
        refused.drain(..refused.len().saturating_sub(REFUSED_KEPT));
        Self { named, refused }
    }

    fn all(&self) -> impl Iterator<Item = &Listener> {
        self.named.iter().chain(&self.refused)
    }

    /// Those who are to be asked after a change from `before`: they have not been asked before.
    pub fn to_ask<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a Listener> {
        let asked =
            |of: &Listener| before.named.iter().any(|known| known.email == of.email && known.consent == of.consent);
        self.named.iter().filter(move |of| of.consent == Consent::Asked && !asked(of))
    }

    /// The addresses.
    pub fn as_slice(&self) -> &[Listener] {
        &self.named
    }

    /// The token of one of the addresses.
    pub const fn token(of: (OrgId, BookingPageId), listener: &Listener) -> ConsentToken {
        ConsentToken { org: of.0, page: of.1, secret: listener.secret }
    }

    /// The address that answers with a token.
    pub fn opened_by(&self, token: &ConsentToken) -> Option<&Listener> {
        self.all().find(|known| known.secret == token.secret)
    }

    /// The addresses after one of them has answered; `None` if the answer changes nothing.
    #[must_use]
    pub fn with_answer(&self, token: &ConsentToken, agrees: bool) -> Option<Self> {
        let consent = if agrees { Consent::Agreed } else { Consent::Refused };
        let mut after = self.clone();
        let mut all = after.named.iter_mut().chain(&mut after.refused);
        let listener = all.find(|known| known.secret == token.secret)?;
        if listener.consent == consent {
            return None;
        }
        listener.consent = consent;
        Some(after)
    }
}

/// The plain form of a [`Listener`] in a store.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainListener {
    email: String,
    consent: Consent,
    secret: [u8; 16],
}

/// The plain form of [`Listeners`].
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlainListeners {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    named: Vec<PlainListener>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    refused: Vec<PlainListener>,
}

impl PlainListeners {
    pub(crate) const fn is_empty(&self) -> bool {
        self.named.is_empty() && self.refused.is_empty()
    }
}

impl From<&Listener> for PlainListener {
    fn from(of: &Listener) -> Self {
        Self { email: of.email.as_str().to_owned(), consent: of.consent, secret: of.secret.0 }
    }
}

impl From<PlainListener> for Listener {
    fn from(PlainListener { email, consent, secret }: PlainListener) -> Self {
        Self { email: Email::from_stored(email), consent, secret: ConsentSecret(secret) }
    }
}

impl Listeners {
    pub(crate) fn write(&self) -> PlainListeners {
        PlainListeners {
            named: self.named.iter().map(PlainListener::from).collect(),
            refused: self.refused.iter().map(PlainListener::from).collect(),
        }
    }

    pub(crate) fn read(stored: PlainListeners) -> Self {
        Self {
            named: stored.named.into_iter().map(Listener::from).collect(),
            refused: stored.refused.into_iter().map(Listener::from).collect(),
        }
    }
}
