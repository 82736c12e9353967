//! The clocks by which the times in a feed are read.

use std::collections::BTreeSet;

use kalends_time::Zone;

use super::clock::Clock;
use super::feed::{Context, Warning};
use super::scan::Scanned;
use super::steps::Steps;
use super::values::Form;
use super::zones::{clock_of, named};

/// The clocks of a feed, and the warnings from resolving them.
#[derive(Debug)]
pub(super) struct Resolver<'a> {
    pub(super) context: &'a Context,
    /// The clock of each zone name, by its number.
    clocks: Vec<Option<Clock>>,
    /// The default zone of each `VCALENDAR`, for times without a zone.
    defaults: Vec<Zone>,
    pub(super) warnings: BTreeSet<Warning>,
    pub(super) steps: Steps,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(scanned: &Scanned, context: &'a Context) -> Self {
        let mut steps = Steps::new();
        let mut warnings = BTreeSet::new();
        let unknown = |name: &str| Warning::UnknownZone { name: name.chars().take(64).collect() };
        let mut clock = |name: &String| {
            let clock = clock_of(name, &scanned.described, context.now, &mut steps);
            if clock.is_none() {
                warnings.insert(unknown(name));
            }
            clock
        };
        let clocks = scanned.zones.names().iter().map(&mut clock).collect();
        let mut default = |name: &Option<String>| {
            let named = name.as_ref().and_then(&mut clock).and_then(|clock| clock.zone());
            named.unwrap_or(context.calendar_zone)
        };
        let defaults = scanned.calendars.iter().map(|head| default(&head.zone)).collect();
        Self { context, clocks, defaults, warnings, steps }
    }

    /// The first zone that a `VCALENDAR` names, if it is known.
    pub(super) fn named_zone(scanned: &Scanned) -> Option<Zone> {
        scanned.calendars.iter().find_map(|head| head.zone.as_deref()).and_then(named)
    }

    /// The clock of a time in the `VCALENDAR` with that index.
    pub(super) fn clock(&mut self, form: Form, calendar: usize) -> Clock {
        let default = self.defaults.get(calendar).copied().unwrap_or(self.context.calendar_zone);
        match form {
            Form::Utc => Clock::UTC,
            Form::Date => Clock::Zone(self.context.calendar_zone),
            Form::Zoned(number) => {
                let known = usize::try_from(number).ok().and_then(|number| self.clocks.get(number)?.clone());
                known.unwrap_or(Clock::Zone(default))
            }
            Form::Floating => {
                self.warnings.insert(Warning::Floating { read_in: default.name().to_owned() });
                Clock::Zone(default)
            }
        }
    }
}
