//! The event types that an endpoint is subscribed to.

use kalends_kernel::{FieldError, FieldErrors};

use crate::EventType;

/// The name that stands for every type, including those of later versions.
pub const EVERYTHING: &str = "*";

/// The types that an endpoint is subscribed to: everything, or a list without duplicates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription(Option<Vec<EventType>>);

impl Subscription {
    /// Everything.
    pub const ALL: Self = Self(None);

    /// Checks a list of names: at least one, each from [`EventType::ALL`] or `*`. Duplicates are dropped, and `*` makes
    /// the rest of the list redundant.
    ///
    /// # Errors
    /// The list is empty or too long, or contains unknown names. Each unknown name is an error with its index, such as
    /// `events[2]`.
    pub fn parse(param: &str, names: &[String]) -> Result<Self, FieldErrors> {
        let known = || {
            let names = EventType::ALL.iter().map(|event_type| event_type.as_str()).chain([EVERYTHING]);
            names.collect::<Vec<_>>().join(", ")
        };
        if names.is_empty() {
            return Err(FieldError::new(
                param,
                format!("must name at least one event type; the types are {}", known()),
            )
            .into());
        }
        // Every type once, and `*`. A longer list must have duplicates.
        let most = EventType::ALL.len() + 1;
        if names.len() > most {
            let message = format!("must name at most {most} event types, got {}; `*` stands for all", names.len());
            return Err(FieldError::new(param, message).into());
        }
        let mut errors = FieldErrors::default();
        let mut types = Vec::new();
        let mut all = false;
        for (index, name) in names.iter().enumerate() {
            match EventType::from_name(name) {
                Some(event_type) if types.contains(&event_type) => {}
                Some(event_type) => types.push(event_type),
                None if name == EVERYTHING => all = true,
                None => {
                    let got: String = name.chars().take(64).collect();
                    let message = format!("must be one of {}; got {got:?}", known());
                    errors.push(FieldError::new(format!("{param}[{index}]"), message));
                }
            }
        }
        errors.finish()?;
        Ok(if all { Self::ALL } else { Self(Some(types)) })
    }

    /// The subscription from a store's names; `None` if a name is unknown.
    pub fn from_stored<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut types = Vec::new();
        for name in names {
            if name == EVERYTHING {
                return Some(Self::ALL);
            }
            types.push(EventType::from_name(name)?);
        }
        Some(Self(Some(types)))
    }

    /// The names as responses and stores show them.
    pub fn names(&self) -> Vec<&'static str> {
        match &self.0 {
            None => vec![EVERYTHING],
            Some(types) => types.iter().map(|event_type| event_type.as_str()).collect(),
        }
    }

    /// The names as a JSON array, as stores keep them.
    pub fn to_json(&self) -> String {
        format!("[{}]", self.names().iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(","))
    }

    /// The subscription that [`Self::to_json`] wrote; `None` for any other text.
    pub fn from_json(text: &str) -> Option<Self> {
        let names: Vec<&str> = serde_json::from_str(text).ok()?;
        Self::from_stored(names)
    }

    /// Whether the endpoint is subscribed to that type.
    pub fn hears(&self, event_type: EventType) -> bool {
        self.0.as_ref().is_none_or(|types| types.contains(&event_type))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn parse(names: &[&str]) -> Result<Subscription, FieldErrors> {
        Subscription::parse("events", &names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[rstest]
    #[case(&["event.created"], &["event.created"])]
    #[case(&["event.updated", "event.created", "event.updated"], &["event.updated", "event.created"])]
    #[case(&["*"], &["*"])]
    #[case(&["event.created", "*"], &["*"])]
    #[case(&["webhook.deactivated", "proposal.expired", "event.reminder"], &["webhook.deactivated", "proposal.expired", "event.reminder"])]
    fn accepts(#[case] names: &[&str], #[case] kept: &[&str]) {
        let subscription = parse(names).unwrap();
        assert_eq!(subscription.names(), kept);
        assert_eq!(Subscription::from_json(&subscription.to_json()).as_ref(), Some(&subscription));
        assert_eq!(Subscription::from_stored(kept.iter().copied()), Some(subscription));
    }

    #[rstest]
    #[case(&[], "events", "at least one")]
    #[case(&["event.creatd"], "events[0]", "event.created")]
    #[case(&["event.created", "Event.Created"], "events[1]", "got \"Event.Created\"")]
    #[case(&["event.*"], "events[0]", "*")]
    #[case(&["*", ""], "events[1]", "got \"\"")]
    #[case(&["*"; 24], "events", "at most 23")]
    fn refuses(#[case] names: &[&str], #[case] param: &str, #[case] part: &str) {
        let error = parse(names).unwrap_err().first();
        assert!(error.param == param && error.message.contains(part), "{error}");
    }

    #[test]
    fn every_wrong_name_is_reported() {
        let errors = parse(&["a", "event.created", "b"]).unwrap_err();
        assert_eq!(errors.iter().map(|error| error.param.as_str()).collect::<Vec<_>>(), ["events[0]", "events[2]"]);
        assert_eq!(Subscription::from_stored(["event.created", "a"]), None);
    }

    proptest! {
        /// An endpoint gets exactly the event types that it subscribed to.
        #[test]
        fn an_endpoint_gets_the_types_it_subscribed_to(picked in prop::sample::subsequence(EventType::ALL, 1..18)) {
            let names: Vec<_> = picked.iter().map(|event_type| event_type.as_str().to_owned()).collect();
            let subscription = Subscription::parse("events", &names).unwrap();
            for event_type in EventType::ALL {
                prop_assert_eq!(subscription.hears(*event_type), picked.contains(event_type));
                prop_assert!(Subscription::ALL.hears(*event_type));
            }
        }
    }
}
