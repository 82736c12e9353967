//! Idempotent requests. A repetition gets the stored answer. If the first request is still running, the repetition is
//! refused.

use kalends_accounts::{Credential, Principal};
use kalends_kernel::{KeyId, OrgId, UserId};
use sha2::{Digest, Sha256};

use crate::{
    Answer, App, Idempotency, Refusal, RunningGuard,
    operations::{CONNECT_CALDAV, Operation},
};

/// The caller of a repeated request. Answers are not shared between organizations, between anonymous callers with
/// different addresses, or between users.
#[derive(Debug, Clone, Copy)]
pub enum Repeater<'a> {
    /// The holder of a key.
    Key(OrgId, KeyId),
    /// A user in the console and the organization of the session. All such sessions of the user are one caller.
    Human(OrgId, UserId),
    /// A caller without a key, by network address.
    Anonymous(&'a str),
}

impl Repeater<'_> {
    /// The holder of a key or of a session.
    pub fn of(principal: &Principal) -> Self {
        match principal.credential {
            Credential::Key(key) => Self::Key(principal.org, key),
            Credential::Session { user, .. } => Self::Human(principal.org, user),
        }
    }
}

impl Idempotency {
    /// The identity of a request. `key` is the idempotency key, `target` the full path and query.
    pub fn of(repeater: Repeater<'_>, operation: &Operation, key: &str, target: &str, body: &[u8]) -> Self {
        // Each part is prefixed with its length, so that different inputs cannot produce the same bytes.
        let digest = |parts: &[&[u8]]| {
            let mut sha = Sha256::new();
            for part in parts {
                sha.update((part.len() as u64).to_le_bytes());
                sha.update(part);
            }
            sha.finalize().into()
        };
        let scope = match repeater {
            Repeater::Key(org, id) => {
                digest(&[org.uuid().as_bytes(), id.uuid().as_bytes(), operation.id.as_bytes(), key.as_bytes()])
            }
            Repeater::Human(org, id) => digest(&[
                org.uuid().as_bytes(),
                id.uuid().as_bytes(),
                operation.id.as_bytes(),
                key.as_bytes(),
                b"human",
            ]),
            Repeater::Anonymous(address) => digest(&[address.as_bytes(), operation.id.as_bytes(), key.as_bytes()]),
        };
        // Nobody must be able to find a password by its digest. So the key, which is not stored, is a part of it.
        let fingerprint = if operation.id == CONNECT_CALDAV.id {
            digest(&[key.as_bytes(), target.as_bytes(), body])
        } else {
            digest(&[target.as_bytes(), body])
        };
        Self { scope, fingerprint }
    }
}

impl App {
    /// Removes up to `limit` expired answers, and returns whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn forget_answers(&self, limit: u32) -> Result<bool, Refusal> {
        Ok(self.parts.store.forget_answers(self.now(), limit).await? < u64::from(limit))
    }

    /// Marks the request as running.
    ///
    /// # Errors
    /// [`Refusal::StillRunning`] if it is already running in this process.
    pub fn begin(&self, idempotency: &Idempotency) -> Result<RunningGuard, Refusal> {
        self.running.begin(idempotency.scope).ok_or(Refusal::StillRunning)
    }

    /// Marks the request as running, after an equal one that is running in this process has ended. A browser that sends
    /// a form twice shows only the second answer, so the second request waits.
    pub async fn begin_after(&self, idempotency: &Idempotency) -> RunningGuard {
        self.running.begin_after(idempotency.scope).await
    }

    /// The answer to an earlier execution of the request, if there was one. If the request may have invalidated a key,
    /// its answer is replayed only after every node rejects the key. The first answer waited for that too.
    ///
    /// # Errors
    /// [`Refusal::IdempotencyMismatch`] if a different request had the same key.
    pub async fn earlier_answer(
        &self,
        operation: &Operation,
        idempotency: &Idempotency,
    ) -> Result<Option<Answer>, Refusal> {
        let now = self.now();
        match self.parts.store.find_answer(idempotency.scope, now).await? {
            None => Ok(None),
            Some(stored) if stored.fingerprint == idempotency.fingerprint => {
                if operation.may_end_keys() {
                    self.wait_out_principals_since(now - stored.created_at).await;
                }
                Ok(Some(stored.answer))
            }
            Some(_) => Err(Refusal::IdempotencyMismatch),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_cannot_be_found_by_its_digest() {
        let caller = Repeater::Anonymous("192.0.2.1");
        let of = |key: &str, body: &[u8]| Idempotency::of(caller, &CONNECT_CALDAV, key, "/x", body).fingerprint;
        assert_eq!(of("1", b"x"), of("1", b"x"));
        assert_ne!(of("1", b"x"), of("2", b"x"), "the key is a part of it");
        assert_ne!(of("1", b"x"), of("1", b"y"));
    }
}
