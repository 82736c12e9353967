//! The entries of the audit log in words.

use kalends_accounts::{Action, KeyLabel};
use kalends_app::{AuditNames, operations, ports::AuditKey};
use kalends_calendars::Occurrence;
use kalends_kernel::{AgentId, ApprovalId, CalendarId, KeyId, UserId};
use kalends_web::{ActivityPart, Href};
use kalends_wire::AuditEntry;

use crate::console::shown::capitalized;

/// Stands for the changed resource in [`Action::phrase`].
const SUBJECT: &str = "{}";
/// The status of a write that waits for approval.
const ACCEPTED: u16 = 202;
/// What the entry of such a write says. Another entry says that it was made.
const ONLY_ASKED: &str = "Requested only: it needs approval.";

/// What happened, as a sentence such as "olga@example.com revoked the key “laptop” (agent “Ada”)." `page_of` returns
/// the page of what has this identifier, if the user may open it.
pub(super) fn sentence(
    entry: &AuditEntry,
    names: &AuditNames,
    page_of: &dyn Fn(&str) -> Option<Href>,
) -> Vec<ActivityPart> {
    let phrase = phrase(entry);
    let (before, after) = phrase.split_once(SUBJECT).map_or((phrase, None), |(before, after)| (before, Some(after)));
    let mut parts = vec![ActivityPart::text(format!("{} {before}", actor(entry, names)))];
    if let Some(after) = after {
        parts.push(subject(&entry.resource, names, page_of));
        parts.push(ActivityPart::text(after));
    }
    // The agent is left out where it is the subject.
    if let Some(agent) = entry.agent_id.filter(|agent| agent.to_string() != entry.resource) {
        parts.push(ActivityPart::text(" (agent "));
        parts.push(subject(&agent.to_string(), names, page_of));
        parts.push(ActivityPart::text(")"));
    }
    parts.push(ActivityPart::text("."));
    parts
}

fn phrase(entry: &AuditEntry) -> &'static str {
    match Action::from_name(&entry.action) {
        // Entries of a batch and of an import name the calendar.
        Some(Action::EventCreate) if entry.resource.parse::<CalendarId>().is_ok() => {
            "created events in the calendar {}"
        }
        Some(action) => action.phrase(),
        None => "did something that this version does not know",
    }
}

/// The title of an action among others, such as "Created the agent …".
pub(super) fn option_of(action: Action) -> String {
    capitalized(&action.phrase().replace(SUBJECT, "…"))
}

/// The actor, as the subject of a sentence.
fn actor(entry: &AuditEntry, names: &AuditNames) -> String {
    match (&entry.actor_key_prefix, entry.method.as_str()) {
        (Some(prefix), "AUTO") => format!("The server, for {},", user_or_key(prefix, names)),
        (Some(prefix), _) => user_or_key(prefix, names),
        (None, "CLI") => "An operator".to_owned(),
        (None, "AUTO") => "The server".to_owned(),
        (None, _) => "Somebody without a key".to_owned(),
    }
}

/// The name of the user or the key with these first characters, as the subject of a sentence.
pub(super) fn user_or_key(prefix: &str, names: &AuditNames) -> String {
    if let Some(email) = names.member_of(prefix) {
        return email.to_owned();
    }
    match names.key_of(prefix) {
        Some(AuditKey { agent: Some(agent), label: Some(label), .. }) => {
            format!("The key “{}” of {}", label.as_str(), agent_name(*agent, names))
        }
        Some(AuditKey { agent: Some(agent), label: None, .. }) => format!("The key of {}", agent_name(*agent, names)),
        Some(AuditKey { agent: None, .. }) => "The organization's key".to_owned(),
        None if prefix.starts_with(UserId::PREFIX) => format!("The user {prefix}…"),
        None => format!("The former key {prefix}…"),
    }
}

fn agent_name(id: AgentId, names: &AuditNames) -> String {
    names.agent(id).map_or_else(|| id.to_string(), |name| format!("“{name}”"))
}

