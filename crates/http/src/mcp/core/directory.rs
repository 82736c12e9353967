//! Agents and calendars by what models call them: an id or a name.

use std::collections::BTreeSet;

use kalends_accounts::Scope;
use kalends_app::operations::{self, Operation};
use kalends_kernel::FieldError;
use kalends_time::Zone;
use serde_json::{Value, json};

use super::{
    arguments::{Arguments, beginning, nearest},
    failure::Failure,
    session::Session,
};

/// The argument that names agents.
const PARTICIPANTS: &str = "participants";
/// The argument that names calendars.
pub(super) const CALENDARS: &str = "calendar_ids";

/// The word by which an agent means itself.
const ME: &str = "me";
/// The entries of a list that are read at once.
const PAGE: usize = 200;
/// The most lists of agents that are read to find a name.
const PAGES_MAX: usize = 5;
/// The longest name that an agent can have, in characters.
const NAME_MAX: usize = 255;
/// The status of an agent that no longer takes part in anything.
const GONE: &str = "decommissioned";

/// An agent, or a shared calendar, that a call names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Agent {
    pub id: String,
    pub name: String,
}

/// A calendar of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnCalendar {
    pub id: String,
    pub name: String,
    pub zone: Zone,
}

/// Whose time a call is about. It names at least one agent or calendar, and none of them twice.
#[derive(Debug)]
pub(super) struct Whose {
    pub agents: Vec<Agent>,
    pub calendars: Vec<String>,
}

impl Whose {
    /// The agents and shared calendars of `participants`, and the calendars of `calendar_ids`: at most `most` in each of
    /// them. Without both, the agent of the key.
    ///
    /// # Errors
    /// As [`agents`], and [`Failure::Argument`] if there is nobody, or too many.
    pub(super) async fn of(session: &Session<'_>, arguments: &Arguments, most: usize) -> Result<Self, Failure> {
        let named = arguments.list(PARTICIPANTS)?.unwrap_or_default();
        let mut calendars = arguments.list(CALENDARS)?.unwrap_or_default();
        for (argument, list) in [(PARTICIPANTS, &named), (CALENDARS, &calendars)] {
            if list.len() > most {
                let message = format!("must name at most {most}, got {}", list.len());
                return Err(FieldError::new(argument, message).into());
            }
        }
        let mut agents = match session.own_agent() {
            _ if !named.is_empty() => {
                let (agents, rooms) = participants(session, &named).await?;
                calendars.extend(rooms);
                agents
            }
            _ if !calendars.is_empty() => Vec::new(),
            Some(own) => vec![Agent { id: own.to_string(), name: ME.to_owned() }],
            None => {
                let message = "is required; whoami returns the ids and names of the agents";
                return Err(FieldError::new(PARTICIPANTS, message).into());
            }
        };
        let mut seen = BTreeSet::new();
        agents.retain(|agent| seen.insert(agent.id.clone()));
        calendars.retain(|id| seen.insert(id.clone()));
        Ok(Self { agents, calendars })
    }

    /// The zone of the argument `timezone`, or else that of the first agent's first calendar, or of the first calendar.
    ///
    /// # Errors
    /// [`Failure::Argument`] if there is no such zone; [`Failure::Refused`] if the calendar cannot be read.
    pub(super) async fn zone(&self, session: &Session<'_>, arguments: &Arguments) -> Result<Zone, Failure> {
        match (arguments.zone("timezone")?, self.agents.first(), self.calendars.first()) {
            (Some(zone), _, _) => Ok(zone),
            (None, Some(agent), _) => zone_of_agent(session, &agent.id).await,
            (None, None, Some(calendar)) => zone_of_calendar(session, calendar).await,
            (None, None, None) => Ok(Zone::UTC),
        }
    }
}

