//! Emails to the host about bookings: who wants them, and what they contain.

use kalends_bookings::{Booking, BookingPage, Change, Consent, ConsentToken, Listener, Listeners};
use kalends_calendars::{Event, Patch, Repeats};
use kalends_feeds::write::{Meeting, Method, Party};
use kalends_i18n::Translator;
use kalends_kernel::{Email, Foreign, OrgId};
use kalends_notifications::About;

use crate::{
    Actor, Answered, App, ChangeSet, Refusal, Request,
    attempt::retry_stale,
    audit::Subject,
    bookings::titled,
    guest_letters::accepted,
    letters::{self, HostLetter, When},
    page_offers::no_page,
    ports::CalendarPart,
};

/// The question whether an address wants the emails about the bookings of a page, from the side of its owner.
#[derive(Debug, Clone)]
pub struct ConsentSeen {
    /// The page.
    pub page: BookingPage,
    /// The address and its answer.
    pub listener: Listener,
    /// The name of the organization.
    pub organization: String,
}

impl App {
    /// The question that a link opens.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if the page is gone, or no longer names the address.
    pub async fn booking_emails(&self, token: &str) -> Result<ConsentSeen, Refusal> {
        let token = ConsentToken::presented(token).ok_or_else(no_page)?;
        let page = self.parts.store.find_booking_page(token.org, token.page).await?.ok_or_else(no_page)?;
        let listener = page.listeners.opened_by(&token).cloned().ok_or_else(no_page)?;
        let organization = self.organization_name(token.org).await?;
        Ok(ConsentSeen { page, listener, organization })
    }

    /// Records whether an address wants the emails. The same answer again changes nothing.
    ///
    /// # Errors
    /// As for [`Self::booking_emails`].
    pub async fn answer_booking_emails(
        &self,
        request: &Request,
        token: &str,
        agrees: bool,
    ) -> Result<Answered<ConsentSeen>, Refusal> {
        let presented = ConsentToken::presented(token).ok_or_else(no_page)?;
        retry_stale(|| async {
            let seen = self.booking_emails(token).await?;
            let Some(listeners) = seen.page.listeners.with_answer(&presented, agrees) else {
                return Ok(shows(request, &seen.listener).map(|_| seen));
            };
            let (version, updated_at) = (seen.page.version.next(), self.now());
            let page = BookingPage { listeners, version, updated_at, ..seen.page.clone() };
            let listener = page.listeners.opened_by(&presented).cloned().ok_or_else(no_page)?;
            let mut changes = ChangeSet::new(page.org);
            changes.bookings.push(Change::UpdatePage { page: Box::new(page.clone()), seen: seen.page.version });
            let subject = Subject { org: page.org, agent: page.agent, resource: page.id.to_string() };
            let answer = shows(request, &listener);
            let committed = self.commit(request, None, subject, changes, answer).await?;
            let after = ConsentSeen { page, listener, ..seen };
            Ok(committed.map(|_| after))
        })
        .await
    }

    /// The addresses of a page after a change.
    pub(crate) async fn listeners_after(
        &self,
        actor: &Actor,
        before: &Listeners,
        emails: &Patch<Vec<Email>>,
    ) -> Result<Listeners, Refusal> {
        let Patch::Set(emails) = emails else { return Ok(before.clone()) };
        let members = self.members_among(actor.org(), emails).await?;
        Ok(before.renewed(emails.clone(), &members, self.entropy()))
    }

    /// Asks the addresses that a change added whether they want emails, except those of members.
    ///
    /// # Errors
    /// [`Refusal::Unverified`]: the question contains the organization's own words.
    pub(crate) async fn ask_listeners(
        &self,
        actor: &Actor,
        page: &BookingPage,
        before: &Listeners,
        changes: &mut ChangeSet,
    ) -> Result<(), Refusal> {
        let asked: Vec<&Listener> = page.listeners.to_ask(before).collect();
        if asked.is_empty() {
            return Ok(());
        }
        actor.may_invite()?;
        let organization = Foreign::new(&self.organization_name(page.org).await?);
        for listener in asked {
            let link = self.consent_link(page, listener);
            let mail = letters::asks_for_consent(&listener.email, &organization, &Foreign::new(&page.title), &link);
            self.write_letter(&mail, About::page(page.id), self.now(), changes);
        }
        Ok(())
    }

