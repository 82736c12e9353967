//! A row of `sessions`, alone and with what the session opens.

use kalends_accounts::{Role, Session, SignedIn};
use kalends_kernel::{OrgId, SessionId, StoreError, UserId};
use kalends_time::Timestamp;

use crate::{Key, Located, OrganizationRow, UserRow, row_id};

columns! {
    /// The columns of a session.
    pub struct SessionRow<K> {
        id: K,
        user_id: K,
        org_id: Option<K>,
        created_at: i64,
        expires_at: i64,
        revoked_at: Option<i64>,
    }
}

columns! {
    /// The columns of a session, with its user, and the role and the organization of one of their memberships.
    pub struct SignedInRow<K> {
        session_id: K,
        session_user_id: K,
        session_org_id: Option<K>,
        session_created_at: i64,
        expires_at: i64,
        revoked_at: Option<i64>,
        user_id: K,
        user_email: String,
        email_verified_at: Option<i64>,
        holds_address: bool,
        user_name: String,
        password_hash: Option<String>,
        user_version: i64,
        user_created_at: i64,
        updated_at: i64,
        role: String,
        id: K,
        name: String,
        plan: String,
        limit_overrides: Option<String>,
        test: bool,
        email: Option<String>,
        verified_at: Option<i64>,
        waitlisted_at: Option<i64>,
        signup_source: String,
        accepted_terms: Option<String>,
        accepted_at: Option<i64>,
        reply_to: Option<String>,
        version: i64,
        created_at: i64,
    }
}

impl<K: Key> SignedInRow<K> {
    /// What the session opens, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<SignedIn, StoreError> {
        let user = UserRow {
            id: self.user_id,
            email: self.user_email,
            email_verified_at: self.email_verified_at,
            holds_address: self.holds_address,
            name: self.user_name,
            password_hash: self.password_hash,
            version: self.user_version,
            created_at: self.user_created_at,
            updated_at: self.updated_at,
        };
        let session = SessionRow {
            id: self.session_id,
            user_id: self.session_user_id,
            org_id: self.session_org_id,
            created_at: self.session_created_at,
            expires_at: self.expires_at,
            revoked_at: self.revoked_at,
        };
        let organization = OrganizationRow {
            id: self.id,
            name: self.name,
            plan: self.plan,
            limit_overrides: self.limit_overrides,
            test: self.test,
            email: self.email,
            verified_at: self.verified_at,
            waitlisted_at: self.waitlisted_at,
            signup_source: self.signup_source,
            accepted_terms: self.accepted_terms,
            accepted_at: self.accepted_at,
            reply_to: self.reply_to,
            version: self.version,
            created_at: self.created_at,
        };
        let organization = organization.into_domain()?;
        let role = Located { table: "memberships", id: &organization.id }.named("role", &self.role, Role::from_name)?;
        Ok(SignedIn { session: session.into_domain()?, user: user.into_domain()?, organization, role })
    }
}

impl<K: Key> SessionRow<K> {
    /// The session, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<Session, StoreError> {
        let id = SessionId::from_uuid(row_id("sessions", "id", &self.id)?);
        let row = Located { table: "sessions", id: &id };
        Ok(Session {
            id,
            user: UserId::from_uuid(row.uuid("user_id", &self.user_id)?),
            org: row.uuid_if_any("org_id", self.org_id.as_ref())?.map(OrgId::from_uuid),
            created_at: Timestamp::from_micros(self.created_at),
            expires_at: Timestamp::from_micros(self.expires_at),
            revoked_at: self.revoked_at.map(Timestamp::from_micros),
        })
    }
}
