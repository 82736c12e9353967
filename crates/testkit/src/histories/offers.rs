//! The rules of proposals, as part of the model. A proposal offers one time to both agents. If it is confirmed, the
//! organizer gets an event on the calendar of the proposal, and the guest one on its own.

use super::{
    history::{GUEST, GUESTS_CALENDAR, Status},
    model::{Messages, Model, NoOffer, Offer, OfferState, Outcome, Owner, Thing},
};

impl Model {
    /// The status of a proposal now. It expires when its time begins.
    pub(super) fn offer_state(&self, offer: usize) -> OfferState {
        let offer = &self.offers[offer];
        match offer.state {
            OfferState::Pending if offer.start <= self.now => OfferState::Expired,
            state => state,
        }
    }

    fn require_pending(&self, offer: usize) -> Result<(), Outcome> {
        match self.offer_state(offer) {
            OfferState::Pending => Ok(()),
            ended => Err(Outcome::OfferRefused(NoOffer::NotPending(ended))),
        }
    }

    fn announce(&self, kind: &str, offer: usize, sent: &mut Messages) {
        sent.offers.push((kind.to_owned(), offer, self.offers[offer].writes));
    }

    pub(super) fn propose(
        &mut self,
        calendar: usize,
        (start, end): (i64, i64),
        (reserve, skip): (bool, bool),
        sent: &mut Messages,
    ) -> Result<Outcome, Outcome> {
        if start <= self.now {
            return Err(Outcome::Begun);
        }
        if reserve {
            self.place(&[calendar], &[(start, end)], 0, None, sent)?;
        }
        let (state, accepted, things) = (OfferState::Pending, Default::default(), Vec::new());
        self.offers.push(Offer { calendar, start, end, reserve, skip, accepted, state, things, writes: 1 });
        let made = self.offers.len() - 1;
        self.announce("proposal.created", made, sent);
        Ok(Outcome::Offers(made))
    }

    pub(super) fn accept(&mut self, offer: usize, agent: usize, sent: &mut Messages) -> Result<Outcome, Outcome> {
        self.require_pending(offer)?;
        let accepted = &mut self.offers[offer].accepted;
        if std::mem::replace(&mut accepted[agent], true) {
            return Err(Outcome::OfferRefused(NoOffer::AcceptedBefore));
        }
        let all = accepted.iter().all(|accepted| *accepted);
        self.offers[offer].writes += 1;
        self.announce("proposal.responded", offer, sent);
        if all {
            // The acceptance counts even if the time is taken.
            let _taken = self.confirm(offer, sent);
        }
        Ok(Outcome::Offers(offer))
    }

    pub(super) fn settle(&mut self, offer: usize, sent: &mut Messages) -> Result<Outcome, Outcome> {
        self.require_pending(offer)?;
        if self.offers[offer].accepted.iter().all(|accepted| !accepted) {
            return Err(Outcome::OfferRefused(NoOffer::NoResponses));
        }
        self.confirm(offer, sent)?;
        Ok(Outcome::Offers(offer))
    }

    pub(super) fn withdraw(&mut self, offer: usize, sent: &mut Messages) -> Result<Outcome, Outcome> {
        self.require_pending(offer)?;
        self.offers[offer].state = OfferState::Cancelled;
        self.offers[offer].writes += 1;
        self.announce("proposal.cancelled", offer, sent);
        Ok(Outcome::Offers(offer))
    }

    fn confirm(&mut self, index: usize, sent: &mut Messages) -> Result<(), Outcome> {
        let offer = self.offers[index].clone();
        if offer.skip {
            let calendars = [offer.calendar, GUESTS_CALENDAR];
            self.place(&calendars, &[(offer.start, offer.end)], 0, Some(Owner::Offer(index)), sent)?;
        }
        let guests = if offer.accepted[GUEST] { Status::Confirmed } else { Status::Tentative };
        for (calendar, status) in [(offer.calendar, Status::Confirmed), (GUESTS_CALENDAR, guests)] {
            let made = self.add(Thing::new(calendar, offer.start, offer.end, status, None, None));
            self.emit("event.created", made, None, sent);
            self.offers[index].things.push(made);
        }
        self.offers[index].state = OfferState::Confirmed;
        self.offers[index].writes += 1;
        self.announce("proposal.confirmed", index, sent);
        Ok(())
    }
}
