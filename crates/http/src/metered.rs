//! The metering of authenticated requests.

use http::StatusCode;
use kalends_app::{App, Caller, Counted, Leased, Refusal, operations::Operation};
use kalends_time::Timestamp;

/// A counted request. If the caller disconnects before the answer, the request stays counted.
pub(crate) struct Metered {
    /// The API call. `None` if the message that carried the request was counted as the call.
    call: Option<Counted>,
    query: Option<Counted>,
    left: Option<u64>,
}

impl Metered {
    /// Checks the caller's rate. Then counts one API call and, if the operation reads availability, one availability
    /// query, in the month in which the request arrived.
    ///
    /// # Errors
    /// [`Refusal::TooFast`] or [`Refusal::LimitReached`]. Then nothing is counted.
    pub(crate) async fn admit(
        app: &App,
        caller: &Caller,
        operation: &Operation,
        at: Timestamp,
    ) -> Result<Self, Refusal> {
        app.pace_caller(caller).await?;
        let call = app.count(caller, Leased::ApiCalls, at).await?;
        match query(app, caller, operation, at).await {
            Ok(query) => Ok(Self { left: call.left(), call: Some(call), query }),
            Err(refusal) => {
                app.count_back(call).await;
                Err(refusal)
            }
        }
    }

    /// Counts the request of a tool call. The message that carried it has passed [`Metered::admit`], so only
    /// availability queries are counted here.
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

    /// Takes back what does not count: a call answered with 401 or 429, and an availability query that was not
    /// answered successfully. Returns how many API calls are left, or `None` if they are unlimited.
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
