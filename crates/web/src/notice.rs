//! Pages that explain why nothing else can be shown.

use askama::Template;

use crate::link::Path;

/// Why a page cannot be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice<'a> {
    /// The page does not exist, or no longer exists (404).
    NotFound,
    /// The host cannot take bookings at the moment (429).
    Closed,
    /// The link of a booking is cut short, or its booking is gone (404).
    NoBooking,
    /// The link of an invitation is cut short, or its event is gone (404).
    NoInvitation,
    /// A reply to an invitation could not be recorded (4xx).
    NoReply,
    /// Too many requests came from the visitor's address (429).
    TooMany {
        /// The seconds until the next request is answered.
        retry_after_seconds: u32,
    },
    /// The address contains something that is not a time, or a time that the page never offers (400).
    Nonsense,
    /// Something failed on our side (500 or 503).
    Failed {
        /// The identifier to find the failure in the log.
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
    /// The page. It links to the booking page `back`, if there is one.
    pub fn html(&self, back: Option<&Path>) -> String {
        crate::render(&Shape { title: self.title(), paragraphs: self.paragraphs(), back })
    }

    fn title(&self) -> &'static str {
        match self {
            Self::NotFound => "There is no booking page here",
            Self::Closed => "Booking is closed for now",
            Self::NoBooking => "This link does not lead to a booking",
            Self::NoInvitation => "This link does not lead to an invitation",
            Self::NoReply => "Your reply was not recorded",
            Self::TooMany { .. } => "One moment, please",
            Self::Nonsense => "This time cannot be booked",
            Self::Failed { .. } => "Something went wrong on our side",
        }
    }

    fn paragraphs(&self) -> Vec<String> {
        let texts: &[&str] = match self {
            Self::NotFound => &[
                "The address may be mistyped or cut short, or the page has been taken down.",
                "Please ask the person who sent you the link for a new one. Existing bookings are not affected.",
            ],
            Self::Closed => &[
                "No more bookings can be taken at the moment. Existing bookings are not affected.",
                "Please try again another day, or write to the person you want to meet.",
            ],
            Self::NoBooking => &[
                "The link may be cut short, or the booking was removed. Please use the whole link from your confirmation.",
            ],
            Self::NoInvitation => &[
                "The link may be cut short, the event may have been deleted, or you are no longer invited.",
                "Please use the whole link from the latest email about the event.",
            ],
            Self::NoReply => &["Please open the link from the email again, and choose one of the replies."],
            Self::TooMany { retry_after_seconds } => {
                let wait = match retry_after_seconds {
                    0 | 1 => "a second".to_owned(),
                    seconds @ 2..=90 => format!("{seconds} seconds"),
                    seconds => format!("{} minutes", seconds.div_ceil(60)),
                };
                return vec![
                    "Many requests have come from your network in a short time.".to_owned(),
                    format!("Please wait {wait} and try again. Nothing has changed."),
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