/// The name of what has this identifier, with its page, or else the identifier. An occurrence has the name and the page
/// of its series.
fn subject(id: &str, names: &AuditNames, page_of: &dyn Fn(&str) -> Option<Href>) -> ActivityPart {
    let named = id.parse::<Occurrence>().map_or_else(|_| id.to_owned(), |occurrence| occurrence.series.to_string());
    match name_of(&named, names) {
        Some(text) => ActivityPart { text, id: id.to_owned(), page: page_of(&named) },
        // An approval has no name. Its page stays until it is forgotten.
        None if id.parse::<ApprovalId>().is_ok() => {
            ActivityPart { text: id.to_owned(), id: id.to_owned(), page: page_of(id) }
        }
        None => ActivityPart::text(id),
    }
}

fn name_of(id: &str, names: &AuditNames) -> Option<String> {
    if let Ok(user) = id.parse::<UserId>() {
        return names.member(user).map(str::to_owned);
    }
    let agent = id.parse::<AgentId>().ok().and_then(|agent| names.agent(agent));
    let key = id.parse::<KeyId>().ok().and_then(|key| names.key(key));
    let label = key.and_then(|key| key.label.as_ref()).map(KeyLabel::as_str);
    agent.or(label).or_else(|| names.thing(id)).map(|name| format!("“{name}”"))
}

/// The actor in a file: the address of a member, or else what the log has.
pub(super) fn actor_in_file<'a>(entry: &'a AuditEntry, names: &'a AuditNames) -> &'a str {
    match &entry.actor_key_prefix {
        Some(prefix) => names.member_of(prefix).unwrap_or(prefix),
        None if entry.method == "CLI" => "operator",
        None => "",
    }
}

/// Why nothing was done, as a sentence; `None` if it was done.
pub(super) fn not_done(entry: &AuditEntry) -> Option<String> {
    if waits(entry) { Some(ONLY_ASKED.to_owned()) } else { refused(entry.status) }
}

/// Whether the entry is of a write that needed approval, so that it was only asked for.
fn waits(entry: &AuditEntry) -> bool {
    // Few entries have this status, and the list of operations is long.
    entry.status == ACCEPTED
        && operations::find(&entry.method, &entry.path).is_some_and(|operation| operation.status != ACCEPTED)
}

/// Why a request with that status was refused, as a sentence; `None` if it was not refused.
fn refused(status: u16) -> Option<String> {
    let reason = match status {
        ..400 => return None,
        400 => "the password or the code was wrong",
        401 => "the password, the code or the key was wrong or no longer valid",
        403 => "the caller may not do this",
        429 => "too many requests, or a limit of the plan is reached",
        status => return Some(format!("Refused with status {status}.")),
    };
    Some(format!("Refused: {reason}."))
}

/// The outcome in a file.
pub(super) fn outcome(entry: &AuditEntry) -> String {
    not_done(entry).unwrap_or_else(|| "done".to_owned())
}

#[cfg(test)]
mod tests {
    use kalends_accounts::Principal;
    use kalends_kernel::{AuditId, EventId, RequestId};
    use kalends_time::Timestamp;
    use rstest::rstest;

    use super::*;

    const EMAIL: &str = "olga@example.com";
    const ORG_KEY: &str = "svc_sk_0123456789abc";
    const AGENT_KEY: &str = "svc_ak_0123456789abc";
    const PLAIN_KEY: &str = "svc_ak_1123456789abc";

    fn agent() -> AgentId {
        AgentId::from_bytes([1; 16])
    }

    fn user() -> UserId {
        UserId::from_bytes([2; 16])
    }

    fn laptop() -> KeyId {
        KeyId::from_bytes([3; 16])
    }

    fn standup() -> EventId {
        EventId::from_bytes([6; 16])
    }

    fn names() -> AuditNames {
        let key = |id, prefix: &str, agent, label: Option<&str>| AuditKey {
            id,
            agent,
            agent_name: None,
            label: label.map(|label| KeyLabel::parse("label", label).unwrap()),
            prefix: prefix.to_owned(),
        };
        let other = |byte| KeyId::from_bytes([byte; 16]);
        let keys = vec![
            key(other(4), ORG_KEY, None, None),
            key(laptop(), AGENT_KEY, Some(agent()), Some("laptop")),
            key(other(5), PLAIN_KEY, Some(AgentId::from_bytes([9; 16])), None),
        ];
        let mut names = AuditNames::new(vec![(agent(), "Ada".to_owned())], keys, vec![(user(), EMAIL.to_owned())]);
        names.add([(standup(), "Standup".to_owned())]);
        names
    }

