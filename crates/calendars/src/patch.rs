//! The fields of a PATCH.

/// A field of a PATCH: left as it is, or set to a new value.
///
/// A field that may be cleared is a `Patch<Option<T>>`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Patch<T> {
    /// The field was absent.
    #[default]
    Keep,
    /// The field was given.
    Set(T),
}

impl<T> Patch<T> {
    /// Whether the field was given.
    pub const fn is_set(&self) -> bool {
        matches!(self, Self::Set(_))
    }

    /// Replaces the value of `field`, if the field was given.
    pub fn apply_to(self, field: &mut T) {
        if let Self::Set(value) = self {
            *field = value;
        }
    }
}

impl<T> From<Option<T>> for Patch<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Keep, Self::Set)
    }
}
