//! The pages that guests see: how a public booking page looks as HTML, and what it says to an agent as Markdown. And the pages
//! on which humans connect calendars.
//!
//! Everything here is a pure function of what it is given. A caller reads the request with [`PageQuery`] and [`Clock`],
//! asks the use cases, fills one of the views and sends the text that its `html()` returns together with
//! [`headers::SAFE`] and [`headers::PAGE`]. The files that the HTML refers to are [`assets::ALL`].
//!
//! Nothing that a view holds is trusted: texts are escaped by the templates, and an address becomes a link only as a
//! [`Path`] or an [`Href`], which no `javascript:` can be.

pub mod assets;
pub mod headers;
pub mod markdown;

mod booking;
mod console;
mod form;
mod link;
mod notice;
mod page;
mod page_query;
mod picker;
mod time;
mod zones;

#[cfg(test)]
mod tests;

pub use booking::{Booked, Booking, BookingState, Moving};
pub use console::Console;
pub use form::{Form, Given, HONEYPOT, Limits, Taken};
pub use link::{Href, Path};
pub use notice::Notice;
pub use page::{DisplaySettings, Page};
pub use page_query::{ChosenSlot, PageQuery};
pub use picker::Picker;
pub use time::{Clock, Month};

/// The text of a template.
fn render(template: &impl askama::Template) -> String {
    #[expect(clippy::expect_used, reason = "a String takes whatever is written to it, and no filter of ours fails")]
    template.render().expect("a template is written to a String")
}
