//! Values that most processes never need.

use std::sync::LazyLock;

/// A value that its first use makes.
pub(crate) type OnFirstUse<T> = LazyLock<T, Box<dyn FnOnce() -> T + Send>>;
