//! The limits of requests that errors and the description state.

use std::time::Duration;

/// The maximum size of a request's body, in bytes: 1 MiB.
pub const BODY_MAX: usize = 1 << 20;
/// The maximum size of an imported file, in bytes.
pub const FILE_MAX: usize = kalends_feeds::limits::BYTES_MAX;
/// The maximum size of a message that calls the import tool, in bytes. The file is a JSON string in which every
/// character may be escaped, and the rest of the message surrounds it. All other messages are at most [`BODY_MAX`]
/// long.
pub const CALL_MAX: usize = 2 * FILE_MAX + BODY_MAX;
/// The maximum total size of the bodies that an organization is sending at once, in bytes.
pub(crate) const BODIES_MAX: usize = 16 << 20;
/// The number of large bodies that the process holds at once.
pub(crate) const PLACES: usize = 8;
/// The maximum depth of nested arrays and objects.
pub(crate) const DEPTH_MAX: usize = 64;
/// The maximum number of values in a body: objects, arrays, strings, numbers, booleans and nulls at every depth.
pub(crate) const VALUES_MAX: usize = 50_000;
/// The maximum number of headers of a request.
pub(crate) const HEADERS_MAX: usize = 100;
/// The maximum size of all headers, in bytes: names and values, including the separators and line ends.
pub(crate) const HEADER_BYTES_MAX: usize = 32 << 10;
/// The maximum size of a request's path and query, in bytes.
pub(crate) const URI_MAX: usize = 8 << 10;
/// How long a body may take before its speed matters.
pub(crate) const FREE: Duration = Duration::from_secs(5);
/// The minimum speed after that, in bytes per second.
pub(crate) const BYTES_A_SECOND: u64 = 8_000;
/// How long the whole body may take.
pub(crate) const WITHIN: Duration = Duration::from_secs(60);
/// The maximum length of an `Idempotency-Key`, in characters.
pub(crate) const IDEMPOTENCY_KEY_MAX: usize = 255;
/// The minimum length of an `Idempotency-Key` of a caller without an API key or a session, in characters. The stored
/// answer may contain a secret, so callers that share an address must not be able to guess each other's keys.
pub(crate) const ANONYMOUS_KEY_MIN: usize = 20;
/// Answers of fewer bytes than this are not compressed.
pub(crate) const COMPRESS_ABOVE: u64 = 1024;
