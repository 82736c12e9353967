//! The availability rules of a calendar, as a row. `kalends-availability` applies them.

mod written;

use kalends_availability::Rules;
use kalends_kernel::{CalendarId, OrgId, RulesId, Version};
use kalends_time::{Timestamp, Zone};

pub use written::{
    BUFFER_MAX_MINUTES, DATES_MAX, WrittenHours, WrittenOverride, WrittenRules, WrittenWeek, read_rules, rules_document,
};

use crate::Calendar;

/// The rules of one calendar, as stored. A calendar without such a row is not restricted.
#[derive(Debug, Clone, PartialEq)]
pub struct AvailabilityRules {
    /// The identifier, which stays the same when the rules are replaced.
    pub id: RulesId,
    /// The owning organization.
    pub org: OrgId,
    /// The calendar that they apply to.
    pub calendar: CalendarId,
    /// The rules.
    pub rules: Rules,
    /// The row's version.
    pub version: Version,
    /// When the rules were created. Replacing them does not change this.
    pub created_at: Timestamp,
    /// When they last changed.
    pub updated_at: Timestamp,
}

/// The validated rules of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRules {
    /// The rules. Their own zone is ignored.
    pub rules: Rules,
    /// The zone of the rules; `None` means the calendar's present zone.
    pub zone: Option<Zone>,
}

impl AvailabilityRules {
    /// The first rules of `calendar`.
    pub fn create(id: RulesId, calendar: &Calendar, new: NewRules, now: Timestamp) -> Self {
        Self {
            id,
            org: calendar.org,
            calendar: calendar.id,
            rules: new.rules_on(calendar),
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
        }
    }

    /// The rules after a full replacement. Nothing that `new` leaves out is kept.
    #[must_use]
    pub fn replaced(&self, calendar: &Calendar, new: NewRules, now: Timestamp) -> Self {
        let rules = new.rules_on(calendar);
        Self { rules, version: self.version.next(), updated_at: now, ..self.clone() }
    }
}

impl NewRules {
    fn rules_on(self, calendar: &Calendar) -> Rules {
        self.rules.in_zone(self.zone.unwrap_or(calendar.zone))
    }
}

#[cfg(test)]
mod tests {
    use kalends_kernel::{Entropy, Metadata};
    use kalends_time::SignedDuration;

    use super::*;
    use crate::{AgentActivity, Conflicts, NewCalendar};

    struct Fixed;

    impl Entropy for Fixed {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(7);
        }
    }

    fn calendar(now: Timestamp) -> Calendar {
        let new = NewCalendar {
            name: "Work".into(),
            zone: "Asia/Tokyo".parse().unwrap(),
            activity: AgentActivity::Idle,
            default_reminders: None,
            conflicts: Conflicts::Allow,
            recurrence_default: None,
            metadata: Metadata::default(),
        };
        Calendar::create(CalendarId::new(now, &Fixed), OrgId::new(now, &Fixed), None, new, "token".into(), now)
    }

    #[test]
    fn replacing_keeps_only_the_id_and_the_creation_time() {
        let now = Timestamp::EPOCH;
        let calendar = calendar(now);
        let berlin: Zone = "Europe/Berlin".parse().unwrap();
        let new = |zone| NewRules { rules: Rules::default(), zone };
        let first = AvailabilityRules::create(RulesId::new(now, &Fixed), &calendar, new(Some(berlin)), now);
        assert_eq!((first.rules.zone(), first.version), (berlin, Version::FIRST));

        let later = now + SignedDuration::hours(1);
        let second = first.replaced(&calendar, new(None), later);
        assert_eq!(second.rules.zone(), calendar.zone, "the old zone is not kept");
        assert_eq!((second.id, second.created_at), (first.id, first.created_at));
        assert_eq!((second.version, second.updated_at), (first.version.next(), later));
    }
}
