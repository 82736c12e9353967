//! Organizations, API keys, agent sign-up, terms, and the vocabulary of the audit log.
//!
//! Rules are pure functions of a snapshot and a command; [`ports`] says what they need to read and
//! [`Change`] what they write.

mod audit;
mod change;
mod email;
mod key;
mod organization;
pub mod ports;
mod sign_up;
mod terms;

pub use audit::{Action, AuditEntry};
pub use change::Change;
pub use email::{EMAIL_MAX, Email};
pub use key::{ApiKey, KeyHash, KeyKind, NewKey, Principal, Reach};
pub use organization::{OrgName, Organization, OrganizationError, Waitlist};
pub use sign_up::{
    AGENT_NAME_MAX, CODE_ATTEMPTS, CODE_LASTS, Code, CodeHash, NewSignUp, SignedUp, VerificationCode, VerifyError,
    sign_up, verify,
};
pub use terms::{Acceptance, StaleTerms, Terms};
