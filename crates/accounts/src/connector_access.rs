//! What makes the key of an agent the key of a connector.

use kalends_kernel::ConnectorClientId;
use kalends_time::Timestamp;

/// What makes the key of an agent the key of a connector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectorAccess {
    /// The client that holds the key.
    pub client: ConnectorClientId,
    /// From this instant on, its present text is refused.
    pub expires_at: Timestamp,
}
