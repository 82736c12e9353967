//! The REST API, end to end on both databases.
