//! Calls of an operation in several languages, made from the examples of the description.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::reference::parts::{Access, entries, pretty};

/// The table of the Rust client's methods. It is read as text, because a crate of the application does not depend on an
/// adapter. Every line that begins a method is `operationId method_name: METHOD "path"`.
const CLIENT: &str = include_str!("../../client/src/operations.rs");

/// A call in one language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sample {
    /// The language as readers know it.
    pub(crate) language: &'static str,
    /// The class of the code.
    pub(crate) class: &'static str,
    pub(crate) code: String,
}

/// Identifiers of the recorded examples, by their prefix, such as `cal`.
#[derive(Debug, Default)]
pub(crate) struct Values(BTreeMap<String, String>);

/// What a sample calls.
pub(crate) struct Call<'a> {
    pub(crate) id: &'a str,
    pub(crate) method: &'a str,
    /// The template of the path.
    pub(crate) path: &'a str,
    pub(crate) parameters: &'a Value,
    /// The media type of the body and its example.
    pub(crate) body: Option<(&'a str, &'a Value)>,
    /// The name of the body's schema.
    pub(crate) body_type: Option<&'a str>,
    pub(crate) access: Access,
    pub(crate) base: &'a str,
    pub(crate) values: &'a Values,
}

impl Values {
    /// Collects the identifiers in the examples of all answers.
    pub(crate) fn of(description: &Value) -> Self {
        let mut values = Self::default();
        for (_, methods) in entries(&description["paths"]) {
            for (_, described) in entries(methods) {
                for (_, response) in entries(&described["responses"]) {
                    entries(&response["content"]).for_each(|(_, media)| values.collect(&media["example"]));
                }
            }
        }
        values
    }

    fn collect(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                let prefix = text.split_once('_').filter(|(prefix, rest)| prefix.len() == 3 && rest.len() == 26);
                if let Some((prefix, _)) = prefix {
                    self.0.entry(prefix.to_owned()).or_insert_with(|| text.clone());
                }
            }
            Value::Array(parts) => parts.iter().for_each(|part| self.collect(part)),
            Value::Object(parts) => parts.values().for_each(|part| self.collect(part)),
            _ => {}
        }
    }

    /// An example of a parameter: its own, or the identifier whose prefix its description names.
    fn parameter(&self, parameter: &Value) -> String {
        let own = [&parameter["example"], &parameter["schema"]["example"], &parameter["schema"]["enum"][0]];
        if let Some(own) = own.into_iter().find(|value| !value.is_null()) {
            return pretty(own);
        }
        let about = parameter["description"].as_str().unwrap_or_default();
        let prefixes = about.split('`').skip(1).step_by(2).filter_map(|code| code.strip_suffix("_…"));
        let known = prefixes.filter_map(|prefix| self.0.get(prefix)).next();
        let word = about.split('`').nth(1).filter(|word| !word.contains('…'));
        known
            .map(String::as_str)
            .or(word)
            .map_or_else(|| parameter["name"].as_str().unwrap_or_default().to_ascii_uppercase(), str::to_owned)
    }
}

