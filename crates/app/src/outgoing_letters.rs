//! Emails on behalf of an organization. They are stored with the change that causes them, and a worker sends them.
//! Emails to people who did not ask for them are counted.

use kalends_accounts::{Allowance, Email, Taken};
use kalends_kernel::{LetterId, OrgId, StoreError};
use kalends_notifications::{
    About, ClaimedLetter, DropReason, Envelope, LETTER_RECORDS_KEPT, Letter, LetterEnd, LetterWork, RecordSearch,
    ServerReply,
};
use kalends_time::{SignedDuration, Timestamp};
use kalends_wire::{self as wire, MailQuery};

use crate::{Actor, App, ChangeSet, Refusal, Use, answered::json, ports::Mail};

/// The recipient of letters to that address, as the queue knows it.
pub(crate) fn recipient_of(address: &Email) -> [u8; 32] {
    Allowance::mail_to(address, 0).scope
}

impl App {
    /// Adds an email to `changes`, and one use of the organization's email allowance, unless the recipient agreed to such
    /// emails. A recipient gets the emails of one change in the order in which they were added.
    pub(crate) fn write_letter(&self, mail: &Mail, about: About, now: Timestamp, changes: &mut ChangeSet) {
        let earlier = i64::try_from(changes.letters.len()).unwrap_or(i64::MAX);
        let letter = self.letter(changes.org, mail, about, now + SignedDuration::micros(earlier));
        changes.letters.push(letter);
        if let Some(count) = self.parts.settings.mail_limits.org.filter(|_| !mail.agreed) {
            let allowance = Allowance::mail(changes.org, count);
            match changes.uses.iter_mut().find(|used| used.allowance == allowance) {
                Some(used) => used.count += 1,
                None => changes.uses.push(Use { allowance, count: 1, now }),
            }
        }
    }

    /// An email as the organization's queue keeps it. It uses no allowance of the organization.
    pub(crate) fn letter(&self, org: OrgId, mail: &Mail, about: About, created_at: Timestamp) -> Letter {
        Letter {
            id: LetterId::new(created_at, self.entropy()),
            org,
            recipient: recipient_of(&mail.to),
            about,
            content: json(mail),
            envelope: Some(envelope(mail)),
            created_at,
        }
    }

    /// A notice to the people of an organization. It uses no allowance, and no other email supersedes it.
    pub(crate) fn notice(&self, org: OrgId, mail: Mail, now: Timestamp) -> Letter {
        let letter = self.letter(org, &Mail { agreed: true, ..mail }, About::organization(org), now);
        Letter { about: About::itself(letter.id), ..letter }
    }

    /// Waits until this process has committed an email.
    pub async fn nudged_to_letters(&self) {
        self.nudges.letters.notified().await;
    }

