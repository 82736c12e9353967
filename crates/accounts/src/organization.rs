//! Organizations, which own agents, calendars and keys.

use kalends_kernel::{FieldError, OrgId, Version, bounded_text};
use kalends_plans::{Limits, LimitsError, Plan};
use kalends_time::Timestamp;
use serde_json::{Value, json};

use crate::{Acceptance, AcceptanceRecord, Email, KeyKind, ReplyTo, StaleTerms, Terms};

/// An organization's name: 1-255 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrgName(String);

impl OrgName {
    /// Checks the bounds.
    ///
    /// # Errors
    /// Names the field and the bounds.
    pub fn parse(param: &str, text: &str) -> Result<Self, FieldError> {
        bounded_text(param, text, 1, 255).map(Self)
    }

    /// The name from a store.
    pub const fn from_stored(name: String) -> Self {
        Self(name)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether an organization is on the waiting list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waitlist {
    /// The organization is not waiting.
    Active,
    /// The organization has been waiting since this time.
    Since(Timestamp),
}

impl Waitlist {
    /// Since when the organization waits; `None` if it does not.
    pub const fn since(self) -> Option<Timestamp> {
        match self {
            Self::Active => None,
            Self::Since(since) => Some(since),
        }
    }
}

/// How an organization was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SignUpSource {
    /// An agent signed itself up.
    Agent,
    /// Somebody joined the waiting list.
    Waitlist,
    /// The operator created it.
    Operator,
    /// A user signed up in the console.
    Console,
}

impl SignUpSource {
    /// Every source.
    pub const ALL: [Self; 4] = [Self::Agent, Self::Waitlist, Self::Operator, Self::Console];

    /// The name in stores and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Waitlist => "waitlist",
            Self::Operator => "operator",
            Self::Console => "console",
        }
    }

    /// The source with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.as_str() == name)
    }
}

/// An organization as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Organization {
    /// The identifier.
    pub id: OrgId,
    /// The name.
    pub name: OrgName,
    /// The plan.
    pub plan: Plan,
    /// Limits that differ from the plan's, as a JSON object; see [`Limits::overridden`].
    pub limit_overrides: Option<Value>,
    /// Whether it is for tests. If so, its keys have a prefix of their own.
    pub test: bool,
    /// The address that signed up, or that the operator gave. It belongs to one organization at most.
    pub email: Option<Email>,
    /// When that address was verified.
    pub verified_at: Option<Timestamp>,
    /// Whether it is on the waiting list.
    pub waitlist: Waitlist,
    /// How it was created.
    pub source: SignUpSource,
    /// The terms that it last accepted.
    pub accepted: Option<Acceptance>,
    /// Where replies to its emails go.
    pub reply_to: ReplyTo,
    /// The row's version.
    pub version: Version,
    /// When it was created.
    pub created_at: Timestamp,
}

/// The overrides of an organization that belongs to the operator. It is on [`Plan::Custom`], which limits only the
/// rate, and the overrides remove the rate unless `given` has one. The operator of a server has no one to pay.
pub fn limits_of_operators_own(given: Option<Value>) -> Value {
    let unlimited = json!({ "rate_per_second": null });
    match (unlimited, given) {
        (Value::Object(mut limits), Some(Value::Object(given))) => {
            limits.extend(given);
            Value::Object(limits)
        }
        // A value that is not an object is refused when the limits are read.
        (_, Some(other)) => other,
        (unlimited, None) => unlimited,
    }
}

/// Why an organization cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrganizationError {
    /// The limits that were given are not valid.
    #[error(transparent)]
    Limits(#[from] LimitsError),
}

impl Organization {
    /// The plan's limits with this organization's overrides.
    ///
    /// # Errors
    /// [`LimitsError`] if the stored overrides are invalid.
    pub fn limits(&self) -> Result<Limits, LimitsError> {
        let limits = self.plan.limits();
        self.limit_overrides.as_ref().map_or(Ok(limits), |overrides| limits.overridden(overrides))
    }

    /// The organization on another plan. `limit_overrides` replace the plan's limits. An empty object replaces none, so it
    /// is left out.
    ///
    /// # Errors
    /// [`OrganizationError::Limits`] if the limits are not valid.
    pub fn on_plan(&self, plan: Plan, limit_overrides: Option<Value>) -> Result<Self, OrganizationError> {
        let limit_overrides = limit_overrides.filter(|limits| *limits != json!({}));
        let organization = Self { plan, limit_overrides, version: self.version.next(), ..self.clone() };
        organization.limits()?;
        Ok(organization)
    }

    /// The organization with another name.
    #[must_use]
    pub fn named(&self, name: OrgName) -> Self {
        Self { name, version: self.version.next(), ..self.clone() }
    }

