//! A request that waits for approval.

use kalends_kernel::Version;
use serde::{Deserialize, Serialize};

/// The largest body of a request that can wait for approval, and of an answer that is kept, in bytes.
pub const BODY_MAX: usize = 64 << 10;
/// The most times that are reserved for one request. A series has its first occurrences reserved.
pub const RESERVED_MAX: usize = 100;

/// A request as it arrived, without its credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingRequest {
    /// The path and the query.
    pub target: String,
    /// The `Content-Type` header, if any.
    pub content_type: Option<String>,
    /// The `If-Match` header, if any.
    pub if_match: Option<String>,
    /// The `Accept-Language` header, if any.
    pub language: Option<String>,
    /// The run that it belongs to, if any.
    pub run: Option<String>,
    /// The body, at most [`BODY_MAX`] bytes.
    pub body: String,
}

/// A resource that the request would change, as it was when the caller asked. An approval is for this state: if the
/// resource is in another one at the decision, the request is stale.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The identifier of the resource.
    pub resource: String,
    /// Its version.
    #[serde(with = "version")]
    pub version: Version,
    /// A digest of what counts of it. If there is one, it counts instead of the version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl Seen {
    /// Whether the resource is in the same state as in `other`.
    pub fn is_as(&self, other: &Self) -> bool {
        match (&self.digest, &other.digest) {
            (Some(one), Some(another)) => one == another,
            _ => self.version == other.version,
        }
    }
}

mod version {
    use kalends_kernel::Version;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(version: &Version, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(version.0)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Version, D::Error> {
        i64::deserialize(deserializer).map(Version)
    }
}