    /// Claims up to `limit` due emails.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn claim_letters(&self, limit: u32) -> Result<Vec<ClaimedLetter>, Refusal> {
        Ok(self.parts.store.claim_letters(self.now(), limit).await?)
    }

    /// Sends a claimed email unless it is outdated. An email above its recipient's limit waits until the limit allows
    /// it.
    pub async fn send_letter(&self, claimed: ClaimedLetter) {
        let (org, id, fence) = (claimed.letter.org, claimed.letter.id, claimed.fence);
        let ended = match self.work_on(&claimed).await {
            Ok(work) => self.parts.store.end_letter(org, id, fence, &work).await,
            Err(error) => Err(error),
        };
        // It is due again once the claim has expired.
        if let Err(error) = ended {
            tracing::error!(
                %org, letter = %id, error = &error as &dyn std::error::Error,
                "cannot record an email outcome"
            );
        }
    }

    async fn work_on(&self, claimed: &ClaimedLetter) -> Result<LetterWork, StoreError> {
        let now = self.now();
        let without_attempt = |end: LetterEnd, outcome: &'static str| {
            count(if matches!(end, LetterEnd::Dropped(_)) { "dropped" } else { outcome });
            Ok(LetterWork { end, attempt: None, at: now })
        };
        if let Some(reason) = claimed.dropped(now) {
            return without_attempt(LetterEnd::Dropped(reason), "dropped");
        }
        let Letter { org, id, ref content, .. } = claimed.letter;
        let mut mail: Mail =
            serde_json::from_str(content).map_err(|error| StoreError::corrupt("letters", "content", id, error))?;
        if mail.until.is_some_and(|until| until <= now) {
            return without_attempt(LetterEnd::Dropped(DropReason::Outdated), "dropped");
        }
        // Before the recipient's allowance is used, so that a failure of the store uses none.
        let organization = self.parts.store.find_organization(org).await?;
        mail.reply_to = organization.and_then(|organization| organization.reply_to.in_use().cloned());
        let mut taken = None;
        if let Some(count) = self.parts.settings.mail_limits.recipient.filter(|_| !mail.agreed) {
            let allowance = Allowance::mail_to(&mail.to, count);
            match self.parts.store.take(&allowance, now).await? {
                Taken::Granted(used) => taken = Some((allowance, used.until)),
                Taken::Refused { retry_after } => {
                    return without_attempt(claimed.over_limit(retry_after, now), "over_limit");
                }
            }
        }
        let mut envelope = envelope(&mail);
        let sent = self.parts.mailer.send(mail).await;
        let at = self.now();
        let (end, reply) = match sent {
            Ok(reply) => {
                count("sent");
                (LetterEnd::Sent, reply)
            }
            Err(error) => {
                tracing::error!(
                    %org, letter = %id, error = &error as &dyn std::error::Error,
                    "an email could not be sent"
                );
                let refused = LetterEnd::Dropped(DropReason::Refused);
                let end = if error.is_lasting() { refused } else { claimed.failed(at) };
                count(if matches!(end, LetterEnd::Dropped(_)) { "dropped" } else { "failed" });
                if let Some((allowance, until)) = taken.filter(|_| !error.is_maybe_delivered()) {
                    self.parts.store.give_back(&allowance, until).await?;
                }
                (end, Some(error.reply().clone()))
            }
        };
        envelope.reply = reply.map(|reply| ServerReply::new(reply.code, &reply.text, at));
        Ok(LetterWork { end, attempt: Some(envelope), at })
    }

    /// A page of the emails on behalf of the organization, the newest first.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key.
    pub async fn list_mail(&self, actor: &Actor, query: MailQuery) -> Result<wire::MailList, Refusal> {
        actor.for_organization()?;
        // One extra record shows whether there are more.
        let search = RecordSearch { status: query.status, before: query.before, limit: query.limit.saturating_add(1) };
        let mut records = self.parts.store.letter_records(actor.org(), search).await?;
        let more = records.len() > query.limit as usize;
        records.truncate(query.limit as usize);
        let next_cursor = records.last().filter(|_| more).map(|last| last.id.to_string());
        let data = records.into_iter().map(Into::into).collect();
        Ok(wire::MailList { data, pagination: wire::CursorPagination { next_cursor } })
    }

    /// Removes up to `limit` old records of emails. Returns whether that was all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn forget_mail(&self, limit: u32) -> Result<bool, Refusal> {
        let forgotten = self.parts.store.forget_letter_records(self.now() - LETTER_RECORDS_KEPT, limit).await?;
        Ok(forgotten < u64::from(limit))
    }
}

/// What the organization sees of an email before an attempt.
fn envelope(mail: &Mail) -> Envelope {
    Envelope { to: mail.to.as_str().to_owned(), subject: mail.subject.clone(), reply: None }
}

fn count(outcome: &'static str) {
    kalends_metrics::LETTERS.with_label_values(&[outcome]).inc();
}

#[cfg(test)]
mod tests {
    use kalends_accounts::Email;

    use super::*;
    use crate::ports::{CalendarMethod, CalendarPart};

    #[test]
    fn a_stored_email_is_read_back_unchanged() {
        let calendar = |method| Some(CalendarPart { method, text: "BEGIN:VCALENDAR".to_owned() });
        for (calendar, kept) in [
            (calendar(CalendarMethod::Request), r#"{"method":"REQUEST","text":"BEGIN:VCALENDAR"}"#),
            (calendar(CalendarMethod::Cancel), r#"{"method":"CANCEL","text":"BEGIN:VCALENDAR"}"#),
            (None, "null"),
        ] {
            let mail = Mail {
                to: Email::from_stored("ada@example.com".to_owned()),
                subject: "Grüße".to_owned(),
                text: "text".to_owned(),
                html: "<p>".to_owned(),
                calendar,
                agreed: false,
                until: None,
                reply_to: None,
            };
            let kept =
                format!(r#"{{"to":"ada@example.com","subject":"Grüße","text":"text","html":"<p>","calendar":{kept}}}"#);
            assert_eq!(json(&mail), kept, "the format that earlier versions stored");
            assert!(serde_json::from_str::<Mail>(&kept).unwrap() == mail);
        }
    }
}
