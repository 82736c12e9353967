//! Which tools a client is shown, and how results look: what the query of the endpoint's address says.

use std::collections::BTreeSet;

use http::request::Parts;
use kalends_accounts::reach::Standing;
use kalends_kernel::FieldError;
use rmcp::model::Tool;
use url::form_urlencoded;

use super::{core, tools::Tools};

/// The set of the tools that are written for models.
const CORE: &str = "core";
/// The set of all operations.
const ALL: &str = "all";
const SETS: &str = "tools";
const STRUCTURED: &str = "structured";

/// What a client wants to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct View {
    /// The sets by name: [`CORE`], or groups of operations. Empty if all operations are listed.
    sets: BTreeSet<String>,
    structured: Option<bool>,
}

impl Default for View {
    /// The tools that are written for models.
    fn default() -> Self {
        Self { sets: [CORE.to_owned()].into(), structured: None }
    }
}

impl View {
    /// What the query says: `tools=core,webhooks` and `structured=true`. Other parameters mean nothing.
    ///
    /// # Errors
    /// If a set is unknown, or `structured` is neither true nor false.
    pub(super) fn of(query: Option<&str>, tools: &Tools) -> Result<Self, FieldError> {
        let mut view = Self::default();
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            match &*name {
                SETS => view.sets = sets(&value, tools)?,
                STRUCTURED => {
                    let read = value.parse().map_err(|_| FieldError::new(STRUCTURED, "must be true or false"))?;
                    view.structured = Some(read);
                }
                _ => {}
            }
        }
        Ok(view)
    }

    /// What the outer request says.
    pub(super) fn in_request(parts: &Parts) -> Self {
        parts.extensions.get().cloned().unwrap_or_default()
    }

    /// Whether results repeat their JSON as structured content. By default, only the list of all operations does.
    pub(super) fn is_structured(&self) -> bool {
        self.structured.unwrap_or(self.sets.is_empty())
    }

    /// The tools of these sets that a caller may call.
    pub(super) fn listed(&self, tools: &Tools, caller: impl Into<Standing>) -> Vec<Tool> {
        let caller = caller.into();
        let own = core::for_caller(caller).filter(|_| self.sets.contains(CORE)).map(core::listed);
        let operations = tools.for_caller(caller);
        let operations = operations.filter(|bound| self.sets.is_empty() || self.sets.contains(&bound.tag));
        own.chain(operations.map(|bound| bound.tool.clone())).collect()
    }
}

/// The sets with these names; none if one of them is [`ALL`].
fn sets(names: &str, tools: &Tools) -> Result<BTreeSet<String>, FieldError> {
    let names: BTreeSet<String> = names.split(',').map(|name| name.trim().to_lowercase()).collect();
    if names.contains(ALL) {
        return Ok(BTreeSet::new());
    }
    let tags = tools.tags();
    match names.iter().find(|name| *name != CORE && !tags.contains(name.as_str())) {
        Some(_) => {
            let tags: Vec<_> = tags.into_iter().collect();
            Err(FieldError::new(
                SETS,
                format!("must be {ALL}, or names separated by commas of {CORE}, {}", tags.join(", ")),
            ))
        }
        None => Ok(names),
    }
}

#[cfg(test)]
mod tests {
    use kalends_accounts::reach::CallerKind;
    use rstest::rstest;
    use serde_json::Value;

    use super::*;

    fn tools() -> Tools {
        Tools::of(&crate::description("https://kalends.example")).0
    }

    fn listed(query: &str) -> Vec<String> {
        let tools = tools();
        let view = View::of(Some(query), &tools).unwrap();
        view.listed(&tools, CallerKind::OrganizationKey).into_iter().map(|tool| tool.name.to_string()).collect()
    }

    #[test]
    fn sets_are_listed() {
        let all = listed("tools=all&x=y");
        assert!(all.contains(&"createWebhook".to_owned()) && !all.contains(&"whoami".to_owned()));
        let core = listed("");
        assert_eq!(listed("tools=core"), core);
        assert!(core.contains(&"whoami".to_owned()) && !core.contains(&"createWebhook".to_owned()));
        let both = listed("tools=core,webhooks");
        assert!(both.contains(&"whoami".to_owned()) && both.contains(&"createWebhook".to_owned()));
        assert!(!both.contains(&"createAgent".to_owned()));
    }

    /// The places in a schema where `type` is a list.
    fn lists_of_types(schema: &Value, place: &str) -> Vec<String> {
        let fields = |fields: &Value, place: &str| -> Vec<String> {
            let fields = fields.as_object().into_iter().flatten();
            fields.flat_map(|(name, field)| lists_of_types(field, &format!("{place}/{name}"))).collect()
        };
        match schema {
            Value::Array(schemas) => schemas.iter().flat_map(|schema| lists_of_types(schema, place)).collect(),
            Value::Object(keywords) => keywords
                .iter()
                .flat_map(|(keyword, part)| match keyword.as_str() {
                    "type" if part.is_array() => vec![place.to_owned()],
                    // These are values, not schemas.
                    "const" | "default" | "enum" | "required" => Vec::new(),
                    // The keys of this object are names of fields.
                    "properties" => fields(part, place),
                    _ => lists_of_types(part, &format!("{place}/{keyword}")),
                })
                .collect(),
            _ => Vec::new(),
        }
    }

    #[rstest]
    fn every_schema_has_one_type_at_a_time(
        #[values("tools=all", "tools=core")] query: &str,
        #[values(CallerKind::OrganizationKey, CallerKind::AgentKey)] caller: CallerKind,
    ) {
        let tools = tools();
        let listed = View::of(Some(query), &tools).unwrap().listed(&tools, caller);
        assert!(!listed.is_empty());
        for tool in listed {
            let described = serde_json::to_value(&tool).unwrap();
            for schema in ["inputSchema", "outputSchema"] {
                assert_eq!(lists_of_types(&described[schema], schema), Vec::<String>::new(), "{}", tool.name);
            }
        }
    }

    #[rstest]
    #[case("", false)]
    #[case("tools=all", true)]
    #[case("tools=all&structured=false", false)]
    #[case("tools=core", false)]
    #[case("tools=core&structured=true", true)]
    fn results_are_structured_if_asked(#[case] query: &str, #[case] expected: bool) {
        assert_eq!(View::of(Some(query), &tools()).unwrap().is_structured(), expected);
    }

    #[rstest]
    #[case("tools=webhook", "tools")]
    #[case("structured=yes", "structured")]
    fn unknown_sets_are_refused(#[case] query: &str, #[case] param: &str) {
        assert_eq!(View::of(Some(query), &tools()).unwrap_err().param, param);
    }
}