    fn entry(action: Action, actor: Option<&str>, resource: &str) -> AuditEntry {
        AuditEntry {
            id: AuditId::from_bytes([0; 16]),
            action: action.as_str().into(),
            actor_key_prefix: actor.map(str::to_owned),
            agent_id: None,
            resource: resource.to_owned(),
            ip: None,
            status: 200,
            method: "POST".to_owned(),
            path: "/v1/agents".to_owned(),
            duration_ms: 1,
            request_id: RequestId::from_bytes([0; 16]),
            created_at: Timestamp::from_micros(0),
        }
    }

    fn parts(entry: &AuditEntry) -> Vec<ActivityPart> {
        sentence(entry, &names(), &|id| Href::new(format!("/{id}")))
    }

    fn said(entry: &AuditEntry) -> String {
        parts(entry).into_iter().map(|part| part.text).collect()
    }

    #[test]
    fn every_action_is_a_sentence() {
        for action in Action::ALL {
            let said = said(&entry(*action, Some(ORG_KEY), "evt_x"));
            assert!(said.starts_with("The organization's key ") && said.ends_with('.'), "{said}");
            assert!(!said.contains(SUBJECT), "{said}");
            let title = option_of(*action);
            assert!(title.starts_with(char::is_uppercase) && !title.contains(SUBJECT), "{title}");
        }
        assert_eq!(option_of(Action::AgentCreate), "Created the agent …");
        assert_eq!(option_of(Action::AuthSignin), "Signed in to the console");
    }

    #[rstest]
    #[case::of_the_organization(Some(ORG_KEY), "POST", "The organization's key created the agent “Ada”.")]
    #[case::of_an_agent(Some(AGENT_KEY), "POST", "The key “laptop” of “Ada” created the agent “Ada”.")]
    #[case::revoked(Some("svc_ak_x"), "POST", "The former key svc_ak_x… created the agent “Ada”.")]
    #[case::of_a_former_member(Some("usr_x"), "POST", "The user usr_x… created the agent “Ada”.")]
    #[case::operator(None, "CLI", "An operator created the agent “Ada”.")]
    #[case::guest(None, "POST", "Somebody without a key created the agent “Ada”.")]
    fn the_actor_is_named(#[case] actor: Option<&str>, #[case] method: &str, #[case] expected: &str) {
        let id = agent().to_string();
        let created = entry(Action::AgentCreate, actor, &id);
        let by = AuditEntry { method: method.to_owned(), agent_id: Some(agent()), ..created };
        assert_eq!(said(&by), expected);
    }

    #[test]
    fn a_user_is_named_by_the_address() {
        let prefix = Principal::user_prefix(user());
        let (id, key) = (user().to_string(), laptop().to_string());
        let by = |action, resource: &str| entry(action, Some(&prefix), resource);
        assert_eq!(said(&by(Action::MemberUpdate, &id)), format!("{EMAIL} changed the role of {EMAIL}."));
        let revoked = AuditEntry { agent_id: Some(agent()), ..by(Action::KeyDelete, &key) };
        assert_eq!(said(&revoked), format!("{EMAIL} revoked the key “laptop” (agent “Ada”)."));
        assert_eq!(said(&by(Action::KeyDelete, "key_x")), format!("{EMAIL} revoked the key key_x."));
        let claimed = AuditEntry { method: "AUTO".to_owned(), ..by(Action::OrgUpdate, "org_x") };
        assert_eq!(said(&claimed), format!("The server, for {EMAIL}, changed the organization."));
        assert_eq!(actor_in_file(&claimed, &names()), EMAIL);
    }

