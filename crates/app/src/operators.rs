//! Operator commands, which can run while the service is running.

use std::sync::Arc;

use kalends_accounts::{
    Action, Change, Email, KeyKind, MailedToken, NewKey, OrgName, Organization, OrganizationError, SignUpSource,
    TokenPurpose, User, UserToken, Waitlist, limits_of_operators_own,
};
use kalends_kernel::{FieldError, OrgId, Version};
use kalends_plans::Plan;
use kalends_time::Timestamp;
use serde_json::Value;

use crate::{
    Activation, App, ChangeSet, Missing, Refusal,
    address_proof::unless_taken,
    attempt::{Attempt, retry_stale},
    etag, letters,
};

/// The command that changes a plan, as the audit log names it.
const SET_PLAN: &str = "org set-plan";

/// The parameters of a new organization.
#[derive(Debug, Clone)]
pub struct NewOrganization {
    /// The name, 1-255 characters.
    pub name: String,
    /// The organization's address, if it has one. It counts as verified.
    pub email: Option<String>,
    /// The plan; `None` makes the organization the operator's own, with no limits except those given here.
    pub plan: Option<Plan>,
    /// Limits that differ from those of the plan, as a JSON object.
    pub limits: Option<Value>,
    /// Whether its keys are marked as test keys.
    pub test: bool,
}

/// A new organization with its key, which is only shown here.
#[derive(Clone)]
pub struct CreatedOrganization {
    /// The organization.
    pub org: OrgId,
    /// The key.
    pub api_key: String,
}

/// Creates an organization and its key.
///
/// # Errors
/// [`Refusal::Invalid`], [`Refusal::EmailTaken`], [`Refusal::Store`].
pub async fn create_organization(app: &Arc<App>, new: NewOrganization) -> Result<CreatedOrganization, Refusal> {
    let now = app.now();
    let org = OrgId::new(now, app.entropy());
    let (plan, limit_overrides) = match new.plan {
        Some(plan) => (plan, new.limits),
        None => (Plan::Custom, Some(limits_of_operators_own(new.limits))),
    };
    let organization = Organization {
        id: org,
        name: OrgName::parse("name", &new.name)?,
        plan,
        limit_overrides,
        test: new.test,
        email: new.email.as_deref().map(|email| Email::parse("email", email)).transpose()?,
        verified_at: new.email.is_some().then_some(now),
        waitlist: Waitlist::Active,
        source: SignUpSource::Operator,
        accepted: None,
        reply_to: kalends_accounts::ReplyTo::default(),
        version: Version::FIRST,
        created_at: now,
    };
    organization.limits().map_err(|error| limits_at_fault(&error.into()))?;
    let kind = if new.test { KeyKind::Test } else { KeyKind::Org };
    let key = NewKey::generate(org, kind, now, app.entropy());
    let mut changes = ChangeSet::new(org);
    changes.accounts = vec![Change::CreateOrganization(organization), Change::CreateKey(key.key)];
    match app.commit_command(changes, Action::KeyCreate, "org create").await {
        Ok(()) => Ok(CreatedOrganization { org, api_key: key.text }),
        Err(Attempt::Refused(refusal)) => Err(refusal),
        Err(Attempt::Stale) => Err(Refusal::Contended),
    }
}

/// Changes the plan of an organization.
///
/// # Errors
/// [`Refusal::NotFound`], [`Refusal::Invalid`] for invalid limits.
pub async fn set_plan(app: &Arc<App>, org: OrgId, plan: Plan, limits: Option<Value>) -> Result<Organization, Refusal> {
    change(app, org, SET_PLAN, |organization| {
        organization.on_plan(plan, limits.clone()).map_err(|error| limits_at_fault(&error))
    })
    .await
}

