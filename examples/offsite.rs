//! `kalends-proposals` on your own storage: three people agree on a time for their offsite.
//!
//! The state of a proposal is a value. Each step takes the stored value and returns the next one. The program stores
//! the next value only if the version of the stored one has not changed. Nothing here needs calendars; the identifiers
//! are enough.

use std::{collections::BTreeMap, error::Error, sync::Mutex, sync::PoisonError};

use kalends_kernel::{AgentId, Entropy, EventId, ProposalId, Version};
use kalends_proposals::{NewProposal, NewResponse, NewSlot, Proposal, Status, Verdict};
use kalends_time::{SignedDuration, Span, Timestamp};

/// The program's table of proposals.
#[derive(Default)]
struct Table(Mutex<BTreeMap<ProposalId, Proposal>>);

impl Table {
    fn find(&self, id: ProposalId) -> Option<Proposal> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    /// Stores `next` if the stored version is still `seen`. `None` is for a new proposal.
    fn store(&self, next: Proposal, seen: Option<Version>) -> Result<(), &'static str> {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if rows.get(&next.id()).map(Proposal::version) != seen {
            return Err("somebody else changed it first; read it again and decide again");
        }
        rows.insert(next.id(), next);
        Ok(())
    }
}

/// In production, identifiers must be unpredictable. In an example, it is enough that they differ.
struct Counting(std::sync::atomic::AtomicU8);

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
    }
}

fn respond(
    table: &Table,
    id: ProposalId,
    who: AgentId,
    response: NewResponse,
    (now, entropy): (Timestamp, &dyn Entropy),
) -> Result<(), Box<dyn Error>> {
    let stored = table.find(id).ok_or("no such proposal")?;
    let next = stored.respond(who, response, now, entropy)?;
    Ok(table.store(next, Some(stored.version()))?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let (table, entropy) = (Table::default(), Counting(0.into()));
    let now: Timestamp = "2027-03-01T08:00:00Z".parse()?;
    let day = |days| -> Result<NewSlot, Box<dyn Error>> {
        let start = now + SignedDuration::days(days);
        Ok(NewSlot::new(Span::new(start, start + SignedDuration::hours(8))?))
    };
    let [ada, ben, eve]: [AgentId; 3] = [
        "agt_00000000000000000000000001".parse()?,
        "agt_00000000000000000000000002".parse()?,
        "agt_00000000000000000000000003".parse()?,
    ];
    let desk = "cal_00000000000000000000000001".parse()?;
    let new = NewProposal::new("Offsite", ada, vec![ben, eve], desk, vec![day(7)?, day(8)?, day(9)?])
        .with_expiry(now + SignedDuration::days(2));
    let org = "org_00000000000000000000000001".parse()?;
    let proposal = Proposal::create(org, new, now, &entropy)?;
    let (id, second) = (proposal.id(), proposal.slots()[1].id());
    table.store(proposal, None)?;

    let accept = || NewResponse::accept(second);
    respond(&table, id, ben, accept(), (now, &entropy))?;
    respond(&table, id, eve, accept(), (now, &entropy))?;
    if respond(&table, id, eve, accept(), (now, &entropy)).is_ok() {
        return Err("nobody responds twice".into());
    }

    let stored = table.find(id).ok_or("no such proposal")?;
    let Verdict::Ranked(ranking) = stored.verdict(now)? else { return Err("nobody declined".into()) };
    let best = ranking.best();
    println!("the offsite begins at {}", best.span().start());
    let confirmed = stored.confirmed(best.id(), EventId::new(now, &entropy), now)?;
    table.store(confirmed, Some(stored.version()))?;
    let end = table.find(id).ok_or("no such proposal")?;
    if best.id() == second && end.state_at(now).status() == Status::Confirmed {
        Ok(())
    } else {
        Err("another slot won".into())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_example_runs() {
        super::main().unwrap();
    }
}
