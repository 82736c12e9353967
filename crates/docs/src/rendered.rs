//! The guides as pages.

use crate::{
    guides::{ALL, Source},
    markdown::{self, Document},
};

/// A rendered guide.
#[derive(Debug)]
pub(crate) struct Guide {
    pub(crate) source: &'static Source,
    pub(crate) document: Document,
}

/// Renders every guide.
pub(crate) fn guides() -> Vec<Guide> {
    ALL.iter().map(|source| Guide { source, document: markdown::render(source) }).collect()
}