/// The agents that take part, and the ids of the shared calendars, such as rooms. An agent is meant before a calendar of
/// the same name.
///
/// # Errors
/// As [`agents`], and [`Failure::Argument`] for a name that several shared calendars have.
async fn participants(session: &Session<'_>, wanted: &[String]) -> Result<(Vec<Agent>, Vec<String>), Failure> {
    let (mut rooms, others): (Vec<String>, Vec<String>) =
        wanted.iter().cloned().partition(|text| text.starts_with("cal_"));
    let reads_shared = session.own_agent().is_none() || session.scopes().contains(Scope::DirectoryOrg);
    if !reads_shared || others.iter().all(|text| is_id(text)) {
        return Ok((agents(session, PARTICIPANTS, &others).await?, rooms));
    }
    let (known, are_all) = known_agents(session, PARTICIPANTS, &others).await?;
    let is_agent = |text: &String| is_id(text) || known.iter().any(|agent| is_named(agent, text));
    let (of_agents, of_rooms): (Vec<String>, Vec<String>) = others.into_iter().partition(is_agent);
    if !of_rooms.is_empty() {
        let (shared, are_all_shared) = shared_calendars(session).await?;
        for name in &of_rooms {
            match shared.iter().filter(|room| is_named(room, name)).collect::<Vec<_>>().as_slice() {
                [only] => rooms.push(only.id.clone()),
                // The error names what is near among both.
                [] => {
                    let are_all = are_all && are_all_shared;
                    return Err(unknown(&[known, shared].concat(), are_all, PARTICIPANTS, name).into());
                }
                several => return Err(ambiguous(several, PARTICIPANTS, name).into()),
            }
        }
    }
    let agents: Result<Vec<Agent>, FieldError> =
        of_agents.iter().map(|text| by_id_or_name(&known, are_all, PARTICIPANTS, text)).collect();
    Ok((agents?, rooms))
}

/// The calendars that the organization shares, the oldest first, as far as calendars are searched, and whether these are
/// all.
///
/// # Errors
/// [`Failure::Refused`] if the caller cannot list them.
pub(super) async fn shared_calendars(session: &Session<'_>) -> Result<(Vec<Agent>, bool), Failure> {
    let asked = json!({ "include": "all" });
    let (calendars, are_all) = pages(session, &operations::LIST_CALENDARS, &asked).await?;
    Ok((calendars.iter().filter(|calendar| calendar["agentId"].is_null()).map(read).collect(), are_all))
}

