//! Organizations, API keys and their reach, one-time codes, agent sign-up, terms, users with their
//! memberships, sessions and claims, and the audit log.
//!
//! Rules are pure functions of a snapshot and a command. The traits of [`ports`] provide what they read, and
//! [`Change`] is what they write.

mod admin;
mod allowance;
mod approval_policy;
mod audit;
mod change;
mod claim;
mod connector;
mod connector_access;
mod console;
mod key;
mod key_label;
mod mailed_token;
mod member;
pub mod oauth;
mod organization;
mod organization_search;
mod otp;
mod phrase;
pub mod ports;
mod principal;
mod public_mail;
pub mod reach;
mod reply_to;
mod scope;
mod scoped;
mod second_factor;
mod session;
mod sign_up;
mod sign_ups;
pub mod stored_address;
mod terms;
mod token_hash;
mod user;
mod user_token;
mod waitlist;

pub use admin::{AdminToken, OperatorSession, is_seal};
pub use allowance::{Allowance, AllowanceTerms, Limited, Taken, Used};
pub use approval_policy::{ApprovalPolicy, ApprovedWrites, BadApprovedWrites};
pub use audit::{Action, AuditCursor, AuditEntry, AuditRange, AuditSearch, audit_kept_since, audit_retention_days};
pub use change::Change;
pub use claim::{
    AddressHash, CLAIM_HOLD, CLAIM_KEPT, CLAIM_REFUSED, Claim, ClaimError, ClaimState, ClaimStatus, RevokeError,
    Revoked, Rivals, StoredClaimState, claimable,
};
pub use connector::{
    ACCESS_TOKEN_LASTS, ACCESS_TOKEN_PREFIX, AUTHORIZATION_CODE_LASTS, AUTHORIZATION_CODE_PREFIX, AuthorizationCode,
    CLIENT_KEPT, CLIENT_NAME_MAX, CodeError, ConnectorClient, GRANTS_WITHOUT_KEYS, NEW_CLIENT_KEPT, NEW_CLIENTS_MAX,
    NewAccessToken, REDIRECT_MAX, REDIRECTS_BYTES_MAX, REDIRECTS_MAX, REFRESH_TOKEN_LASTS, REFRESH_TOKEN_PREFIX,
    RefreshError, RefreshToken, challenge_of, new_authorization_code, new_refresh_token,
};
pub use connector_access::ConnectorAccess;
pub use console::{Account, AddressStanding, Founding, NewAccount, SignUpError, open_account};
pub use key::{ApiKey, EndedKey, KeyHash, KeyKind, KeyView, NewKey};
pub use key_label::KeyLabel;
pub use mailed_token::MailedToken;
pub use member::{
    INVITATION_LASTS, INVITATION_REFUSED, MEMBERS_MAX, MEMBERSHIPS_MAX, MemberError, MemberInvitation, Membership,
    Role, active_membership, check_invitation, goes_with,
};
pub use organization::{OrgName, Organization, OrganizationError, SignUpSource, Waitlist, limits_of_operators_own};
pub use organization_search::{OrganizationCounts, OrganizationSearch};
pub use otp::{CODE_ATTEMPTS, CODE_LASTS, Code, CodeHash, VerificationCode};
pub use principal::{Credential, Principal, Reach};
pub use public_mail::{PublicMailDomains, PublicMailDomainsError};
pub use reply_to::{AskedAddress, REPLY_TO_ASKED_LASTS, ReplyTo, ReplyToToken};
pub use scope::{Scope, Scopes, UnknownScope};
pub use scoped::{KeyForm, NewScopedKey, SCOPED_KEY_PREFIX, ScopedKey};
pub use second_factor::{
    FACTOR_CODE_MAX, FACTOR_PENDING_LASTS, FactorUse, RECOVERY_CODES, RecoveryCode, SECOND_STEP_LASTS, SecondFactor,
    SecondStep, SecondStepToken, TotpSecret, WrongCode,
};
pub use session::{
    CrossSite, KeptToken, OPERATOR_SESSION_LASTS, Provenance, SESSION_COOKIE, SESSION_ISSUER, SESSION_LASTS, Session,
    SessionClaims, SessionCookies, SessionEnd, SignedIn, check_anonymous, check_provenance, kept_token,
    operator_cookie, origin_of, origins_of, session_token, state_cookie,
};
pub use sign_up::{AGENT_NAME_MAX, CODE_REFUSED, NewSignUp, SignedUp, VerifyError, sign_up, verify};
pub use sign_ups::SignUps;
pub use terms::{Acceptance, AcceptanceRecord, StaleTerms, TERMS_UPGRADE_HEADER, Terms};
pub use token_hash::TokenHash;
pub use user::{Password, PasswordHash, User, UserName};
pub use user_token::{TokenPurpose, UserToken};
pub use waitlist::{JoinError, NewJoin, WaitingName, join, joined_again};

/// The address of a user, an organization or a guest.
pub use kalends_kernel::{EMAIL_MAX, Email};
