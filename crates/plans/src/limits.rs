//! The amount of each metric that a plan allows.

use kalends_quotas::Rate;
use serde_json::{Map, Value};

use crate::Metric;

/// A limit for each metric, and the requests per second of one key. `None` is unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    caps: [Option<u64>; Metric::ALL.len()],
    rate_per_second: Option<u32>,
}

/// Why a JSON value is not a set of limits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitsError {
    /// Not an object.
    #[error("limits must be a JSON object such as {{\"agents\": 10, \"events\": null}}")]
    NotAnObject,
    /// A key that is not the name of a metric.
    #[error("limits.{key}: unknown key; the keys are {known}")]
    UnknownKey {
        /// The key that was given.
        key: String,
        /// All keys.
        known: String,
    },
    /// A value that is not a limit.
    #[error("limits.{key}: must be a whole number of at least {min}, or null (unlimited), got {got}")]
    Value {
        /// The key whose value is wrong.
        key: String,
        /// The smallest allowed value.
        min: u8,
        /// The value that was given.
        got: String,
    },
}

const RATE: &str = "rate_per_second";

impl Limits {
    /// Limits that are unlimited except for the rate, if that is given.
    pub const fn unlimited(rate_per_second: Option<u32>) -> Self {
        Self { caps: [None; Metric::ALL.len()], rate_per_second }
    }

    /// These limits in the order of [`Metric::ALL`].
    pub(crate) const fn of(caps: [u64; Metric::ALL.len()], rate_per_second: u32) -> Self {
        let mut limits = Self::unlimited(Some(rate_per_second));
        let mut index = 0;
        while index < caps.len() {
            limits.caps[index] = Some(caps[index]);
            index += 1;
        }
        limits
    }

    /// The same limits with this metric unlimited.
    pub(crate) const fn without(mut self, metric: Metric) -> Self {
        self.caps[metric.index()] = None;
        self
    }

    /// The limit of a metric; `None` is unlimited.
    pub const fn get(&self, metric: Metric) -> Option<u64> {
        self.caps[metric.index()]
    }

    /// The requests per second that one key may make; `None` is unlimited.
    pub const fn rate_per_second(&self) -> Option<u32> {
        self.rate_per_second
    }

    /// The rate of one key, with a burst of one second; `None` is unlimited.
    pub const fn rate(&self) -> Option<Rate> {
        match self.rate_per_second {
            Some(rate) => Some(Rate::per_second(rate)),
            None => None,
        }
    }

    /// These limits with `overrides` applied. A number is the new limit, null is unlimited (also for the rate), and
    /// an absent key keeps the plan's value.
    ///
    /// # Errors
    /// [`LimitsError`] names the key and its allowed values.
    pub fn overridden(mut self, overrides: &Value) -> Result<Self, LimitsError> {
        for (key, value) in overrides.as_object().ok_or(LimitsError::NotAnObject)? {
            let wrong = |min| LimitsError::Value { key: key.clone(), min, got: value.to_string() };
            if key == RATE {
                self.rate_per_second = match value {
                    Value::Null => None,
                    value => Some(
                        value
                            .as_u64()
                            .and_then(|rate| u32::try_from(rate).ok())
                            .filter(|rate| (1..=1_000_000).contains(rate))
                            .ok_or_else(|| wrong(1))?,
                    ),
                };
                continue;
            }
            let metric = Metric::from_name(key).ok_or_else(|| LimitsError::UnknownKey {
                key: key.clone(),
                known: Metric::ALL.iter().map(|metric| metric.as_str()).chain([RATE]).collect::<Vec<_>>().join(", "),
            })?;
            self.caps[metric.index()] = match value {
                Value::Null => None,
                // Stores count in signed 64-bit integers.
                value => Some(value.as_u64().filter(|cap| i64::try_from(*cap).is_ok()).ok_or_else(|| wrong(0))?),
            };
        }
        Ok(self)
    }

    /// The limits that `GET /v1/plans` shows: those of every metric except booking pages and imported events.
    pub fn public(&self) -> Map<String, Value> {
        Metric::ALL
            .into_iter()
            .filter(|metric| !matches!(metric, Metric::BookingPages | Metric::ImportedEvents))
            .map(|metric| (metric.as_str().to_owned(), self.get(metric).map_or(Value::Null, Value::from)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Plan;

    #[test]
    fn overrides_keep_the_limits_they_do_not_name() {
        let pro = Plan::Pro.limits();
        let limits = pro.overridden(&json!({ "agents": 7, "events": null, "rate_per_second": 3 })).unwrap();
        assert_eq!(limits.get(Metric::Agents), Some(7));
        assert_eq!(limits.get(Metric::Events), None);
        assert_eq!(limits.get(Metric::Calendars), pro.get(Metric::Calendars));
        assert_eq!(limits.rate_per_second(), Some(3));
        assert_eq!(pro.overridden(&json!({ "agents": 7 })).unwrap().rate(), pro.rate());
    }

    #[test]
    fn a_null_rate_is_unlimited() {
        let limits = Plan::Free.limits().overridden(&json!({ "rate_per_second": null })).unwrap();
        assert_eq!((limits.rate_per_second(), limits.rate()), (None, None));
        assert_eq!(limits.get(Metric::Agents), Plan::Free.limits().get(Metric::Agents));
    }

    #[test]
    fn errors_name_the_key() {
        for (overrides, part) in [
            (json!([]), "JSON object"),
            (json!({ "agnets": 1 }), "limits.agnets"),
            (json!({ "agents": -1 }), "limits.agents"),
            (json!({ "agents": 1.5 }), "limits.agents"),
            (json!({ "agents": u64::MAX }), "limits.agents"),
            (json!({ "rate_per_second": 0 }), "limits.rate_per_second"),
        ] {
            let message = Plan::Free.limits().overridden(&overrides).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
