//! The pages on which a file is imported into a calendar. They are in English, like the console, and work without
//! scripts.

use askama::Template;
use kalends_i18n::Translator;
use kalends_time::{Timestamp, Zone};

use crate::{
    calendar::{WhyNot, clock},
    english::in_english,
    feeds::FeedCalendar,
    numbers::grouped,
    problems::Problems,
    shell::Shell,
    snippets::import_command,
    subscriptions::SyncShown,
};

/// The fields of the form of a file.
pub const IMPORT_FIELDS: [&str; 2] = ["file", "body"];
/// The maximum size of a file that a form imports, in bytes. The next form carries it with its line breaks as two bytes
/// each, so it is less than a body may have.
pub const IMPORT_MAX: usize = 900_000;
/// The maximum number of refused events that a page names.
const REFUSED_MAX: usize = 20;

/// The form for a file or its text.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "import.html")]
pub struct ImportForm<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The calendar.
    pub calendar: &'a FeedCalendar,
    /// The random key of the form.
    pub once: &'a str,
    /// The address of the server, for a command that imports a file.
    pub base_url: &'a str,
    /// The text that was pasted.
    pub text: &'a str,
    /// What is wrong with the file or its text.
    pub problems: &'a Problems,
}

/// [`IMPORT_MAX`] in words.
pub fn import_max() -> String {
    format!("{} KB", IMPORT_MAX / 1_000)
}

impl ImportForm<'_> {
    fn max(&self) -> String {
        import_max()
    }

    fn problem(&self, field: &str) -> Option<&str> {
        self.problems.of(field)
    }

    fn command(&self) -> String {
        import_command(self.base_url, &self.calendar.id)
    }
}

/// An event of the file that the calendar refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedShown {
    /// Its `UID`.
    pub uid: String,
    /// When it begins.
    pub start: Timestamp,
    /// The zone of the calendar.
    pub zone: Zone,
    /// The first thing that takes its time.
    pub met: Option<WhyNot>,
}

impl RefusedShown {
    /// When it begins, such as `Monday, 2 March 2026, 09:00`.
    fn when(&self) -> String {
        let date = self.zone.to_civil(self.start).date;
        format!("{}, {}", Translator::english().date(date), clock(self.start, self.zone))
    }

    fn why(&self) -> String {
        self.met.map(|met| met.sentence(self.zone)).unwrap_or_default()
    }
}

/// What an import did, or would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportShown {
    /// The numbers of events, with the skipped ones and the warnings.
    pub report: SyncShown,
    /// The number of events that are refused because their time is taken.
    pub refused_count: u32,
    /// The first of them.
    pub refused: Vec<RefusedShown>,
}

impl ImportShown {
    fn number(number: u32) -> String {
        grouped(number.into())
    }

    fn created(&self) -> String {
        Self::number(self.report.created)
    }

    fn updated(&self) -> String {
        Self::number(self.report.updated)
    }

    fn untouched(&self) -> String {
        Self::number(self.report.untouched)
    }

    fn skipped(&self) -> String {
        Self::number(self.report.skipped)
    }

    fn refused_text(&self) -> String {
        Self::number(self.refused_count)
    }

    /// The skipped events and the warnings.
    const fn details(&self) -> &SyncShown {
        &self.report
    }

    fn named(&self) -> &[RefusedShown] {
        self.refused.get(..REFUSED_MAX).unwrap_or(&self.refused)
    }

    /// Whether every event of the file is on the calendar afterwards. Warnings say what an event is there without.
    const fn leaves_nothing_out(&self) -> bool {
        self.refused_count == 0 && self.report.skipped == 0
    }

    fn more_refused(&self) -> u64 {
        u64::from(self.refused_count).saturating_sub(u64::try_from(self.named().len()).unwrap_or(u64::MAX))
    }
}

/// An event of the file, as the import would write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedShown {
    /// The title.
    pub title: String,
    /// When it takes place, in words.
    pub when: String,
    /// What would happen, in words.
    pub what: &'static str,
}

/// What an import would do, before anything is written, with the form that imports the file.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "import_check.html")]
pub struct ImportCheck<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The calendar.
    pub calendar: &'a FeedCalendar,
    /// The random key of the form.
    pub once: &'a str,
    /// The text of the file.
    pub text: &'a str,
    /// What the import would do.
    pub result: &'a ImportShown,
    /// How many of the new events are series.
    pub new_series: u32,
    /// How many of the changed events are series.
    pub changed_series: u32,
    /// How many events would be deleted, because the file contains them in another form.
    pub deleted: u32,
    /// How many changed occurrences would be deleted, because the file replaces their series.
    pub dropped: u32,
    /// How many events count against the limit of the month.
    pub charged: u64,
    /// The first events that would be written.
    pub first: &'a [PlannedShown],
    /// Whether the import can refuse more or fewer events than the page says.
    pub numbers_can_differ: bool,
}

impl ImportCheck<'_> {
    fn writes(&self) -> u64 {
        u64::from(self.result.report.created) + u64::from(self.result.report.updated)
    }

    /// Whether the import would change something.
    fn has_effect(&self) -> bool {
        self.writes() > 0 || self.deleted > 0 || self.dropped > 0
    }

    /// Why the import would change nothing.
    const fn idle_text(&self) -> &'static str {
        match (self.result.leaves_nothing_out(), self.result.report.untouched) {
            (true, _) => "There is nothing to import.",
            (false, 0) => "Nothing in the file can be imported now; see what is left out.",
            (false, _) => "There is nothing more to import now; see what is left out.",
        }
    }

    fn series_text(series: u32) -> String {
        match series {
            0 => String::new(),
            1 => " (1 series)".to_owned(),
            series => format!(" ({} series)", grouped(series.into())),
        }
    }

    fn created_text(&self) -> String {
        self.result.created() + &Self::series_text(self.new_series)
    }

    fn updated_text(&self) -> String {
        self.result.updated() + &Self::series_text(self.changed_series)
    }

    fn deleted_text(&self) -> String {
        grouped(self.deleted.into())
    }

    fn dropped_text(&self) -> String {
        grouped(self.dropped.into())
    }

    fn charged_text(&self) -> String {
        grouped(self.charged)
    }

    /// What the list of the first events is.
    fn first_title(&self) -> String {
        let (first, all) = (u64::try_from(self.first.len()).unwrap_or(u64::MAX), self.writes());
        if first < all { format!("The first {first} of {}", grouped(all)) } else { "The events".to_owned() }
    }
}

/// What an import did.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "imported.html")]
pub struct Imported<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The calendar.
    pub calendar: &'a FeedCalendar,
    /// What the import did.
    pub result: &'a ImportShown,
}

in_english!(ImportForm<'_>, ImportCheck<'_>, Imported<'_>);
