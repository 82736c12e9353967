//! What an authenticated request costs.

use http::StatusCode;
use kalends_app::{App, Caller, Counted, Leased, Refusal, operations::Operation};
use kalends_kernel::Instant;

/// A request that is counted. A caller that goes away before its answer leaves it counted.
pub(crate) struct Metered {
    call: Counted,
    query: Option<Counted>,
}

impl Metered {
    /// Lets a request pass that comes slowly enough, and counts one API call and, where availability is read, one
    /// availability query, in the month in which the request arrived.
    ///
    /// # Errors
    /// [`Refusal::TooFast`], [`Refusal::LimitReached`]; nothing is counted then.
    pub(crate) async fn admit(app: &App, caller: &Caller, operation: &Operation, at: Instant) -> Result<Self, Refusal> {
        app.pace_key(caller).await?;
        let call = app.count(caller, Leased::ApiCalls, at).await?;
        if !operation.reads_availability() {
            return Ok(Self { call, query: None });
        }
        match app.count(caller, Leased::AvailabilityQueries, at).await {
            Ok(query) => Ok(Self { call, query: Some(query) }),
            Err(refusal) => {
                app.count_back(call).await;
                Err(refusal)
            }
        }
    }

    /// Takes back what does not count: a call that is answered with 401 or 429 (ruling 3.4), and an availability
    /// query that is not answered with availability. Returns how many API calls are left; `None` is unlimited.
    pub(crate) async fn end(self, app: &App, status: StatusCode) -> Option<u64> {
        let left = self.call.left();
        if let Some(query) = self.query.filter(|_| !status.is_success()) {
            app.count_back(query).await;
        }
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::TOO_MANY_REQUESTS) {
            app.count_back(self.call).await;
            return left.map(|left| left + 1);
        }
        left
    }
}
