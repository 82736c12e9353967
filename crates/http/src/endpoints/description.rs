//! The description of the API as a file.

use std::sync::Arc;

use crate::{files::File, reply::JSON};

/// The description as JSON text, written once.
#[derive(Clone)]
pub(crate) struct Description(Arc<File>);

impl Description {
    /// How long it may be cached. It changes with a release.
    const HEADERS: [(&str, &str); 1] = [("cache-control", "public, max-age=300")];

    pub(crate) fn new(json: String) -> Self {
        Self(Arc::new(File::new(JSON, json, &Self::HEADERS)))
    }

    pub(crate) fn file(&self) -> &Arc<File> {
        &self.0
    }
}
