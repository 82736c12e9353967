//! Values that most processes never need.

use std::sync::LazyLock;

/// A value that is made at its first use.
pub(crate) type OnFirstUse<T> = LazyLock<T, Box<dyn FnOnce() -> T + Send>>;