impl Call<'_> {
    /// The call in every language.
    pub(crate) fn samples(&self) -> Vec<Sample> {
        let sample = |language, class, code| Sample { language, class, code };
        let rust = self.rust().map(|code| sample("Rust", "rust", code));
        [Some(sample("curl", "sh", self.curl())), rust]
            .into_iter()
            .flatten()
            .chain([sample("Python", "python", self.python()), sample("JavaScript", "javascript", self.javascript())])
            .collect()
    }

    fn placed(&self, place: &str) -> Vec<(&str, String)> {
        let parameters = self.parameters.as_array().into_iter().flatten();
        let wanted = parameters.filter(|parameter| parameter["in"] == place && parameter["required"] == true);
        wanted.map(|one| (one["name"].as_str().unwrap_or_default(), self.values.parameter(one))).collect()
    }

    /// The path with values, and the required parameters of the query.
    fn address(&self) -> String {
        let mut path = self.path.to_owned();
        for (name, value) in self.placed("path") {
            path = path.replace(&format!("{{{name}}}"), &value);
        }
        let query: Vec<String> =
            self.placed("query").into_iter().map(|(name, value)| format!("{name}={}", encoded(&value))).collect();
        if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
    }

    fn json(&self) -> Option<String> {
        self.body.filter(|(media_type, _)| *media_type == "application/json").map(|(_, example)| pretty(example))
    }

    fn file(&self) -> Option<&str> {
        self.body.map(|(media_type, _)| media_type).filter(|media_type| *media_type != "application/json")
    }

    fn curl(&self) -> String {
        let mut parts = vec![format!("curl \"{}{}\"", self.base, self.address())];
        let implied = if self.body.is_some() { "POST" } else { "GET" };
        if self.method != implied {
            parts.push(format!("--request {}", self.method));
        }
        if let Some(variable) = self.access.variable() {
            parts.push(format!("--header \"Authorization: Bearer ${variable}\""));
        }
        if let Some(json) = self.json() {
            parts.push(format!("--json '{}'", json.replace('\'', "'\\''")));
        } else if let Some(media_type) = self.file() {
            parts.push(format!("--header \"Content-Type: {media_type}\""));
            parts.push("--data-binary @calendar.ics".to_owned());
        }
        parts.join(" \\\n  ")
    }

    /// The call of the Rust client, if it has a method for the operation.
    fn rust(&self) -> Option<String> {
        let begin = format!("    {} {}: ", self.id, snake(self.id));
        let (_, entry) = CLIENT.split_once(&begin)?;
        let entry = entry.split(';').take_while(|part| !part.contains("///")).collect::<Vec<_>>().join(";");
        let mut lines = Vec::new();
        let mut arguments: Vec<String> =
            self.placed("path").into_iter().map(|(_, value)| format!("{value:?}")).collect();
        if entry.contains("query: ") {
            let query = self.placed("query");
            if query.is_empty() {
                arguments.push("&Default::default()".to_owned());
            } else {
                let fields: Vec<String> = query.iter().map(|(name, value)| format!("  {name:?}: {value:?}")).collect();
                lines.push(format!("let query = json!({{\n{}\n}});", fields.join(",\n")));
                arguments.push("&serde_json::from_value(query)?".to_owned());
            }
        }
        if let Some(json) = self.json() {
            let kind = self.body_type.map_or_else(String::new, |name| format!(": wire::{name}"));
            lines.push(format!("let body{kind} = serde_json::from_value(json!({json}))?;"));
            arguments.push("&body".to_owned());
        } else if entry.contains("file: ") {
            lines.push("let file = std::fs::read_to_string(\"calendar.ics\")?;".to_owned());
            arguments.push("&file".to_owned());
        }
        let call = format!("client.{}({}).await?;", snake(self.id), arguments.join(", "));
        let has_answer = !entry.contains("-> ()");
        lines.push(if has_answer { format!("let answer = {call}") } else { call });
        Some(lines.join("\n"))
    }

    fn python(&self) -> String {
        let mut lines = Vec::new();
        let mut arguments = vec![format!("    \"{}{}\",", self.base, self.address())];
        if let Some(variable) = self.access.variable() {
            let header = format!("\"Authorization\": f\"Bearer {{{}}}\"", variable.to_ascii_lowercase());
            let kind =
                self.file().map_or_else(String::new, |media_type| format!(", \"Content-Type\": \"{media_type}\""));
            arguments.push(format!("    headers={{{header}{kind}}},"));
        }
        if let Some((_, example)) = self.body.filter(|_| self.json().is_some()) {
            arguments.push(format!("    json={},", indented(&python_literal(example, 0))));
        } else if self.file().is_some() {
            arguments.push("    data=open(\"calendar.ics\", \"rb\"),".to_owned());
        }
        lines.push(format!("answer = requests.{}(\n{}\n)", self.method.to_ascii_lowercase(), arguments.join("\n")));
        lines.push("answer.raise_for_status()".to_owned());
        lines.push(if self.answers_json() { "print(answer.json())" } else { "print(answer.text)" }.to_owned());
        lines.join("\n")
    }

    fn javascript(&self) -> String {
        let mut options = Vec::new();
        if self.method != "GET" {
            options.push(format!("  method: '{}',", self.method));
        }
        let mut headers = Vec::new();
        if let Some(variable) = self.access.variable() {
            headers.push(format!("'Authorization': `Bearer ${{{}}}`", camel(variable)));
        }
        if let Some((media_type, _)) = self.body {
            headers.push(format!("'Content-Type': '{media_type}'"));
        }
        if !headers.is_empty() {
            options.push(format!("  headers: {{ {} }},", headers.join(", ")));
        }
        if let Some(json) = self.json() {
            options.push(format!("  body: JSON.stringify({}),", indented_by(&json, "  ")));
        } else if self.file().is_some() {
            options.push("  body: file,".to_owned());
        }
        let address = format!("'{}{}'", self.base, self.address());
        let call = if options.is_empty() { address } else { format!("{address}, {{\n{}\n}}", options.join("\n")) };
        let read = if self.answers_json() { "json" } else { "text" };
        format!(
            "const answer = await fetch({call});\nif (!answer.ok) throw new Error(await answer.text());\nconsole.log(await answer.{read}());"
        )
    }

    /// Whether a success has a JSON body, judged by the method and the path: deletions have none, and feeds and exports
    /// are text.
    fn answers_json(&self) -> bool {
        !self.path.ends_with(".ics") && !self.path.starts_with("/ical/") && self.method != "DELETE"
    }
}

