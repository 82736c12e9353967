//! Connection links. An agent creates, polls and cancels a link. A user opens it, and declines it or goes on to
//! connect an account.
//!
//! A link belongs to an organization. Only a user who is signed in to that organization in the console may open it. A
//! link also belongs to a calendar. Once the calendar is no longer visible, keys do not find the link, and the link has
//! ended for its user.

use kalends_accounts::TokenHash;
use kalends_bridge::{Change, ConnectionLink, LINKS_KEPT, LinkError, LinkStatus, NewLink};
use kalends_kernel::{ConnectionLinkId, StoreError};
use kalends_wire as wire;

use crate::{
    Actor, Answered, App, ChangeSet, Missing, Refusal,
    attempt::{Attempt, retry_stale},
    console::human,
};

impl App {
    /// Creates a link on which a user connects an account. While an earlier link is waiting for a user, that link is
    /// returned instead, without its URL.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if no such calendar exists.
    pub async fn create_connection_link(
        &self,
        actor: &Actor,
        calendar: &str,
        new: NewLink,
    ) -> Result<Answered<wire::NewConnectionLink>, Refusal> {
        retry_stale(|| async {
            let calendar = self.calendar(actor, calendar).await?;
            let (org, now) = (actor.org(), self.now());
            let mut changes = ChangeSet::new(org);
            let waiting = self.parts.store.waiting_link(org, calendar.id).await?;
            let (link, secret) = match waiting {
                Some(waiting) if waiting.status(now) == LinkStatus::AwaitingHuman => (waiting, None),
                waiting => {
                    // An expired link makes room.
                    changes.bridge.extend(waiting.map(|waiting| Change::UpdateLink {
                        seen: waiting.version,
                        link: Box::new(waiting.expired(now)),
                    }));
                    let of = (org, calendar.agent, calendar.id);
                    let (link, secret) = ConnectionLink::create(of, new, now, self.entropy());
                    changes.bridge.push(Change::CreateLink(Box::new(link.clone())));
                    (link, Some(secret))
                }
            };
            let new_link = wire::NewConnectionLink {
                link: wire::ConnectionLink::new(&link, now),
                reused: secret.is_none(),
                // In the fragment, so that neither logs nor other sites see it.
                setup_url: secret
                    .map(|secret| format!("{}/connect#{}", self.parts.settings.console_url, secret.reveal())),
            };
            let answer = Answered::shows(&actor.request, new_link, None);
            self.commit_for(actor, link.agent, link.id.to_string(), changes, answer).await
        })
        .await
    }

    /// The state of a link.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::OutOfReach`].
    pub async fn connection_link(&self, actor: &Actor, id: &str) -> Result<wire::ConnectionLink, Refusal> {
        let link = self.link_of(actor, id).await?;
        actor.for_agent(link.agent)?;
        Ok(wire::ConnectionLink::new(&link, self.now()))
    }

    /// Cancels a link that has not ended.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::OutOfReach`], [`Refusal::Link`] for a link that has ended.
    pub async fn cancel_connection_link(&self, actor: &Actor, id: &str) -> Result<Answered<()>, Refusal> {
        retry_stale(|| async {
            let link = self.link_of(actor, id).await?;
            actor.for_agent(link.agent)?;
            let cancelled = link.cancel(self.now()).map_err(Refusal::from)?;
            self.commit_link(actor, &link, cancelled, Answered::nothing(&actor.request)).await
        })
        .await
    }

    /// Opens a link: it belongs to the user from now on.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if no link of the organization that the user is signed in to has that token;
    /// [`Refusal::Link`].
    pub async fn open_connection_link(
        &self,
        actor: &Actor,
        token: &str,
    ) -> Result<Answered<wire::FollowedLink>, Refusal> {
        let (_, human) = human(actor)?;
        let missing = || Refusal::missing(Missing::ConnectionLink, "with this token");
        retry_stale(|| async {
            let found = self.parts.store.find_link_by_secret(TokenHash::of(token)).await?;
            let link = found.filter(|link| link.org == actor.org()).ok_or_else(missing)?;
            self.check_link_visible(&link).await?;
            let opened = link.open(human, self.now()).map_err(Refusal::from)?;
            let answer = Answered::shows(&actor.request, self.followed(actor, &opened).await?, None);
            self.commit_link(actor, &link, opened, answer).await
        })
        .await
    }

