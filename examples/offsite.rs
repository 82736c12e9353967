//! `kalends-proposals` on your own storage: three people agree on a time for their offsite.
//!
//! The state of a proposal is a value. Each step takes the stored value and returns the next one. The program stores
//! the next value only if the version of the stored one has not changed. A row is checked when it is read, so a damaged
//! row is an error. Nothing here needs calendars; the identifiers are enough.

use std::{collections::BTreeMap, error::Error, sync::Mutex, sync::PoisonError};

use kalends_kernel::{AgentId, Entropy, EventId, ProposalId};
use kalends_proposals::{Change, NewProposal, NewResponse, NewSlot, Proposal, Status, StoredProposal, Verdict};
use kalends_time::{SignedDuration, Span, Timestamp};

/// The program's table of proposals.
#[derive(Default)]
struct Table(Mutex<BTreeMap<ProposalId, StoredProposal>>);

impl Table {
    fn find(&self, id: ProposalId) -> Result<Proposal, Box<dyn Error>> {
        let row = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned();
        Ok(Proposal::from_stored(row.ok_or("no such proposal")?)?)
    }

    /// Writes a new row, or replaces a row that still has the version that the decision read.
    fn write(&self, change: Change) -> Result<(), &'static str> {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (next, seen) = match change {
            Change::Create(new) => (new, None),
            Change::Update { proposal, seen, .. } => (proposal, Some(seen)),
        };
        if rows.get(&next.id()).map(|row| row.version) != seen {
            return Err("somebody else changed it first; read it again and decide again");
        }
        rows.insert(next.id(), next.into_stored());
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
    let seen = table.find(id)?;
    let next = seen.respond(who, response, now, entropy)?;
    Ok(table.write(Change::update(&seen, next)?)?)
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
    table.write(Change::Create(Box::new(proposal)))?;

    let accept = || NewResponse::accept(second);
    respond(&table, id, ben, accept(), (now, &entropy))?;
    respond(&table, id, eve, accept(), (now, &entropy))?;
    if respond(&table, id, eve, accept(), (now, &entropy)).is_ok() {
        return Err("nobody responds twice".into());
    }

    let seen = table.find(id)?;
    let Verdict::Ranked(ranking) = seen.verdict(now)? else { return Err("nobody declined".into()) };
    let best = ranking.best();
    println!("the offsite begins at {}", best.span().start());
    let confirmed = seen.confirmed(best.id(), EventId::new(now, &entropy), now)?;
    table.write(Change::update(&seen, confirmed)?)?;
    let end = table.find(id)?;
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
