//! The address that replies to an organization's emails go to.

use kalends_accounts::{Change, Email, Organization, ReplyTo, ReplyToToken};
use kalends_kernel::Foreign;
use kalends_notifications::About;
use kalends_wire as wire;

use crate::{
    Actor, Answered, App, ChangeSet, Missing, Refusal, Request,
    attempt::{Attempt, retry_stale},
    audit::Subject,
    letters,
};

/// An address that was asked whether replies may go to it.
#[derive(Debug, Clone)]
pub struct ReplyToSeen {
    /// The name of the organization.
    pub organization: String,
    /// The address.
    pub email: Email,
    /// Whether it has agreed.
    pub agreed: bool,
}

impl App {
    /// The addresses of the organization for replies.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key.
    pub async fn reply_to(&self, actor: &Actor) -> Result<wire::ReplyTo, Refusal> {
        Ok(wire::ReplyTo::new(&self.organization_for_mail(actor).await?.reply_to, self.now()))
    }

    /// Asks an address by email whether replies may go to it. If it has agreed already, it is not asked again.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key; [`Refusal::Unverified`]; [`Refusal::TooMany`] if the organization has
    /// used up its emails for the hour.
    pub async fn ask_for_replies(&self, actor: &Actor, email: &Email) -> Result<Answered<wire::ReplyTo>, Refusal> {
        actor.may_invite()?;
        self.change_reply_to(actor, |seen, changes| {
            let now = self.now();
            let (after, token) = seen.reply_to.asking(seen.id, email.clone(), now, self.entropy());
            if let Some(token) = token {
                let link = format!("{}/replies/{}", self.parts.settings.base_url, token.reveal());
                let mail = letters::asks_for_replies(email, &Foreign::new(seen.name.as_str()), &link);
                self.write_letter(&mail, About::organization(seen.id), now, changes);
            }
            let shown = wire::ReplyTo::new(&after, now);
            (after, Answered::shows(&actor.request, shown, None))
        })
        .await
    }

    /// Removes the addresses for replies.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key.
    pub async fn remove_reply_to(&self, actor: &Actor) -> Result<Answered<()>, Refusal> {
        self.change_reply_to(actor, |_, _| (ReplyTo::default(), Answered::nothing(&actor.request))).await
    }

    async fn change_reply_to<T: Send>(
        &self,
        actor: &Actor,
        change: impl Fn(&Organization, &mut ChangeSet) -> (ReplyTo, Answered<T>) + Send + Sync,
    ) -> Result<Answered<T>, Refusal> {
        retry_stale(|| async {
            let seen = self.organization_for_mail(actor).await?;
            let mut changes = ChangeSet::new(seen.id);
            let (after, answer) = change(&seen, &mut changes);
            if after == seen.reply_to {
                return Ok(answer);
            }
            let organization = seen.with_reply_to(after);
            changes.accounts.push(Change::UpdateOrganization { organization, seen: seen.version });
            self.commit_for(actor, None, seen.id.to_string(), changes, answer).await
        })
        .await
    }

    async fn organization_for_mail(&self, actor: &Actor) -> Result<Organization, Refusal> {
        actor.for_organization()?;
        let found = self.parts.store.find_organization(actor.org()).await?;
        // Its key was just checked, so it was deleted in the meantime.
        found.ok_or(Refusal::Unauthorized)
    }

    /// The address that a link was mailed to.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if the link is unknown, replaced or expired.
    pub async fn asked_for_replies(&self, token: &str) -> Result<ReplyToSeen, Refusal> {
        let token = ReplyToToken::presented(token).ok_or_else(no_link)?;
        Ok(self.opened_reply_link(&token).await?.1)
    }

    async fn opened_reply_link(&self, token: &ReplyToToken) -> Result<(Organization, ReplyToSeen), Refusal> {
        let found = self.parts.store.find_organization(token.org).await?.ok_or_else(no_link)?;
        let (email, agreed) = found.reply_to.opened_by(token, self.now()).ok_or_else(no_link)?;
        let seen = ReplyToSeen { organization: found.name.as_str().to_owned(), email: email.clone(), agreed };
        Ok((found, seen))
    }

    /// Records whether replies may go to the address that the link was mailed to. The same answer again changes nothing.
    ///
    /// # Errors
    /// As for [`Self::asked_for_replies`].
    pub async fn answer_reply_link(
        &self,
        request: &Request,
        token: &str,
        agrees: bool,
    ) -> Result<Answered<ReplyToSeen>, Refusal> {
        let token = ReplyToToken::presented(token).ok_or_else(no_link)?;
        retry_stale(|| async {
            let (found, seen) = self.opened_reply_link(&token).await?;
            let after = found.reply_to.answered_with(&token, agrees, self.now()).ok_or_else(no_link)?;
            let body = wire::AnsweredReplyLink { email: seen.email.as_str().to_owned(), agrees };
            let answer = Answered::shows(request, body, None);
            let answered = ReplyToSeen { agreed: agrees, ..seen };
            if after == found.reply_to {
                return Ok(answer.map(|_| answered));
            }
            let mut changes = ChangeSet::new(found.id);
            let organization = found.with_reply_to(after);
            changes.accounts.push(Change::UpdateOrganization { organization, seen: found.version });
            let subject = Subject { org: found.id, agent: None, resource: found.id.to_string() };
            let committed = self.commit(request, None, subject, changes, answer).await?;
            Ok::<_, Attempt>(committed.map(|_| answered))
        })
        .await
    }
}

fn no_link() -> Refusal {
    Refusal::missing(Missing::ReplyLink, "at this address")
}
