//! Keys that speak for one agent (`svc_ak_`, and `svc_at_` for connectors), and the forms of a key's text.

use std::fmt;

use kalends_kernel::{AgentId, ConnectorClientId, Entropy, KeyId, OrgId, base64url, from_base64url, random_bytes};
use kalends_time::{CivilDate, Timestamp};

use crate::{
    ACCESS_TOKEN_PREFIX, ApprovalPolicy, ConnectorAccess, ConnectorClient, KeyHash, KeyLabel, NewAccessToken, NewKey,
    Scopes,
};

/// The prefix of an agent's key.
pub const SCOPED_KEY_PREFIX: &str = "svc_ak_";
/// The number of random bytes in a key.
const SECRET: usize = 32;

/// The form of a key's text. It does not say whether the key exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyForm {
    /// `svc_sk_`: an organization's key.
    Organization,
    /// `svc_sk_test_`: the key of an organization that was created for tests.
    Test,
    /// `svc_ak_`: an agent's key.
    Agent,
    /// `svc_at_`: an access token, which is the present text of a connector's key.
    Access,
}

impl KeyForm {
    /// Every form.
    pub const ALL: [Self; 4] = [Self::Organization, Self::Test, Self::Agent, Self::Access];

    /// The prefix of the text.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Organization => "svc_sk_",
            Self::Test => "svc_sk_test_",
            Self::Agent => SCOPED_KEY_PREFIX,
            Self::Access => ACCESS_TOKEN_PREFIX,
        }
    }

    /// The form of a text: the prefix, and 32 bytes as 43 characters of base64url. Any other text is not a key and
    /// need not be looked up.
    pub fn of(text: &str) -> Option<Self> {
        // The length of the rest distinguishes `svc_sk_test_` from a `svc_sk_` whose secret begins with `test_`.
        Self::ALL.into_iter().find(|form| {
            text.strip_prefix(form.prefix())
                .filter(|secret| secret.len() == 43)
                .and_then(from_base64url)
                .is_some_and(|bytes| bytes.len() == SECRET)
        })
    }
}

/// An agent's key as stored. It ends when it is revoked or its agent is decommissioned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopedKey {
    /// The row's identifier, which is shown.
    pub id: KeyId,
    /// The organization.
    pub org: OrgId,
    /// The agent that it speaks for.
    pub agent: AgentId,
    /// The label, if it has one.
    pub label: Option<KeyLabel>,
    /// What it reaches beyond its agent.
    pub scopes: Scopes,
    /// Which of its writes need approval; `None` if none does.
    pub approval: Option<ApprovalPolicy>,
    /// The client that holds it, if it was granted by OAuth.
    pub connector: Option<ConnectorAccess>,
    /// The hash that the key is found by.
    pub hash: KeyHash,
    /// The first [`NewKey::PREFIX_LEN`] characters of the text, to distinguish keys.
    pub prefix: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// Who created it, as [`crate::AuditEntry::actor_key_prefix`] names callers; `None` for a key of an earlier
    /// release.
    pub created_by: Option<String>,
    /// The UTC day of the last use that was recorded ([`crate::ports::KeyUses`]); `None` if there is none.
    pub last_used_on: Option<CivilDate>,
}

/// A new key of an agent: its row, and the text, which is shown once.
#[derive(Clone, PartialEq, Eq)]
pub struct NewScopedKey {
    /// The row.
    pub key: ScopedKey,
    /// The text.
    pub text: String,
}

impl fmt::Debug for NewScopedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewScopedKey").field("key", &self.key).finish_non_exhaustive()
    }
}

impl ScopedKey {
    /// The name of this kind in stores, in addition to those of [`crate::KeyKind`].
    pub const KIND: &str = "agent";