/// [`set_plan`], for an operator who has seen the organization at the version `seen`. An organization that has the plan
/// and the limits already stays as it is, so that the same request can be sent twice.
///
/// # Errors
/// As [`set_plan`]. [`Refusal::Stale`] if the organization has changed since.
pub async fn set_plan_seen(
    app: &Arc<App>,
    org: OrgId,
    seen: Version,
    plan: Plan,
    limits: Option<Value>,
) -> Result<(), Refusal> {
    if is_on(app, org, plan, limits.as_ref()).await? {
        return Ok(());
    }
    let changed = change(app, org, SET_PLAN, |organization| {
        if organization.version != seen {
            return Err(Refusal::Stale { current: etag(organization.version) });
        }
        organization.on_plan(plan, limits.clone()).map_err(|error| limits_at_fault(&error))
    })
    .await;
    // The same request may have been sent twice at once.
    if matches!(changed, Err(Refusal::Stale { .. })) && is_on(app, org, plan, limits.as_ref()).await? {
        return Ok(());
    }
    changed.map(drop)
}

/// Whether the organization has the plan and the limits already. Limits that are not valid are refused.
async fn is_on(app: &App, org: OrgId, plan: Plan, limits: Option<&Value>) -> Result<bool, Refusal> {
    let organization = find(app, org).await?;
    let wanted = organization.on_plan(plan, limits.cloned()).map_err(|error| limits_at_fault(&error))?;
    Ok((organization.plan, organization.limit_overrides) == (wanted.plan, wanted.limit_overrides))
}

/// Puts an organization on the waiting list. One that is already waiting stays as it is.
///
/// # Errors
/// [`Refusal::NotFound`].
pub async fn waitlist(app: &Arc<App>, org: OrgId) -> Result<Organization, Refusal> {
    let now = app.now();
    change(app, org, "org waitlist", |organization| Ok(organization.waiting(now))).await
}

/// Admits an organization from the waiting list, and emails its address.
///
/// # Errors
/// [`Refusal::NotFound`].
pub async fn activate(app: &Arc<App>, org: OrgId) -> Result<Organization, Refusal> {
    crate::activate(app, org, Activation::Command).await
}

/// Replaces all keys of an organization, except agent keys, with a new one. Every node accepts the old ones for at most
/// one more second.
///
/// # Errors
/// [`Refusal::NotFound`].
pub async fn new_key(app: &Arc<App>, org: OrgId) -> Result<CreatedOrganization, Refusal> {
    retry_stale(|| async {
        let organization = find(app, org).await?;
        let (fresh, changes) = app.replacing_keys(&organization);
        app.commit_command(changes, Action::KeyRegenerate, "org new-key").await?;
        Ok(CreatedOrganization { org, api_key: fresh.text })
    })
    .await
}

/// Marks the address of a user as proved, where no mail can prove it.
///
/// # Errors
/// [`Refusal::Invalid`] for an address that no user has, or that several users state.
pub async fn verify_user(app: &Arc<App>, email: &str) -> Result<User, Refusal> {
    let email = Email::parse("email", email)?;
    retry_stale(|| async {
        let (user, _) = user_of(app, &email).await?;
        if user.email_verified_at.is_some() {
            return Ok(user);
        }
        let proved = user.proved(app.now());
        let changes = app.changes_of(&user, proved.clone()).await?;
        let resource = user.id.to_string();
        unless_taken(app.commit_command_about(resource, changes, Action::UserUpdate, "user verify").await)?;
        Ok(proved)
    })
    .await
}

/// The address of a page on which a user sets a password.
#[derive(Debug, Clone)]
pub struct PasswordLink {
    /// The user.
    pub user: User,
    /// The address, which contains the token.
    pub url: String,
    /// When it stops working.
    pub expires_at: Timestamp,
}

