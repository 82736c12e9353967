//! The names of the hidden fields that many forms of the console have.

/// The organization of the form's page.
pub(super) const ORG: &str = "org";
/// The version that the page of the form showed.
pub(super) const VERSION: &str = "version";
/// Marks the form by which a user leaves the organization.
pub(super) const LEAVES: &str = "leaves";
