//! The ports that only the application needs. The ports of a domain are in the `ports` module of its crate.

mod calendar_providers;
mod commits;
mod credentials;
mod fetching;
mod glance;
mod health;
mod human_calendars;
mod mail;
mod metering;
mod names;
mod rates;
mod sealing;
mod sign_in;
mod store;
mod webhooks;

pub use self::{
    calendar_providers::{
        AskedCalendar, CaldavLogin, CalendarProviders, DiscoveryError, PROVIDER_WITHIN, ProviderError, PublishedStep,
        TheirBusy,
    },
    commits::{Commit, CommitError, StoredAnswers},
    credentials::{CredentialsError, PasswordHasher, SessionTokens, Verdict},
    fetching::{FeedFetcher, FetchError, FetchedFeed},
    glance::{GLANCE_AHEAD, Glance, Glances, Waits},
    health::{Backups, Readiness},
    human_calendars::{HumanCalendars, HumanSeen},
    mail::{CalendarMethod, CalendarPart, LETTER_CLAIM_LASTS, Mail, MailError, MailReply, Mailer},
    metering::{Debited, Metering},
    names::{AgentName, AuditKey, AuditSubjects, CalendarName, NAMES_MAX, NamedForAudit, Names, subscription_name},
    rates::{AccountKey, Admission, Gate, RateKey, RateLimiter},
    sealing::{
        DataKeyState, DataKeyView, FieldCipher, KeyTable, OpenError, Place, Reseal, SEALED, SealingKeys, WrappedDataKey,
    },
    sign_in::{ExchangeError, Exchanged, OfferedProvider, SignInProviders},
    store::Store,
    webhooks::{WebhookPost, WebhookReply, WebhookSender},
};
