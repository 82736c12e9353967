//! The pages about availability: the rules of the calendars, and what is offered because of them. They are in English,
//! like the console, and work without scripts.

mod hours;
mod list;
mod rules;
mod tester;
mod week;

pub use hours::{OpenHours, hours_text, read_hours};
pub use list::{AvailabilityList, RuledCalendar};
pub use rules::{
    DATE_FIELDS, DATES_SHOWN, DateGiven, DateShown, RULES_FIELDS, RemoveRules, RulesGiven, RulesPage, RulesShown,
};
pub use tester::{
    AskedTime, CHOSEN_MAX, Candidate, Hindrance, TEST_DAYS_MAX, TEST_FIELDS, TEST_REASONS_MAX, TestGiven, Tested,
    TesterPage, days_of,
};
