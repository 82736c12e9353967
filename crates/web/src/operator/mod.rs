//! The pages for the operator of the server. They are in English, like the console, and work without scripts.

mod configuration;
mod failed_mail;
mod frame;
mod mail;
mod organization;
mod organizations;
mod overview;
mod sealing_keys;
mod sign_in;

pub use configuration::{OperatorConfiguration, OperatorSetting};
pub use failed_mail::{OperatorDayCount, OperatorFailedEmail, OperatorFailedMail, OperatorFailure};
pub use frame::{OperatorPlace, OperatorShell};
pub use mail::{OperatorMail, OperatorMailOutcome, TEST_MAIL_FIELDS};
pub use organization::{OperatorLimit, OperatorOrganizationPage, OperatorPlanGiven, PLAN_FIELDS};
pub use organizations::{OperatorOrganization, OperatorOrganizations, OperatorState, OperatorWaiting};
pub use overview::{OperatorBackup, OperatorCount, OperatorDuty, OperatorOverview};
pub use sealing_keys::{OperatorDataKey, OperatorKeys};
pub use sign_in::OperatorSignIn;