    /// Adds an email about a booking to each address of the page that wants one. `event` is that of the booking.
    pub(crate) async fn write_to_hosts(
        &self,
        page: &BookingPage,
        booking: &Booking,
        event: &Event,
        about: HostLetter,
        changes: &mut ChangeSet,
    ) -> Result<(), Refusal> {
        let (now, sender) = (self.now(), self.parts.mailer.sender());
        let method = if about.cancels() { Method::Cancel } else { Method::Request };
        let mut shown = Event { repeats: Repeats::Once, ..booking.as_known(event.clone()) };
        if booking.shared {
            shown.title = titled(page, &booking.guest);
        }
        let title = Foreign::new(&page.title);
        let meeting = Meeting::new(page.timetable.zone, &shown, None, &[]);
        let visit = letters::Visit {
            title: &title,
            guest: &booking.guest,
            when: When::of(event.times, page.timetable.zone, Translator::english()),
            location: event.location.as_deref().map(Foreign::new),
            call: event.conference_url.as_ref(),
            questions: page.details.questions.as_slice(),
        };
        let members = page.listeners.as_slice().iter().filter(|listener| listener.consent == Consent::Member);
        let members: Vec<Email> = members.map(|listener| listener.email.clone()).collect();
        let members = self.members_among(page.org, &members).await?;
        for listener in page.listeners.as_slice() {
            if listener.consent != Consent::Agreed && !members.contains(&listener.email) {
                continue;
            }
            let attendee = accepted(&listener.email);
            let text = meeting.to(&Party {
                method,
                organizer: (&title, &sender),
                attendee: &attendee,
                link: None,
                takes_place: method == Method::Request,
                written: now,
            });
            let mut mail = letters::for_host(&listener.email, &visit, about, &self.consent_link(page, listener));
            mail.calendar = Some(CalendarPart { method, text });
            mail.agreed = true;
            self.write_letter(&mail, About::booking(booking.id), now, changes);
        }
        Ok(())
    }

    fn consent_link(&self, page: &BookingPage, listener: &Listener) -> String {
        let token = Listeners::token((page.org, page.id), listener).reveal();
        format!("{}/book/emails/{token}", self.parts.settings.base_url)
    }

    /// The addresses that were proved to be that of the organization, or of one of its members.
    async fn members_among(&self, org: OrgId, emails: &[Email]) -> Result<Vec<Email>, Refusal> {
        if emails.is_empty() {
            return Ok(Vec::new());
        }
        let organization = self.parts.store.find_organization(org).await?;
        let own = organization.filter(|org| org.verified_at.is_some()).and_then(|org| org.email);
        let mut members = Vec::new();
        for email in emails {
            let is_member = own.as_ref() == Some(email) || self.is_of_member(org, email).await?;
            members.extend(is_member.then(|| email.clone()));
        }
        Ok(members)
    }

    async fn is_of_member(&self, org: OrgId, email: &Email) -> Result<bool, Refusal> {
        let user = self.parts.store.find_user_by_email(email).await?;
        let Some(user) = user.filter(|user| user.email_verified_at.is_some()) else { return Ok(false) };
        Ok(self.parts.store.memberships_of(user.id).await?.iter().any(|membership| membership.org == org))
    }

    async fn organization_name(&self, org: OrgId) -> Result<String, Refusal> {
        let organization = self.parts.store.find_organization(org).await?.ok_or_else(no_page)?;
        Ok(organization.name.as_str().to_owned())
    }
}

fn shows(request: &Request, listener: &Listener) -> Answered<kalends_wire::NotifyConsent> {
    Answered::shows(request, listener.into(), None)
}
