//! What an authenticated request costs.

use http::StatusCode;
use kalends_app::{App, Caller, Counted, Leased, Refusal, operations::Operation};
use kalends_kernel::Timestamp;

/// A request that is counted. A caller that goes away before its answer leaves it counted.
pub(crate) struct Metered {
    /// The API call, unless the message that brought the request was counted as one.
    call: Option<Counted>,
    query: Option<Counted>,
    left: Option<u64>,
}

impl Metered {
    /// Lets a request pass that comes slowly enough, and counts one API call and, where availability is read, one
    /// availability query, in the month in which the request arrived.
    ///
    /// # Errors
    /// [`Refusal::TooFast`], [`Refusal::LimitReached`]; nothing is counted then.
    pub(crate) async fn admit(
        app: &App,
        caller: &Caller,
        operation: &Operation,
        at: Timestamp,
    ) -> Result<Self, Refusal> {
        app.pace_key(caller).await?;
        let call = app.count(caller, Leased::ApiCalls, at).await?;
        match query(app, caller, operation, at).await {
            Ok(query) => Ok(Self { left: call.left(), call: Some(call), query }),
            Err(refusal) => {
                app.count_back(call).await;
                Err(refusal)
            }
        }
    }

    /// Counts the request of a tool's call. The message that brought it has passed [`Metered::admit`], so this counts
    /// availability queries only.
    ///
    /// # Errors
    /// [`Refusal::LimitReached`].
    pub(crate) async fn carried(
        app: &App,
        caller: &Caller,
        operation: &Operation,
        at: Timestamp,
    ) -> Result<Self, Refusal> {
        let query = query(app, caller, operation, at).await?;
        Ok(Self { call: None, query, left: caller.left(Leased::ApiCalls, at) })
    }

    /// Takes back what does not count: a call that is answered with 401 or 429 (ruling 3.4), and an availability
    /// query that is not answered with availability. Returns how many API calls are left; `None` is unlimited.
    pub(crate) async fn end(self, app: &App, status: StatusCode) -> Option<u64> {
        if let Some(query) = self.query.filter(|_| !status.is_success()) {
            app.count_back(query).await;
        }
        let uncounted = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::TOO_MANY_REQUESTS);
        match self.call.filter(|_| uncounted) {
            Some(call) => {
                app.count_back(call).await;
                self.left.map(|left| left + 1)
            }
            None => self.left,
        }
    }
}

/// Counts an availability query if the operation reads availability.
async fn query(app: &App, caller: &Caller, operation: &Operation, at: Timestamp) -> Result<Option<Counted>, Refusal> {
    if !operation.reads_availability() {
        return Ok(None);
    }
    app.count(caller, Leased::AvailabilityQueries, at).await.map(Some)
}