    /// The key that a connector is granted. Its text is the access token, and its label is the name of the client, if the
    /// client has one. `created_by` is the person who granted it, as the audit log names callers.
    #[expect(clippy::too_many_arguments, reason = "each is a field of the key, and no two of a type are related")]
    pub fn of_connector(
        id: KeyId,
        org: OrgId,
        agent: AgentId,
        client: &ConnectorClient,
        scopes: Scopes,
        token: &NewAccessToken,
        created_by: &str,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Self {
        let label: String = client.name.chars().take(KeyLabel::MAX).collect();
        Self {
            id,
            org,
            agent,
            label: KeyLabel::parse("label", &label).ok(),
            scopes,
            approval: None,
            connector: Some(ConnectorAccess { client: client.id, expires_at }),
            hash: token.hash,
            prefix: token.prefix.clone(),
            created_at: now,
            created_by: Some(created_by.to_owned()),
            last_used_on: None,
        }
    }

    /// Whether it is what that person granted that client for that agent. `person` is named as the audit log names callers.
    pub fn is_grant(&self, client: ConnectorClientId, agent: AgentId, person: &str) -> bool {
        self.connector.is_some_and(|access| access.client == client)
            && self.agent == agent
            && self.created_by.as_deref() == Some(person)
    }
}

impl NewScopedKey {
    /// A key with 256 random bits. `created_by` is its creator, as the audit log names callers.
    pub fn generate(
        org: OrgId,
        agent: AgentId,
        label: Option<KeyLabel>,
        scopes: Scopes,
        created_by: &str,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Self {
        let text = format!("{SCOPED_KEY_PREFIX}{}", base64url(&random_bytes::<SECRET>(entropy)));
        let key = ScopedKey {
            id: KeyId::new(now, entropy),
            org,
            agent,
            label,
            scopes,
            approval: None,
            connector: None,
            hash: KeyHash::of(&text),
            prefix: text.chars().take(NewKey::PREFIX_LEN).collect(),
            created_at: now,
            created_by: Some(created_by.to_owned()),
            last_used_on: None,
        };
        Self { key, text }
    }

    /// The same key, some of whose writes may need approval.
    #[must_use]
    pub fn with_approval(mut self, approval: Option<ApprovalPolicy>) -> Self {
        self.key.approval = approval;
        self
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::{KeyKind, Scope, new_authorization_code, new_refresh_token};

    struct Bytes(u8);
    impl Entropy for Bytes {
        fn fill(&self, bytes: &mut [u8]) {
            for (index, byte) in (0u8..).zip(bytes) {
                *byte = self.0.wrapping_mul(31).wrapping_add(index);
            }
        }
    }

    #[test]
    fn an_agent_s_key_is_shown_once_and_found_by_its_hash() {
        let now = Timestamp::from_micros(0);
        let (org, agent) = (OrgId::new(now, &Bytes(1)), AgentId::new(now, &Bytes(2)));
        let label = KeyLabel::parse("label", "laptop").unwrap();
        let (scopes, by) = (Scopes::NONE.with(Scope::HoldsOrg), "usr_01jn8r6v9ke0bt3m");
        let fresh = NewScopedKey::generate(org, agent, Some(label.clone()), scopes, by, now, &Bytes(3));
        assert_eq!(KeyForm::of(&fresh.text), Some(KeyForm::Agent));
        assert_eq!(fresh.key.hash, KeyHash::of(&fresh.text));
        assert_eq!((fresh.key.org, fresh.key.agent, &fresh.key.label), (org, agent, &Some(label)));
        assert_eq!(fresh.key.scopes, scopes);
        assert_eq!(fresh.key.prefix, fresh.text[..20]);
        assert_eq!((fresh.key.created_by.as_deref(), fresh.key.last_used_on), (Some("usr_01jn8r6v9ke0bt3m"), None));
        assert!(!format!("{fresh:?}").contains(&fresh.text), "a key is never logged");
    }

    #[rstest]
    #[case::named("Desk assistant", Some("Desk assistant".to_owned()))]
    #[case::unnamed("", None)]
    #[case::blank("  ", None)]
    #[case::long(&"é".repeat(101), Some("é".repeat(100)))]
    fn a_connector_s_key_is_an_agent_s_key(#[case] name: &str, #[case] label: Option<String>) {
        let now = Timestamp::from_micros(0);
        let (org, agent) = (OrgId::new(now, &Bytes(1)), AgentId::new(now, &Bytes(2)));
        let client = ConnectorClient {
            id: ConnectorClientId::new(now, &Bytes(3)),
            name: name.to_owned(),
            redirects: Vec::new(),
            created_at: now,
            used_at: now,
        };
        let (token, scopes) = (NewAccessToken::generate(&Bytes(4)), Scopes::NONE.with(Scope::DirectoryOrg));
        let (id, expires_at) = (KeyId::new(now, &Bytes(5)), Timestamp::from_micros(7));
        let key = ScopedKey::of_connector(id, org, agent, &client, scopes, &token, "usr_1", expires_at, now);
        assert_eq!((key.id, key.org, key.agent, key.scopes), (id, org, agent, scopes));
        assert_eq!(key.label.as_ref().map(KeyLabel::as_str), label.as_deref());
        assert_eq!((key.hash, key.prefix.as_str()), (KeyHash::of(&token.text), &token.text[..20]));
        assert_eq!(key.connector, Some(ConnectorAccess { client: client.id, expires_at }));
        assert!(key.is_grant(client.id, agent, "usr_1"));
        let (other_client, other_agent) = (ConnectorClientId::new(now, &Bytes(6)), AgentId::new(now, &Bytes(6)));
        assert!(!key.is_grant(other_client, agent, "usr_1") && !key.is_grant(client.id, other_agent, "usr_1"));
        assert!(!key.is_grant(client.id, agent, "usr_2"));
        let plain = ScopedKey { connector: None, ..key.clone() };
        assert!(!plain.is_grant(client.id, agent, "usr_1"));
        assert_eq!((key.approval, key.created_by.as_deref(), key.created_at), (None, Some("usr_1"), now));
    }

    const SECRET_43: &str = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc";

    #[rstest]
    #[case::organization("svc_sk_", "", Some(KeyForm::Organization))]
    #[case::for_tests("svc_sk_test_", "", Some(KeyForm::Test))]
    #[case::agent("svc_ak_", "", Some(KeyForm::Agent))]
    #[case::access("svc_at_", "", Some(KeyForm::Access))]
    #[case::refresh("svc_rt_", "", None)]
    #[case::authorization_code("svc_ac_", "", None)]
    #[case::another_prefix("svc_xk_", "", None)]
    #[case::no_prefix("", "", None)]
    #[case::upper_case("SVC_SK_", "", None)]
    #[case::longer("svc_sk_", "A", None)]
    #[case::padded("svc_sk_", "=", None)]
    #[case::white_space("svc_sk_", " ", None)]
    #[case::before(" svc_sk_", "", None)]
    fn forms_are_recognized(#[case] prefix: &str, #[case] after: &str, #[case] form: Option<KeyForm>) {
        assert_eq!(KeyForm::of(&format!("{prefix}{SECRET_43}{after}")), form);
    }

    #[rstest]
    #[case::another_alphabet("svc_sk_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHB+c")]
    #[case::stray_bits("svc_sk_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwd")]
    #[case::short("svc_sk_BwcHBwcH")]
    #[case::bare("svc_sk_")]
    #[case::not_ascii("svc_sk_ééééééééééééééééééééééééééééééééééééééééééé")]
    fn malformed_keys_are_refused(#[case] text: &str) {
        assert_eq!(KeyForm::of(text), None);
    }

    #[test]
    fn a_secret_that_begins_with_test_does_not_make_a_test_key() {
        let text = "svc_sk_test_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        assert_eq!((text.len(), KeyForm::of(text)), (7 + 43, Some(KeyForm::Organization)));
    }

    proptest! {
        /// Every generated key has the form of its kind.
        #[test]
        fn generated_keys_have_their_form(seed: u8) {
            let now = Timestamp::from_micros(0);
            let org = OrgId::new(now, &Bytes(seed));
            for (kind, form) in [
                (KeyKind::Org, KeyForm::Organization),
                (KeyKind::Restricted, KeyForm::Organization),
                (KeyKind::Test, KeyForm::Test),
            ] {
                let fresh = NewKey::generate(org, kind, now, &Bytes(seed));
                prop_assert_eq!(KeyForm::of(&fresh.text), Some(form));
            }
            let agent = AgentId::new(now, &Bytes(seed));
            let scoped = NewScopedKey::generate(org, agent, None, Scopes::NONE, "usr_1", now, &Bytes(seed));
            prop_assert_eq!(KeyForm::of(&scoped.text), Some(KeyForm::Agent));
            prop_assert_eq!(KeyForm::of(&NewAccessToken::generate(&Bytes(seed)).text), Some(KeyForm::Access));
            for other in [new_refresh_token(&Bytes(seed)), new_authorization_code(&Bytes(seed))] {
                prop_assert_eq!(KeyForm::of(&other), None);
            }
        }

        /// No other text has the form of a key.
        #[test]
        fn other_texts_have_no_form(text in "\\PC{0,80}") {
            prop_assert_eq!(KeyForm::of(&text), None);
        }
    }
}