    #[rstest]
    #[case::asked("POST", "/v1/agents", 202, Some(ONLY_ASKED))]
    #[case::done("POST", "/v1/agents", 201, None)]
    #[case::later("POST", "/v1/ical-subscriptions/{id}/sync", 202, None)]
    #[case::refused("POST", "/v1/agents", 409, Some("Refused with status 409."))]
    #[case::of_no_operation("CLI", "org set-plan", 202, None)]
    fn an_entry_says_what_was_not_done(
        #[case] method: &str,
        #[case] path: &str,
        #[case] status: u16,
        #[case] said: Option<&str>,
    ) {
        let created = entry(Action::AgentCreate, Some(ORG_KEY), "agt_x");
        let ended = AuditEntry { method: method.to_owned(), path: path.to_owned(), status, ..created };
        assert_eq!(not_done(&ended).as_deref(), said);
    }

    #[test]
    fn an_approval_has_a_page_and_no_name() {
        let approval = ApprovalId::from_bytes([7; 16]).to_string();
        let decided = entry(Action::ApprovalDeny, Some(ORG_KEY), &approval);
        assert_eq!(said(&decided), format!("The organization's key denied the request {approval}."));
        let page = parts(&decided).into_iter().find_map(|part| part.page);
        assert_eq!(page, Href::new(format!("/{approval}")));
    }

    #[test]
    fn an_operator_helps_a_user() {
        let off = entry(Action::AuthSecondFactorOff, None, &user().to_string());
        let by_command = AuditEntry { method: "CLI".to_owned(), ..off };
        assert_eq!(said(&by_command), format!("An operator turned off the second factor of {EMAIL}."));
    }

    #[test]
    fn an_agent_without_a_name_is_identified() {
        let id = AgentId::from_bytes([9; 16]);
        assert_eq!(user_or_key(PLAIN_KEY, &names()), format!("The key of {id}"));
        let changed = AuditEntry { agent_id: Some(id), ..entry(Action::EventUpdate, Some(ORG_KEY), "evt_x") };
        assert_eq!(said(&changed), format!("The organization's key changed the event evt_x (agent {id})."));
    }

    #[test]
    fn what_has_a_name_leads_to_its_page() {
        let (agent, event) = (agent(), standup().to_string());
        let changed = AuditEntry { agent_id: Some(agent), ..entry(Action::EventUpdate, Some(ORG_KEY), &event) };
        assert_eq!(said(&changed), "The organization's key changed the event “Standup” (agent “Ada”).");
        let named = |entry: &AuditEntry| -> Vec<(String, Option<Href>)> {
            let named = parts(entry).into_iter().filter(|part| !part.id.is_empty());
            named.map(|part| (part.id, part.page)).collect()
        };
        let page = |id: &str| Href::new(format!("/{id}"));
        let ada = agent.to_string();
        assert_eq!(named(&changed), [(event.clone(), page(&event)), (ada.clone(), page(&ada))]);

        let occurrence = format!("{event}_20260301T090000Z");
        let moved = entry(Action::EventUpdate, Some(ORG_KEY), &occurrence);
        assert_eq!(said(&moved), "The organization's key changed the event “Standup”.");
        assert_eq!(named(&moved), [(occurrence, page(&event))], "it leads to the series");
        let unnamed = entry(Action::EventDelete, Some(ORG_KEY), "evt_x");
        assert!(named(&unnamed).is_empty(), "what is gone has no page");
    }

    #[test]
    fn an_import_names_the_calendar() {
        let calendar = CalendarId::from_bytes([0; 16]).to_string();
        let said = said(&entry(Action::EventCreate, Some(ORG_KEY), &calendar));
        assert_eq!(said, format!("The organization's key created events in the calendar {calendar}."));
    }

    #[rstest]
    #[case(200, None, "done")]
    #[case(302, None, "done")]
    #[case(429, Some("Refused: too many requests, or a limit of the plan is reached."), "")]
    #[case(418, Some("Refused with status 418."), "")]
    fn refusals_have_a_reason(#[case] status: u16, #[case] reason: Option<&str>, #[case] done: &str) {
        assert_eq!(refused(status).as_deref(), reason);
        let ended = AuditEntry { status, ..entry(Action::AgentCreate, None, "agt_x") };
        assert_eq!(outcome(&ended), reason.unwrap_or(done));
    }
}