/// The entries of a list, as far as it is searched, and whether these are all.
async fn pages(
    session: &Session<'_>,
    operation: &'static Operation,
    asked: &Value,
) -> Result<(Vec<Value>, bool), Failure> {
    let mut found = Vec::new();
    for page in 0..PAGES_MAX {
        let mut asked = asked.clone();
        asked["limit"] = PAGE.into();
        asked["offset"] = (page * PAGE).into();
        let listed = session.call(operation, asked).await?.body;
        let entries = listed["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        found.extend_from_slice(entries);
        if entries.len() < PAGE {
            return Ok((found, true));
        }
    }
    Ok((found, false))
}

fn is_id(text: &str) -> bool {
    text.starts_with("agt_")
}

/// The agents with these ids or names, in this order. `argument` is the one that names them. An agent's key may say
/// `me`.
///
/// # Errors
/// [`Failure::Argument`] for a name that no agent has, with the nearest three, and for one that several have, with their
/// ids. A key of an agent reads the names of others only with the scope for it.
pub(super) async fn agents(session: &Session<'_>, argument: &str, wanted: &[String]) -> Result<Vec<Agent>, Failure> {
    let (known, are_all) = known_agents(session, argument, wanted).await?;
    let found = wanted.iter().map(|text| by_id_or_name(&known, are_all, argument, text));
    Ok(found.collect::<Result<Vec<_>, FieldError>>()?)
}

/// The agents among which these names are looked up, and whether the organization has no others. Nothing is read if all of
/// them are ids.
async fn known_agents(session: &Session<'_>, argument: &str, wanted: &[String]) -> Result<(Vec<Agent>, bool), Failure> {
    if let Some(long) = wanted.iter().find(|name| name.chars().nth(NAME_MAX).is_some()) {
        return Err(FieldError::new(argument, format!("has no agent named {:?}", beginning(long))).into());
    }
    let mut known = Vec::new();
    let mut are_all = true;
    let reads_all = session.own_agent().is_none() || session.scopes().contains(Scope::DirectoryOrg);
    if reads_all && wanted.iter().any(|name| !is_id(name)) {
        (known, are_all) = all(session).await?;
        // An agent may be named like the word, but a key that says it means itself.
        if let Some(own) = session.own_agent().map(|own| own.to_string()) {
            if !known.iter().any(|agent| agent.id == own) {
                known.push(read(&session.call(&operations::GET_AGENT, json!({ "id": own })).await?.body));
            }
            known.retain(|agent| !is_named(agent, ME));
            known.push(Agent { id: own, name: ME.to_owned() });
        }
    } else if let Some(own) = session.own_agent().map(|own| own.to_string()) {
        if wanted.iter().any(|name| !is_id(name)) {
            let agent = session.call(&operations::GET_AGENT, json!({ "id": own })).await?.body;
            let agent = read(&agent);
            known.push(Agent { id: own, name: ME.to_owned() });
            known.push(agent);
        }
        let is_known = |name: &&String| is_id(name) || known.iter().any(|agent| is_named(agent, name));
        if let Some(unknown) = wanted.iter().find(|name| !is_known(name)) {
            let message =
                format!("names {:?}, which this key cannot look up; send the agent's id (agt_...)", beginning(unknown));
            return Err(FieldError::new(argument, message).into());
        }
    }
    Ok((known, are_all))
}

fn by_id_or_name(known: &[Agent], are_all: bool, argument: &str, text: &str) -> Result<Agent, FieldError> {
    if is_id(text) {
        return Ok(Agent { id: text.to_owned(), name: text.to_owned() });
    }
    named(known, are_all, argument, text)
}

/// [`agents`] with one id or name.
///
/// # Errors
/// Those of [`agents`].
pub(super) async fn agent(session: &Session<'_>, argument: &str, wanted: String) -> Result<Agent, Failure> {
    let found = agents(session, argument, &[wanted]).await?.pop();
    found.ok_or_else(|| FieldError::new(argument, "is required").into())
}

/// The organization's agents that still take part in something, the oldest first, as far as they are searched, and whether
/// these are all.
async fn all(session: &Session<'_>) -> Result<(Vec<Agent>, bool), Failure> {
    let (agents, are_all) = pages(session, &operations::LIST_AGENTS, &json!({})).await?;
    Ok((agents.iter().filter(|agent| agent["status"] != GONE).map(read).collect(), are_all))
}

fn read(agent: &Value) -> Agent {
    let text = |field: &str| agent[field].as_str().unwrap_or_default().to_owned();
    Agent { id: text("id"), name: text("name") }
}

fn is_named(agent: &Agent, name: &str) -> bool {
    agent.name.to_lowercase() == name.trim().to_lowercase()
}

/// The only known agent with that name. `are_all` is whether the organization has no others.
fn named(known: &[Agent], are_all: bool, argument: &str, name: &str) -> Result<Agent, FieldError> {
    let mut found: Vec<&Agent> = known.iter().filter(|agent| is_named(agent, name)).collect();
    found.dedup_by_key(|agent| &agent.id);
    match found.as_slice() {
        [only] => Ok((*only).clone()),
        [] => Err(unknown(known, are_all, argument, name)),
        several => Err(ambiguous(several, argument, name)),
    }
}

/// The error for a name that nobody known has.
fn unknown(known: &[Agent], are_all: bool, argument: &str, name: &str) -> FieldError {
    let nearest = nearest(name, known.iter().map(|agent| agent.name.as_str())).join(", ");
    let nearest = if nearest.is_empty() { nearest } else { format!("; the nearest names are {nearest}") };
    let searched =
        format!(" among the oldest {}, which are searched; send its id (agt_... or cal_...)", PAGES_MAX * PAGE);
    let searched = if are_all { String::new() } else { searched };
    FieldError::new(argument, format!("has no agent named {:?}{searched}{nearest}", beginning(name)))
}

/// The error for a name that several have.
fn ambiguous(several: &[&Agent], argument: &str, name: &str) -> FieldError {
    let ids: Vec<_> = several.iter().map(|agent| agent.id.as_str()).collect();
    FieldError::new(argument, format!("names several by {:?}; send one id of {}", beginning(name), ids.join(", ")))
}

/// The only calendar of an agent.
///
/// # Errors
/// [`Failure::Argument`] about `argument` if the agent has no calendar, or several: then the error lists them.
pub(super) async fn only_calendar(
    session: &Session<'_>,
    argument: &str,
    agent: &Agent,
) -> Result<OwnCalendar, Failure> {
    let asked = json!({ "agent_id": agent.id, "limit": PAGE });
    let listed = session.call(&operations::LIST_AGENT_CALENDARS, asked).await?.body;
    let mut calendars: Vec<OwnCalendar> = listed["data"].as_array().into_iter().flatten().map(calendar).collect();
    if let [_] = calendars.as_slice() {
        return Ok(calendars.swap_remove(0));
    }
    if calendars.is_empty() {
        return Err(FieldError::new(argument, format!("{} has no calendar; create one first", agent.name)).into());
    }
    let listed: Vec<_> = calendars.iter().map(|calendar| format!("{} ({})", calendar.id, calendar.name)).collect();
    let message = format!("{} has several calendars; send the id of one of them: {}", agent.name, listed.join(", "));
    Err(FieldError::new(argument, message).into())
}

/// The calendars of the key's agent; `None` for a key of the organization.
///
/// # Errors
/// [`Failure::Refused`] if the agent cannot be read any more.
pub(super) async fn own_calendars(session: &Session<'_>) -> Result<Option<Vec<OwnCalendar>>, Failure> {
    let Some(own) = session.own_agent() else { return Ok(None) };
    let asked = json!({ "agent_id": own.to_string(), "limit": PAGE });
    let listed = session.call(&operations::LIST_AGENT_CALENDARS, asked).await?.body;
    Ok(Some(listed["data"].as_array().into_iter().flatten().map(calendar).collect()))
}

/// The zone of a calendar. With scopes, an agent's key takes that of its own agent for calendars of others.
///
/// # Errors
/// [`Failure::Refused`] if the caller cannot read it.
pub(super) async fn zone_of_calendar(session: &Session<'_>, id: &str) -> Result<Zone, Failure> {
    if !session.scopes().is_empty()
        && let Some(own) = own_calendars(session).await?
    {
        let zone = own.iter().find(|calendar| calendar.id == id).or(own.first()).map(|calendar| calendar.zone);
        return Ok(zone.unwrap_or(Zone::UTC));
    }
    let found = session.call(&operations::GET_CALENDAR, json!({ "id": id })).await?.body;
    Ok(calendar(&found).zone)
}

/// The zone of an agent's first calendar, or UTC if it has none. With scopes, an agent's key takes that of its own
/// agent for others.
///
/// # Errors
/// [`Failure::Refused`] if the caller cannot read its calendars.
pub(super) async fn zone_of_agent(session: &Session<'_>, id: &str) -> Result<Zone, Failure> {
    let own = session.own_agent().filter(|_| !session.scopes().is_empty()).map(|own| own.to_string());
    let first = json!({ "agent_id": own.as_deref().unwrap_or(id), "limit": 1 });
    let listed = session.call(&operations::LIST_AGENT_CALENDARS, first).await?.body;
    Ok(calendar(&listed["data"][0]).zone)
}

/// A calendar as the API shows it.
pub(super) fn calendar(calendar: &Value) -> OwnCalendar {
    let text = |field: &str| calendar[field].as_str().unwrap_or_default().to_owned();
    OwnCalendar { id: text("id"), name: text("name"), zone: text("timezone").parse().unwrap_or(Zone::UTC) }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn known() -> [Agent; 3] {
        [("agt_1", "Ada"), ("agt_2", "Bob"), ("agt_3", "bob")]
            .map(|(id, name)| Agent { id: id.to_owned(), name: name.to_owned() })
    }

    #[rstest]
    #[case::found("ada", Ok("agt_1"))]
    #[case::twice("Bob", Err("agt_2, agt_3"))]
    #[case::unknown("Adda", Err("Ada"))]
    fn agents_are_found_by_their_names(#[case] name: &str, #[case] expected: Result<&str, &str>) {
        match (named(&known(), true, "participants", name), expected) {
            (Ok(found), Ok(id)) => assert_eq!(found.id, id),
            (Err(error), Err(says)) => assert!(error.message.contains(says), "{}", error.message),
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn an_agent_that_is_not_searched_for_is_named_by_its_id() {
        let says = |are_all| named(&known(), are_all, "participants", "Cleo").unwrap_err().message;
        assert!(says(false).contains("1000") && says(false).contains("send its id"), "{}", says(false));
        assert!(!says(true).contains("1000"), "{}", says(true));
        assert_eq!(named(&known(), false, "participants", "Ada").unwrap().id, "agt_1");
    }
}
