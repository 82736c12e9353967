//! Why a text is not a mail transport.

/// The text is not a mail transport. The error never quotes the text, which may contain a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MailTransportError {
    /// Neither `file` nor an SMTP address.
    #[error("must be \"file\", smtp://user:password@host:port or smtps://user:password@host:port")]
    Form,
    /// The address has no host.
    #[error("must name a host")]
    Host,
    /// There is a user without a password, or a password without a user.
    #[error("must name both a user and a password, or neither")]
    HalfCredentials,
    /// The user or the password is not UTF-8 after percent-decoding.
    #[error("the user and the password must be UTF-8, with special characters percent-encoded")]
    Encoding,
    /// There is a path, a query or a fragment.
    #[error("must end after the port")]
    Rest,
}