/// An identifier in snake case.
pub(crate) fn snake(id: &str) -> String {
    id.chars().fold(String::new(), |mut name, letter| {
        if letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
        name
    })
}

/// A shell variable's name in camel case.
fn camel(variable: &str) -> String {
    let mut words = variable.split('_').map(str::to_ascii_lowercase);
    let first = words.next().unwrap_or_default();
    words.fold(first, |name, word| {
        let (head, rest) = word.split_at(1);
        format!("{name}{}{rest}", head.to_ascii_uppercase())
    })
}

/// Encodes a value of a query, but only the characters that have a meaning there.
fn encoded(value: &str) -> String {
    let encode = |char: char| match char {
        '%' => "%25".to_owned(),
        '+' => "%2B".to_owned(),
        '&' => "%26".to_owned(),
        '#' => "%23".to_owned(),
        ' ' => "%20".to_owned(),
        other => other.to_string(),
    };
    value.chars().map(encode).collect()
}

/// JSON as a Python literal.
fn python_literal(value: &Value, depth: usize) -> String {
    let indent = "    ".repeat(depth + 1);
    let end = "    ".repeat(depth);
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Array(parts) if !parts.is_empty() => {
            let parts: String =
                parts.iter().map(|part| format!("{indent}{},\n", python_literal(part, depth + 1))).collect();
            format!("[\n{parts}{end}]")
        }
        Value::Object(parts) if !parts.is_empty() => {
            let part = |(name, part): (&String, &Value)| {
                format!("{indent}{}: {},\n", Value::from(name.as_str()), python_literal(part, depth + 1))
            };
            format!("{{\n{}{end}}}", parts.iter().map(part).collect::<String>())
        }
        other => other.to_string(),
    }
}

fn indented(code: &str) -> String {
    indented_by(code, "    ")
}

/// The code with all lines but the first moved to the right.
fn indented_by(code: &str, by: &str) -> String {
    code.replace('\n', &format!("\n{by}"))
}
