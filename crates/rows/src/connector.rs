//! Rows of `connector_clients`, `authorization_codes` and `refresh_tokens`.

use kalends_accounts::{AuthorizationCode, ConnectorClient, RefreshToken, TokenHash};
use kalends_kernel::{AgentId, ConnectorClientId, KeyId, OrgId, StoreError, UserId};
use kalends_time::Timestamp;

use crate::{Key, Located, row_id, scoped_key::read_scopes};

columns! {
    /// The columns of a client.
    pub struct ConnectorClientRow<K> {
        id: K,
        name: String,
        redirects: String,
        created_at: i64,
        used_at: i64,
    }
}

impl<K: Key> ConnectorClientRow<K> {
    /// The client, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<ConnectorClient, StoreError> {
        let id = ConnectorClientId::from_uuid(row_id("connector_clients", "id", &self.id)?);
        let row = Located { table: "connector_clients", id };
        Ok(ConnectorClient {
            id,
            name: self.name,
            redirects: row.read("redirects", serde_json::from_str(&self.redirects))?,
            created_at: Timestamp::from_micros(self.created_at),
            used_at: Timestamp::from_micros(self.used_at),
        })
    }
}

/// The column with the redirect addresses of a client: a JSON array.
pub fn redirects_json(redirects: &[String]) -> String {
    serde_json::Value::from(redirects.to_vec()).to_string()
}

columns! {
    /// The columns of an authorization code, other than its hash.
    pub struct AuthorizationCodeRow<K> {
        org_id: K,
        client_id: K,
        redirect: String,
        challenge: Vec<u8>,
        agent_id: K,
        scopes: Option<String>,
        user_id: K,
        expires_at: i64,
        key_id: Option<K>,
    }
}

impl<K: Key> AuthorizationCodeRow<K> {
    /// The code with that hash, or an error that names the corrupt column.
    pub fn into_domain(self, hash: TokenHash) -> Result<AuthorizationCode, StoreError> {
        // A hash is not shown.
        let row = Located { table: "authorization_codes", id: "a code" };
        let key = row.uuid_if_any("key_id", self.key_id.as_ref())?;
        Ok(AuthorizationCode {
            hash,
            client: ConnectorClientId::from_uuid(row.uuid("client_id", &self.client_id)?),
            redirect: self.redirect,
            challenge: row.digest("challenge", &self.challenge)?,
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            agent: AgentId::from_uuid(row.uuid("agent_id", &self.agent_id)?),
            scopes: read_scopes(&row, self.scopes.as_deref())?,
            user: UserId::from_uuid(row.uuid("user_id", &self.user_id)?),
            expires_at: Timestamp::from_micros(self.expires_at),
            key: key.map(KeyId::from_uuid),
        })
    }
}

columns! {
    /// The columns of a refresh token, other than its hash.
    pub struct RefreshTokenRow<K> {
        org_id: K,
        key_id: K,
        client_id: K,
        created_at: i64,
        expires_at: i64,
        spent_at: Option<i64>,
    }
}

impl<K: Key> RefreshTokenRow<K> {
    /// The token with that hash, or an error that names the corrupt column.
    pub fn into_domain(self, hash: TokenHash) -> Result<RefreshToken, StoreError> {
        let row = Located { table: "refresh_tokens", id: "a token" };
        Ok(RefreshToken {
            hash,
            org: OrgId::from_uuid(row.uuid("org_id", &self.org_id)?),
            key: KeyId::from_uuid(row.uuid("key_id", &self.key_id)?),
            client: ConnectorClientId::from_uuid(row.uuid("client_id", &self.client_id)?),
            created_at: Timestamp::from_micros(self.created_at),
            expires_at: Timestamp::from_micros(self.expires_at),
            spent_at: self.spent_at.map(Timestamp::from_micros),
        })
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    /// The table and the column that the error names.
    fn place<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> (&'static str, &'static str) {
        match outcome {
            Err(StoreError::Corrupt(row)) => (row.table, row.column),
            other => panic!("{other:?}"),
        }
    }

    fn client(redirects: String) -> Result<ConnectorClient, StoreError> {
        let row = ConnectorClientRow { id: Uuid::nil(), name: "Desk".to_owned(), redirects, created_at: 1, used_at: 2 };
        row.into_domain()
    }

    #[test]
    fn redirect_addresses_are_read_back() {
        for redirects in [vec![], vec!["https://client.example/?a=\"b\"\\".to_owned(), String::new()]] {
            assert_eq!(client(redirects_json(&redirects)).unwrap().redirects, redirects);
        }
        for corrupt in ["", "{}", "[1]"] {
            assert_eq!(place(client(corrupt.to_owned())), ("connector_clients", "redirects"));
        }
    }

    #[test]
    fn corrupt_codes_are_located_errors() {
        let code = |challenge: usize, scopes: Option<&str>| {
            let row = AuthorizationCodeRow {
                org_id: Uuid::nil(),
                client_id: Uuid::nil(),
                redirect: "https://client.example/".to_owned(),
                challenge: vec![7; challenge],
                agent_id: Uuid::nil(),
                scopes: scopes.map(str::to_owned),
                user_id: Uuid::nil(),
                expires_at: 1,
                key_id: None,
            };
            row.into_domain(TokenHash::of("code"))
        };
        assert!(code(32, Some("freebusy:org")).is_ok_and(|code| !code.scopes.is_empty() && code.key.is_none()));
        assert_eq!(place(code(31, None)), ("authorization_codes", "challenge"));
        assert_eq!(place(code(32, Some("everything"))), ("authorization_codes", "scopes"));
    }
}
