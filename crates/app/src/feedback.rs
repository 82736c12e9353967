//! Feedback: a line in the operator's log.

use kalends_accounts::Allowance;
use kalends_wire::{Accepted, CheckedFeedback};

use crate::{Actor, Answered, App, ChangeSet, Refusal};

/// The prefixes of keys and secrets that Kalends issues.
const SECRETS: &[&str] = &["svc_sk_", "svc_ak_", "svc_at_", "svc_rt_", "svc_ac_", "whsec_"];

impl App {
    /// Logs feedback from the organization, without the keys and secrets in it.
    ///
    /// # Errors
    /// [`Refusal::TooMany`] above 25 per UTC day.
    pub async fn feedback(&self, actor: &Actor, feedback: &CheckedFeedback) -> Result<Answered<Accepted>, Refusal> {
        self.allow(&Allowance::feedback(actor.org())).await?;
        let mut answer = Answered::shows(&actor.request, Accepted { status: "accepted".into() }, None);
        if actor.request.idempotency.is_some() {
            // The commit only stores the answer for repetitions.
            let (org, changes) = (actor.org().to_string(), ChangeSet::new(actor.org()));
            let committed = self.commit_for(actor, None, org, changes, answer).await;
            answer = committed.map_err(crate::attempt::Attempt::into_refusal)?;
        }
        tracing::info!(
            target: "kalends::feedback",
            org = %actor.org(),
            request_id = %actor.request.id,
            kind = feedback.kind.as_str(),
            // Escaped (`?`): the text must not look like log lines, nor control a terminal.
            text = ?without_secrets(&feedback.message),
            context = ?without_secrets(&feedback.context.to_json()),
            "feedback"
        );
        Ok(answer)
    }
}

/// Removes everything that looks like one of our keys or secrets, but keeps the prefix to show what it was.
fn without_secrets(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, prefix)) =
        SECRETS.iter().filter_map(|prefix| Some((rest.find(prefix)?, prefix))).min_by_key(|(at, _)| *at)
    {
        let (before, secret) = rest.split_at(at + prefix.len());
        clean.push_str(before);
        clean.push('…');
        rest = secret.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || "-_+/=".contains(letter));
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_removed() {
        for (text, clean) in [
            ("no key", "no key"),
            ("svc_sk_abcDEF-_9", "svc_sk_…"),
            ("my key svc_sk_test_abc. and svc_ak_x\"y", "my key svc_sk_…. and svc_ak_…\"y"),
            ("svc_at_a, svc_rt_b and svc_ac_c", "svc_at_…, svc_rt_… and svc_ac_…"),
            ("whsec_a+b/c=, é svc_sk_", "whsec_…, é svc_sk_…"),
        ] {
            assert_eq!(without_secrets(text), clean);
        }
    }
}