/// Makes a token that sets the password of a user, in place of any earlier one, where no mail can bring it.
///
/// # Errors
/// [`Refusal::Invalid`] for an address that no user has.
pub async fn reset_password(app: &Arc<App>, email: &str) -> Result<PasswordLink, Refusal> {
    let email = Email::parse("email", email)?;
    let token = MailedToken::generate(app.entropy());
    retry_stale(|| async {
        let (user, org) = user_of(app, &email).await?;
        let reset = UserToken::issue(&token, TokenPurpose::Password, user.id, app.now());
        let mut changes = ChangeSet::new(org);
        changes.accounts.push(Change::PutUserToken(reset));
        let resource = user.id.to_string();
        app.commit_command_about(resource, changes, Action::UserUpdate, "user reset-password").await?;
        let url = letters::reset_page(&app.parts.settings.console_url, &token);
        Ok(PasswordLink { user, url, expires_at: reset.expires_at })
    })
    .await
}

/// Removes the second factor of a user who has lost their authenticator app and their recovery codes.
///
/// # Errors
/// [`Refusal::Invalid`] for an address that no user has, and for a user without a second factor.
pub async fn remove_second_factor(app: &Arc<App>, email: &str) -> Result<User, Refusal> {
    let email = Email::parse("email", email)?;
    let removed = retry_stale(|| async {
        let (user, org) = user_of(app, &email).await?;
        if !app.has_second_factor(user.id).await? {
            return Err(FieldError::new("email", "is the address of a user without a second factor").into());
        }
        let mut changes = ChangeSet::new(org);
        changes.accounts.push(Change::RemoveSecondFactor(user.id));
        let (resource, action) = (user.id.to_string(), Action::AuthSecondFactorOff);
        app.commit_command_about(resource, changes, action, "user remove-second-factor").await?;
        Ok(user)
    })
    .await;
    if let Ok(user) = &removed {
        app.report(user, letters::second_factor_off(&user.email, &app.parts.settings.console_url));
    }
    removed
}

/// The user with that address, and the organization whose audit log records what is done for them.
async fn user_of(app: &Arc<App>, email: &Email) -> Result<(User, OrgId), Refusal> {
    let unknown = || Refusal::from(FieldError::new("email", "is not the address of a user"));
    let Some(user) = app.account_of(email).await? else {
        let several = "is stated by several accounts, and none of them has proved it; the person can do so with the link \
                       from the email of the sign-up";
        let stated = !app.accounts_of(email).await?.is_empty();
        return Err(if stated { FieldError::new("email", several).into() } else { unknown() });
    };
    let organization = app.organization_of(user.id).await?.ok_or_else(unknown)?;
    Ok((user, organization.id))
}

/// Records that a backup has just been made, and returns the time that is stored. The operator's pages show it.
///
/// # Errors
/// [`Refusal::Store`].
pub async fn record_backup(app: &Arc<App>) -> Result<Timestamp, Refusal> {
    let now = app.now();
    app.parts.store.record_backup(now).await?;
    Ok(now)
}

/// Every organization, the oldest first.
///
/// # Errors
/// [`Refusal::Store`].
pub async fn list_organizations(app: &Arc<App>) -> Result<Vec<Organization>, Refusal> {
    Ok(app.parts.store.list_organizations().await?)
}

/// The organization with that identifier.
pub(crate) async fn find(app: &App, org: OrgId) -> Result<Organization, Refusal> {
    let found = app.parts.store.find_organization(org).await?;
    found.ok_or_else(|| Refusal::missing(Missing::Organization, &org.to_string()))
}

/// Commits what `decide` makes of the organization. If it leaves the version, nothing changes.
async fn change(
    app: &Arc<App>,
    org: OrgId,
    command: &'static str,
    decide: impl Fn(&Organization) -> Result<Organization, Refusal>,
) -> Result<Organization, Refusal> {
    retry_stale(|| async {
        let seen = find(app, org).await?;
        let organization = decide(&seen)?;
        if organization.version == seen.version {
            return Ok(seen);
        }
        let mut changes = ChangeSet::new(org);
        changes.accounts.push(Change::UpdateOrganization { organization: organization.clone(), seen: seen.version });
        app.commit_command(changes, Action::OrgUpdate, command).await?;
        Ok(organization)
    })
    .await
}

fn limits_at_fault(error: &OrganizationError) -> Refusal {
    FieldError::new("limits", error.to_string()).into()
}