    /// The organization with only its version raised, so that only one of several concurrent replacements of its keys
    /// succeeds.
    #[must_use]
    pub fn with_other_keys(&self) -> Self {
        Self { version: self.version.next(), ..self.clone() }
    }

    /// The kind of a new key of the organization.
    pub const fn key_kind(&self) -> KeyKind {
        if self.test { KeyKind::Test } else { KeyKind::Org }
    }

    /// The organization with other addresses for replies.
    #[must_use]
    pub fn with_reply_to(&self, reply_to: ReplyTo) -> Self {
        Self { reply_to, version: self.version.next(), ..self.clone() }
    }

    /// Whether an agent signed it up and has not proved its address yet. The plan does not show this, because the
    /// operator may have changed it.
    pub fn awaits_code(&self) -> bool {
        self.source == SignUpSource::Agent && self.verified_at.is_none()
    }

    /// The organization after its owner has proved the address `email`, if that changes it. One that was signed up in the
    /// console leaves the sandbox for the plan and the limits that are `granted`. It gets the address if it has none and
    /// the address is `free`.
    #[must_use]
    pub fn with_proved_owner(
        &self,
        email: &Email,
        free: bool,
        granted: (Plan, Option<&Value>),
        now: Timestamp,
    ) -> Option<Self> {
        if !matches!(self.source, SignUpSource::Console | SignUpSource::Waitlist) {
            return None;
        }
        let (plan, limits) = if self.plan == Plan::FreeAgentUnverified {
            (granted.0, granted.1.or(self.limit_overrides.as_ref()))
        } else {
            (self.plan, self.limit_overrides.as_ref())
        };
        let own = self.email.as_ref().or(Some(email).filter(|_| free));
        let verified_at = self.verified_at.or(Some(now).filter(|_| own == Some(email)));
        let changes = (plan, own, verified_at) != (self.plan, self.email.as_ref(), self.verified_at);
        let (limit_overrides, email) = (limits.cloned(), own.cloned());
        let version = self.version.next();
        changes.then(|| Self { plan, limit_overrides, email, verified_at, version, ..self.clone() })
    }

    /// The organization without its address, which passes to another one.
    #[must_use]
    pub fn without_email(&self) -> Self {
        Self { email: None, version: self.version.next(), ..self.clone() }
    }

    /// The organization, waiting since `now`. One that is already waiting stays as it is, with its place and its version.
    #[must_use]
    pub fn waiting(&self, now: Timestamp) -> Self {
        match self.waitlist {
            Waitlist::Active => self.with_waitlist(Waitlist::Since(now)),
            Waitlist::Since(_) => self.clone(),
        }
    }

    /// The organization, put on the waiting list or taken off it.
    #[must_use]
    pub fn with_waitlist(&self, waitlist: Waitlist) -> Self {
        Self { waitlist, version: self.version.next(), ..self.clone() }
    }
}

impl Terms {
    /// The organization after it accepted `version`, and the record of the acceptance. Accepting a version again is
    /// allowed and recorded.
    ///
    /// # Errors
    /// [`StaleTerms`] if `version` is not current.
    pub fn accept_for(
        &self,
        organization: &Organization,
        version: &str,
        now: Timestamp,
    ) -> Result<(Organization, AcceptanceRecord), StaleTerms> {
        let acceptance = self.accept(version, now)?;
        let record = AcceptanceRecord { org: Some(organization.id), acceptance: acceptance.clone() };
        let accepted =
            Organization { accepted: Some(acceptance), version: organization.version.next(), ..organization.clone() };
        Ok((accepted, record))
    }
}

#[cfg(test)]
mod tests {
    use kalends_plans::Metric;

    use super::*;

    fn limits(given: Option<Value>) -> Result<Limits, LimitsError> {
        Plan::Custom.limits().overridden(&limits_of_operators_own(given))
    }

    #[test]
    fn the_operators_own_organization_has_no_limits() {
        let limits = limits(None).unwrap();
        assert_eq!(limits.rate(), None);
        assert!(Metric::ALL.into_iter().all(|metric| limits.get(metric).is_none()));
    }

    #[test]
    fn limits_from_the_operator_apply() {
        let limits = limits(Some(json!({ "rate_per_second": 7, "agents": 3 }))).unwrap();
        assert_eq!(
            (limits.rate_per_second(), limits.get(Metric::Agents), limits.get(Metric::Events)),
            (Some(7), Some(3), None)
        );
    }

    #[test]
    fn overrides_must_be_an_object() {
        for given in [json!([]), json!("none"), json!(null)] {
            assert_eq!(limits(Some(given)), Err(LimitsError::NotAnObject));
        }
    }
}
