//! The forms that change the settings of something that has a version: the page that shows them, with what was typed if
//! the form had no effect, and the answer to the form.

use axum::response::Response;
use kalends_app::Refusal;
use kalends_kernel::Version;
use kalends_web::{NO_PROBLEMS, Problems};

use super::{
    form::{Again, OwnForm},
    places::segment,
    shown::shown_again,
};
use crate::{error::ApiError, reply::see_other};

/// What the forms about one kind of thing have in common.
pub(super) struct Settings {
    /// The names of the fields.
    pub fields: &'static [&'static str],
    /// What is said if the thing has changed since its page was opened.
    pub changed: &'static str,
    /// The problems that a refusal is, if they are others than usual.
    pub problems: fn(&Refusal) -> Option<Problems>,
    /// The page to continue on if the thing cannot be shown any more, with the text of the link to it.
    pub list: (&'static str, &'static str),
}

impl Settings {
    /// The answer to a form about the thing with that `id`, whose page is below `base`: this page, or the form again.
    /// `render` is the page with the form. The identifier may be any text.
    ///
    /// # Errors
    /// As [`Again::of`] and [`shown_again`].
    pub(super) async fn answer(
        &self,
        outcome: Result<(), Refusal>,
        form: &OwnForm,
        (base, id): (&str, &str),
        render: impl AsyncFnOnce(Filled<'_>) -> Result<String, Refusal>,
    ) -> Result<Response, ApiError> {
        let Err(refusal) = outcome else {
            return Ok(see_other(&format!("{base}/{}?done=saved", segment(id)), None));
        };
        let unusual = (self.problems)(&refusal);
        let (mut again, error) = Again::of(form, refusal, self.fields, self.changed)?;
        if let Some(problems) = unusual {
            again.problems = problems;
        }
        shown_again(error, render(Filled(Some(&again))).await, self.list)
    }
}

/// What the form contains: the current state of the thing, or what was typed in a form that had no effect.
#[derive(Clone, Copy)]
pub(super) struct Filled<'a>(Option<&'a Again<'a>>);

impl<'a> Filled<'a> {
    /// The current state.
    pub(super) const NOW: Self = Self(None);

    /// The text of a field, given the one that is current.
    pub(super) fn text(self, name: &str, now: &'a str) -> &'a str {
        self.0.map_or(now, |again| again.text(name, now))
    }

    /// The text of the hidden field `was_NAME`, given the text of the field that is current.
    pub(super) fn text_before(self, name: &str, now: &'a str) -> &'a str {
        self.0.map_or(now, |again| again.text_before(name, now))
    }

    /// [`Filled::text`], for a field of several values.
    pub(super) fn values(self, name: &str, now: Vec<&'a str>) -> Vec<&'a str> {
        match self.0 {
            None => now,
            Some(again) => again.values(name, now),
        }
    }

    /// [`Filled::text_before`], for a field of several values.
    pub(super) fn values_before(self, name: &str, now: Vec<&'a str>) -> Vec<&'a str> {
        match self.0 {
            None => now,
            Some(again) => again.values_before(name, now),
        }
    }

    /// The version that the form is for, given the one that is current.
    pub(super) fn version(self, now: Version) -> String {
        self.0.map_or_else(|| now.0.to_string(), |again| again.version(now))
    }

    /// What is wrong with it.
    pub(super) fn problems(self) -> &'a Problems {
        self.0.map_or(&NO_PROBLEMS, |again| &again.problems)
    }
}
