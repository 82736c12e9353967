//! The frame of the pages about an organization.

use axum::extract::{Query, rejection::QueryRejection};
use kalends_accounts::SignedIn;
use kalends_app::{
    Actor, App, Refusal,
    operations::{self, Operation},
};
use kalends_kernel::Page;
use kalends_web::{Done, Place, Shell};
use serde::Deserialize;

/// The operation of the first page of a place.
const fn operation(place: Place) -> &'static Operation {
    match place {
        // Everybody may see these.
        Place::Home | Place::Waiting | Place::Organization => &operations::GET_ME,
        Place::Calendar => &operations::LIST_EVENTS,
        Place::Availability => &operations::LIST_CALENDARS,
        Place::BookingPages => &operations::LIST_BOOKING_PAGES,
        Place::Agents => &operations::LIST_AGENTS,
        Place::Keys => &operations::LIST_KEYS,
        Place::Connections => &operations::LIST_CONNECTIONS,
        Place::Feeds => &operations::LIST_CALENDARS,
        Place::Webhooks => &operations::LIST_WEBHOOKS,
        Place::Activity => &operations::AUDIT_LOG,
        Place::Usage => &operations::USAGE,
    }
}

/// The frame of a page for the caller.
///
/// # Errors
/// [`Refusal::NotSignedIn`] for a key. Pages need a session.
pub(super) fn shell(caller: &Actor, place: Place) -> Result<Shell, Refusal> {
    let SignedIn { user, organization, .. } = caller.signed_in()?;
    Ok(Shell {
        place,
        places: Place::ALL.iter().copied().filter(|place| caller.may(operation(*place))).collect(),
        org: organization.id.to_string(),
        organization: organization.name.as_str().to_owned(),
        email: user.email.as_str().to_owned(),
    })
}

/// Whether the user belongs to another organization too. Otherwise, the account is deleted together with this one.
///
/// # Errors
/// [`Refusal::Store`].
pub(super) async fn belongs_elsewhere(app: &App, caller: &Actor) -> Result<bool, Refusal> {
    Ok(app.own_orgs(caller).await?.orgs.iter().any(|own| !own.active))
}

/// Allows the page of a form to callers who may send it, so that nobody fills it in for nothing.
///
/// # Errors
/// [`Refusal::RoleTooLow`].
pub(super) fn needs(caller: &Actor, operation: &Operation) -> Result<(), Refusal> {
    if caller.may(operation) { Ok(()) } else { Err(Refusal::RoleTooLow) }
}

/// What the address of a page says. A query that cannot be read says nothing.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    /// The form that had its effect, by its name in [`Done`].
    #[serde(default)]
    done: String,
    /// The number of entries of the list on earlier pages.
    #[serde(default)]
    offset: u32,
}

/// The query of a page.
pub(super) type AskedOf<T> = Result<Query<T>, QueryRejection>;

impl Asked {
    pub(super) fn of(asked: AskedOf<Self>) -> Self {
        asked.map(|asked| asked.0).unwrap_or_default()
    }

    /// What a form did.
    pub(super) fn done(&self) -> Done {
        Done::named(&self.done)
    }

    /// The page of the list.
    pub(super) fn page(&self) -> Page {
        Page { offset: self.offset, ..Page::default() }
    }
}
