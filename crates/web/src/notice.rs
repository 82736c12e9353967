//! Pages that only say why there is nothing else.

use askama::Template;

use crate::link::Path;

/// Why a page cannot be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice<'a> {
    /// No page is there, or not any more (404).
    NotFound,
    /// The host can take no bookings at the moment (429).
    Closed,
    /// The link of a booking leads nowhere: it is cut short, or its booking is gone (404).
    NoBooking,
    /// Too many requests came from the visitor's address (429).
    TooMany {
        /// When the next one is answered, in seconds.
        retry_after_seconds: u32,
    },
    /// The address names a time that is none, or that the page never offers (400).
    Nonsense,
    /// Something failed on our side (500 or 503).
    Failed {
        /// By what the failure is found again.
        request_id: &'a str,
    },
}

#[derive(Template)]
#[template(path = "notice.html")]
struct Shape<'a> {
    title: &'static str,
    paragraphs: Vec<String>,
    back: Option<&'a Path>,
}

impl Notice<'_> {
    /// The page. Where there is a booking page to go back to, it leads there.
    pub fn html(&self, back: Option<&Path>) -> String {
        crate::render(&Shape { title: self.title(), paragraphs: self.paragraphs(), back })
    }

    fn title(&self) -> &'static str {
        match self {
            Self::NotFound => "There is no booking page here",
            Self::Closed => "Booking is closed for now",
            Self::NoBooking => "This link leads to no booking",
            Self::TooMany { .. } => "One moment, please",
            Self::Nonsense => "This time cannot be booked",
            Self::Failed { .. } => "Something went wrong on our side",
        }
    }

    fn paragraphs(&self) -> Vec<String> {
        let texts: &[&str] = match self {
            Self::NotFound => &[
                "The address may be mistyped or cut short, or the page has been taken down.",
                "Please ask whoever sent you the link for a new one. Bookings made before stay as they are.",
            ],
            Self::Closed => &[
                "No more bookings can be taken at the moment. Bookings made before stay as they are.",
                "Please try again another day, or write to the person you want to meet.",
            ],
            Self::NoBooking => &[
                "The link may be cut short, or the booking was removed. Please use the whole link of your confirmation.",
            ],
            Self::TooMany { retry_after_seconds } => {
                let wait = match retry_after_seconds {
                    0 | 1 => "a second".to_owned(),
                    seconds @ 2..=90 => format!("{seconds} seconds"),
                    seconds => format!("{} minutes", seconds.div_ceil(60)),
                };
                return vec![
                    "Many requests have come from your network in a short time.".to_owned(),
                    format!("Please wait {wait} and try again. Nothing was booked."),
                ];
            }
            Self::Nonsense => {
                &["The link names a time that this page does not offer. Please choose one of the free times."]
            }
            Self::Failed { request_id } => {
                return vec![
                    "Your request could not be completed. Please try again in a minute.".to_owned(),
                    format!("If it happens again, tell the host this number: {request_id}"),
                ];
            }
        };
        texts.iter().map(|text| (*text).to_owned()).collect()
    }
}
