//! The description of the API as a file.

use std::sync::Arc;

use crate::{files::File, on_first_use::OnFirstUse, reply::JSON};

/// The description as JSON text. It is written at its first use: most tests never show it, and a server without
/// requests for it saves the memory.
#[derive(Clone)]
pub(crate) struct Description(Arc<OnFirstUse<Arc<File>>>);

impl Description {
    /// How long the file may be cached. It changes with a release.
    const HEADERS: [(&str, &str); 1] = [("cache-control", "public, max-age=300")];

    pub(crate) fn new(json: impl FnOnce() -> String + Send + 'static) -> Self {
        let file = || Arc::new(File::new(JSON, json(), &Self::HEADERS));
        Self(Arc::new(OnFirstUse::new(Box::new(file))))
    }

    pub(crate) fn file(&self) -> &Arc<File> {
        &self.0
    }
}
