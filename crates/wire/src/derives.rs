//! The derives of the types' schemas. Without the feature `schema` they do nothing but accept the same attributes.

#[cfg(not(feature = "schema"))]
pub(crate) use kalends_wire_derives::{IntoParams, ToSchema};
#[cfg(feature = "schema")]
pub(crate) use utoipa::{IntoParams, ToSchema};
