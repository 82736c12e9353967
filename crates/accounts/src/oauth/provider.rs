//! The providers with which users sign in, and the service's registration there.

use url::Url;

/// The placeholder for a tenant's identifier in [`Client::issuer`], as in Microsoft's discovery document.
pub(super) const TENANT: &str = "{tenantid}";
/// The maximum number of characters of a tenant's identifier.
const TENANT_MAX: usize = 64;

/// An identity provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Google.
    Google,
    /// Microsoft.
    Microsoft,
    /// The OpenID Connect provider that the operator chose. Users only sign in with it; it has no calendars.
    Oidc,
}

impl Provider {
    /// Every provider.
    pub const ALL: [Self; 3] = [Self::Google, Self::Microsoft, Self::Oidc];

    /// The name in `GET /v1/auth/oauth/:provider` and in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Google => "google",
            Self::Microsoft => "microsoft",
            Self::Oidc => "oidc",
        }
    }

    /// The name to show to users, unless the operator chose another one.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Google => "Google",
            Self::Microsoft => "Microsoft",
            Self::Oidc => "single sign-on",
        }
    }

    /// The provider with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.as_str() == name)
    }
}

/// The smallest set of scopes that identifies a user.
pub const SIGN_IN_SCOPES: &str = "openid email profile";

/// The provider's endpoint and the service's registration there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// The provider.
    pub provider: Provider,
    /// Its authorization endpoint.
    pub authorization_endpoint: Url,
    /// The issuer in its identity tokens. A provider with many tenants has an issuer for each; `{tenantid}` stands
    /// for any tenant.
    pub issuer: String,
    /// The service's client identifier there.
    pub client_id: String,
    /// The URL that the provider sends the user back to. There is only one, and it is never taken from a request.
    pub redirect_uri: String,
}

impl Client {
    /// Whether `issuer` is an issuer of this provider. Google may write its issuer without the scheme. An operator's own
    /// provider has exactly one issuer (OpenID Connect Core section 3.1.3.7, point 2).
    pub fn is_issuer(&self, issuer: &str) -> bool {
        if self.provider == Provider::Oidc {
            return self.issuer == issuer;
        }
        if self.provider == Provider::Google && self.issuer.strip_prefix("https://") == Some(issuer) {
            return true;
        }
        match self.issuer.split_once(TENANT) {
            None => self.issuer == issuer,
            Some((before, after)) => {
                let tenant = issuer.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
                tenant.is_some_and(|tenant| {
                    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
                    (1..=TENANT_MAX).contains(&tenant.len()) && tenant.bytes().all(plain)
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::{super::tests::client, *};

    #[rstest]
    #[case::the_one("https://a.example/v2", "https://a.example/v2", true)]
    #[case::a_slash_more("https://a.example/v2", "https://a.example/v2/", false)]
    #[case::a_tenant(
        "https://a.example/{tenantid}/v2",
        "https://a.example/9188040d-6c67-4c5b-b112-36a304b66dad/v2",
        true
    )]
    #[case::no_tenant("https://a.example/{tenantid}/v2", "https://a.example//v2", false)]
    #[case::the_pattern_itself("https://a.example/{tenantid}/v2", "https://a.example/{tenantid}/v2", false)]
    #[case::a_path("https://a.example/{tenantid}/v2", "https://a.example/a/b/v2", false)]
    #[case::another_host("https://a.example/{tenantid}/v2", "https://b.example/a/v2", false)]
    #[case::a_longer_end("https://a.example/{tenantid}/v2", "https://a.example/a/v2/x", false)]
    #[case::an_overlap("https://a.example/{tenantid}/v2", "https://a.example/v2", false)]
    fn issuers_are_matched(#[case] of_client: &str, #[case] issuer: &str, #[case] known: bool) {
        let client = Client { issuer: of_client.to_owned(), ..client(Provider::Microsoft) };
        assert_eq!(client.is_issuer(issuer), known);
    }

    #[rstest]
    #[case::the_one("https://a.example/realm", "https://a.example/realm", true)]
    #[case::a_slash_more("https://a.example/realm", "https://a.example/realm/", false)]
    #[case::no_scheme("https://a.example/realm", "a.example/realm", false)]
    #[case::no_tenant("https://a.example/{tenantid}/v2", "https://a.example/b/v2", false)]
    fn the_issuer_of_an_own_provider_is_compared_exactly(
        #[case] of_client: &str,
        #[case] issuer: &str,
        #[case] known: bool,
    ) {
        let client = Client { issuer: of_client.to_owned(), ..client(Provider::Oidc) };
        assert_eq!(client.is_issuer(issuer), known);
    }

    #[test]
    fn providers_have_names() {
        for provider in Provider::ALL {
            assert_eq!(Provider::from_name(provider.as_str()), Some(provider));
        }
        assert_eq!(Provider::from_name("apple"), None);
    }
}