    /// Whether the link with that identifier has that token.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn is_token_of_link(&self, token: &str, id: &str) -> Result<bool, Refusal> {
        let found = self.parts.store.find_link_by_secret(TokenHash::of(token)).await?;
        Ok(found.is_some_and(|link| link.id.to_string() == id))
    }

    /// A link that the caller has opened, without changing it.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Link`] if it is over, or another user follows it.
    pub async fn opened_link(&self, actor: &Actor, id: &str) -> Result<wire::FollowedLink, Refusal> {
        let (_, human) = human(actor)?;
        let link = self.followed_link(actor, id).await?;
        link.followed_by(human, self.now())?;
        self.followed(actor, &link).await
    }

    /// Declines a link: its user does not want to connect an account.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Link`].
    pub async fn decline_connection_link(
        &self,
        actor: &Actor,
        id: &str,
    ) -> Result<Answered<wire::FollowedLink>, Refusal> {
        let (_, human) = human(actor)?;
        retry_stale(|| async {
            let link = self.known_link(actor, id).await?;
            let declined = link.decline(human, self.now()).map_err(Refusal::from)?;
            let answer = Answered::shows(&actor.request, self.followed(actor, &declined).await?, None);
            self.commit_link(actor, &link, declined, answer).await
        })
        .await
    }

    /// A link that the caller has declined; `None` if the caller has not.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn declined_link(&self, actor: &Actor, id: &str) -> Result<Option<wire::FollowedLink>, Refusal> {
        let (_, human) = human(actor)?;
        let link = self.known_link(actor, id).await?;
        if link.is_declined_by(human) { self.followed(actor, &link).await.map(Some) } else { Ok(None) }
    }

    /// Removes up to `limit` links whose `expires_at` is more than [`LINKS_KEPT`] ago, and returns whether that was
    /// all.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn forget_links(&self, limit: u32) -> Result<bool, Refusal> {
        Ok(self.parts.store.forget_links(self.now() - LINKS_KEPT, limit).await? < u64::from(limit))
    }

    /// A link of the caller's organization, as keys see it.
    async fn link_of(&self, actor: &Actor, id: &str) -> Result<ConnectionLink, Refusal> {
        let link = self.known_link(actor, id).await?;
        if self.is_link_visible(&link).await? { Ok(link) } else { Err(Refusal::missing(Missing::ConnectionLink, id)) }
    }

    /// A link of the caller's organization whose calendar is still visible.
    pub(crate) async fn followed_link(&self, actor: &Actor, id: &str) -> Result<ConnectionLink, Refusal> {
        let link = self.known_link(actor, id).await?;
        self.check_link_visible(&link).await?;
        Ok(link)
    }

    pub(crate) async fn check_link_visible(&self, link: &ConnectionLink) -> Result<(), Refusal> {
        if self.is_link_visible(link).await? { Ok(()) } else { Err(LinkError::Removed.into()) }
    }

    /// Whether the calendar of the link exists, and does not belong to a decommissioned agent.
    pub(crate) async fn is_link_visible(&self, link: &ConnectionLink) -> Result<bool, StoreError> {
        Ok(self.parts.store.find_calendar(link.org, link.calendar).await?.is_some())
    }

    /// The link with that identifier, if one is given, which the caller is about to complete.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Link`] if it is over, or another user follows it.
    pub(crate) async fn link_to_complete(
        &self,
        actor: &Actor,
        link: Option<&str>,
    ) -> Result<Option<ConnectionLink>, Refusal> {
        let (_, human) = human(actor)?;
        let Some(id) = link else { return Ok(None) };
        let link = self.followed_link(actor, id).await?;
        link.followed_by(human, self.now())?;
        Ok(Some(link))
    }

    async fn known_link(&self, actor: &Actor, id: &str) -> Result<ConnectionLink, Refusal> {
        let missing = || Refusal::missing(Missing::ConnectionLink, id);
        let link: ConnectionLinkId = id.parse().map_err(|_| missing())?;
        self.parts.store.find_link(actor.org(), link).await?.ok_or_else(missing)
    }

    async fn followed(&self, actor: &Actor, link: &ConnectionLink) -> Result<wire::FollowedLink, Refusal> {
        let calendar = self.parts.store.find_calendar(actor.org(), link.calendar).await?;
        let agent = match link.agent {
            Some(agent) => self.parts.store.find_agent(actor.org(), agent).await?,
            None => None,
        };
        let offered = |provider| link.requested.suits(provider) && self.parts.calendar_providers.offers(provider);
        let providers = wire::provider_names(offered);
        Ok(wire::FollowedLink::new((link, self.now()), calendar.as_ref(), agent.as_ref(), providers))
    }

    /// Writes the new state of a link. If it is unchanged, nothing has happened: there is no audit entry, and at most the
    /// answer is kept.
    async fn commit_link<T: Send>(
        &self,
        actor: &Actor,
        seen: &ConnectionLink,
        link: ConnectionLink,
        answer: Answered<T>,
    ) -> Result<Answered<T>, Attempt> {
        if link == *seen {
            self.keep_answer(actor, &answer.answer).await?;
            return Ok(answer);
        }
        let (agent, id) = (link.agent, link.id.to_string());
        let mut changes = ChangeSet::new(actor.org());
        changes.bridge.push(Change::UpdateLink { link: Box::new(link), seen: seen.version });
        self.commit_for(actor, agent, id, changes, answer).await
    }
}
