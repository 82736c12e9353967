//! What is right after a task: the state, read through the REST API.

use anyhow::{Result, bail, ensure};
use kalends_time::{SignedDuration, Timestamp};

use super::rest::{Event, time};
use super::scene::Scene;
use crate::json;

/// The status of an event that is not a hold.
pub(crate) const CONFIRMED: &str = "confirmed";
/// The status of the event of a participant who has not accepted its time.
pub(crate) const TENTATIVE: &str = "tentative";

impl Scene {
    /// The events of a title on somebody's calendar, on a day of the week.
    pub(crate) async fn titled(&self, whose: &str, title: &str, day: i64) -> Result<Vec<Event>> {
        let (from, to) = self.day(day)?;
        let mut events = self.rest.events(self.calendar(whose)?, from, to).await?;
        events.retain(|event| event.title == title);
        Ok(events)
    }

    /// Requires one event with this title and status on each of these calendars on that day, at exactly this time.
    pub(crate) async fn requires(
        &self,
        calendars: &[&str],
        (title, status): (&str, &str),
        day: i64,
        (start, minutes): (Timestamp, i64),
    ) -> Result<()> {
        let end = start + SignedDuration::minutes(minutes);
        let expected = Event { title: title.to_owned(), status: status.to_owned(), start, end };
        for whose in calendars {
            let found = self.titled(whose, title, day).await?;
            ensure!(found == [expected.clone()], "{whose} has {found:?} instead of {expected:?}");
        }
        Ok(())
    }

    /// Requires that nothing with this title is on any of these calendars on that day.
    pub(crate) async fn lacks(&self, calendars: &[&str], title: &str, day: i64) -> Result<()> {
        for whose in calendars {
            let found = self.titled(whose, title, day).await?;
            ensure!(found.is_empty(), "{whose} has {found:?}");
        }
        Ok(())
    }

    /// Requires exactly one booking of Ada's page, by this guest at this time.
    pub(crate) async fn is_booked(&self, name: &str, event: &str, start: Timestamp) -> Result<()> {
        let listed = self.rest.read(&format!("/v1/booking-pages/{}/bookings", self.page)).await?;
        let data = json::list(&listed, "data")?;
        let [booking] = data.as_slice() else { bail!("the page has {} bookings", data.len()) };
        let is_right = json::text(booking, "name")? == name
            && json::text(booking, "event_id")? == event
            && time(booking, "start_time")? == start;
        ensure!(is_right, "the booking is {booking}");
        Ok(())
    }
}
