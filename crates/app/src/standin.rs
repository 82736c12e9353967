//! The stand-in: connections whose calendars the user draws, to try the bridge without an account anywhere.

use kalends_bridge::{
    Access, CalendarProvider, Change, Connection, DRAWN_NAMES, Drawing, DrawnCalendar, EXAMPLES_MAX, ListedConnection,
};
use kalends_kernel::FieldError;
use kalends_wire as wire;

use crate::{
    Actor, Answered, App, ChangeSet, Missing, Refusal, attempt::retry_stale, console::human, keeping::GivenAccess,
};

fn is_example(listed: &ListedConnection) -> bool {
    let provider = match listed {
        Ok(connection) => connection.provider,
        Err(unreadable) => unreadable.provider,
    };
    provider == CalendarProvider::Example
}

impl App {
    /// Connects calendars that are empty until their user draws something. Each call makes another connection.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if the stand-in is switched off, or no such link exists; [`Refusal::Link`];
    /// [`Refusal::NotPublished`] if the link asks for publishing; [`Refusal::TooManyExamples`].
    pub async fn connect_example(
        &self,
        actor: &Actor,
        link: Option<&str>,
    ) -> Result<Answered<wire::CalendarConnection>, Refusal> {
        let ((_, user), org) = (human(actor)?, actor.org());
        self.check_offered(CalendarProvider::Example)?;
        let link = self.link_for(actor, link, CalendarProvider::Example).await?;
        let (drawing, of) = (Drawing::default(), (org, user, CalendarProvider::Example));
        let calendars = drawing.listed();
        retry_stale(|| async {
            let mut changes = self.changes_of_member(org, user).await?;
            let listed = self.listed_connections(org, Some(user)).await?;
            if listed.iter().filter(|listed| is_example(listed)).count() >= EXAMPLES_MAX {
                return Err(Refusal::TooManyExamples.into());
            }
            let given = GivenAccess { of, access: Access::Drawn(drawing.clone()), calendars: &calendars, link };
            let connection = self.keep(&mut changes, given, None).await?;
            let shown = wire::CalendarConnection::new(&connection, self.now());
            let answer = Answered::shows(&actor.request, shown, None);
            self.commit_for(actor, None, connection.id.to_string(), changes, answer).await
        })
        .await
    }

    /// The busy times that the user drew.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if the stand-in is switched off, or the caller has no such connection of it.
    pub async fn drawing(&self, actor: &Actor, id: &str) -> Result<wire::DrawnCalendars, Refusal> {
        Ok(wire::DrawnCalendars::from(&self.drawn(actor, id).await?.1))
    }

    /// Replaces the busy times of the calendars with these names. The connection is refreshed at once.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if the stand-in is switched off, or the caller has no such connection of it;
    /// [`Refusal::Invalid`] if it has no calendar with one of the names.
    pub async fn draw(
        &self,
        actor: &Actor,
        id: &str,
        drawn: &[DrawnCalendar],
    ) -> Result<Answered<wire::DrawnCalendars>, Refusal> {
        retry_stale(|| async {
            let (seen, drawing) = self.drawn(actor, id).await?;
            let drawing = drawing.with(drawn).map_err(|unknown| {
                let names = DRAWN_NAMES.join(" or ");
                Refusal::from(FieldError::new(format!("calendars[{unknown}].name"), format!("must be {names}")))
            })?;
            let answer = Answered::shows(&actor.request, wire::DrawnCalendars::from(&drawing), None);
            let now = self.now();
            let connection = Box::new(seen.reauthorized(Access::Drawn(drawing), now));
            let mut changes = ChangeSet::new(actor.org());
            changes.bridge.push(Change::ReauthorizeConnection { connection, seen: seen.version, at: now });
            self.commit_for(actor, None, seen.id.to_string(), changes, answer).await
        })
        .await
    }

    /// A connection of the caller to the stand-in, and its drawing.
    async fn drawn(&self, actor: &Actor, id: &str) -> Result<(Connection, Drawing), Refusal> {
        self.check_offered(CalendarProvider::Example)?;
        let connection = self.connection_of(actor, id).await?;
        match &connection.access {
            Access::Drawn(drawing) => {
                let drawing = drawing.clone();
                Ok((connection, drawing))
            }
            Access::Consent(_) | Access::Password(_) => Err(Refusal::missing(Missing::Connection, id)),
        }
    }
}
