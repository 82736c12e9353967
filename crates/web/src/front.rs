//! The pages that introduce the server: what it is, its terms and its plans. They are the same
//! for everyone, and in English.

use askama::Template;
use kalends_time::CivilDate;

use crate::{
    english::in_english,
    link::Href,
    prose::{Piece, Prose},
};

/// The first page of a server.
#[derive(Debug, Clone, Template)]
#[template(path = "home.html")]
pub struct Home {
    /// The operator's page with the terms; `None` if there is none.
    pub terms: Option<Href>,
    /// Where the operator offers plans; `None` if there is no such page.
    pub offers: Option<Href>,
    /// Whether everybody may sign up.
    pub admits: bool,
    /// Whether the browser has a session. It may have ended.
    pub has_session: bool,
}

/// The terms of service, with the operator's text or a link to it, if there is one.
#[derive(Debug, Clone, Template)]
#[template(path = "terms.html")]
pub struct Terms<'a> {
    /// The version that a sign-up accepts.
    pub version: &'a str,
    /// The day on which it took effect.
    pub effective_at: CivilDate,
    /// The operator's page with the text; `None` if there is no such page.
    pub text: Option<Href>,
    /// The text itself; `None` if the operator has published none here.
    pub body: Option<&'a Prose>,
}

/// The plans.
#[derive(Debug, Clone, Template)]
#[template(path = "plans.html")]
pub struct Plans<'a> {
    /// The plans, smallest first.
    pub plans: &'a [PlanOffer<'a>],
    /// Where the operator offers plans; `None` if there is no such page.
    pub offers: Option<Href>,
}

/// A plan on the page of plans.
#[derive(Debug, Clone, Copy)]
pub struct PlanOffer<'a> {
    /// The name.
    pub name: &'a str,
    /// One line of description.
    pub tagline: &'a str,
    /// What it includes, in words.
    pub includes: &'a [&'a str],
}

in_english!(Home, Terms<'_>, Plans<'_>);
