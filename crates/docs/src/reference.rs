//! The reference of the API, read from its OpenAPI description.

pub(crate) mod parts;
mod schema;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub(crate) use self::parts::{Access, Answer, Field, Object, Shape, entries, pretty};
pub(crate) use self::schema::OBJECTS;
use self::schema::Schemas;
use crate::{markdown, samples, site::ROOT};

/// The first segment of the paths of its pages.
pub(crate) const FOLDER: &str = "reference";

/// The order of the operations of one path.
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// The whole reference.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) groups: Vec<Group>,
    pub(crate) objects: Vec<Object>,
    /// The software's version.
    pub(crate) version: String,
}

/// The operations with one tag.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) path: String,
    /// One sentence, as HTML.
    pub(crate) about: String,
    pub(crate) operations: Vec<Operation>,
    /// Whether each operation has a page of its own.
    pub(crate) is_split: bool,
}

/// An operation.
#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) id: String,
    pub(crate) method: String,
    pub(crate) path: String,
    /// What it does, in a few words.
    pub(crate) title: String,
    /// The rest of its description, as HTML.
    pub(crate) about: String,
    /// The same as plain text, for the search.
    pub(crate) words: String,
    pub(crate) access: Access,
    pub(crate) parameters: Vec<Field>,
    pub(crate) body: Option<Shape>,
    pub(crate) answers: Vec<Answer>,
    pub(crate) errors: Vec<Answer>,
    pub(crate) samples: Vec<samples::Sample>,
    /// The status and the text of the example's answer.
    pub(crate) answered: Option<(String, String)>,
}

impl Reference {
    /// Splits the groups that are too long: each of their operations gets a page of its own.
    pub(crate) fn split(&mut self, is_too_long: impl Fn(&Group) -> bool) {
        for group in &mut self.groups {
            group.is_split = is_too_long(group);
        }
    }

    /// Reads the description.
    pub(crate) fn of(description: &Value) -> Self {
        let schemas = Schemas::new(&description["components"]["schemas"]);
        let base = description["servers"][0]["url"].as_str().unwrap_or_default();
        let values = samples::Values::of(description);
        let mut by_tag: BTreeMap<&str, Vec<Operation>> = BTreeMap::new();
        for (path, methods) in entries(&description["paths"]) {
            for (method, described) in entries(methods) {
                let Some(id) = described["operationId"].as_str() else { continue };
                let tag = described["tags"][0].as_str().unwrap_or("Service");
                let reading = Reading { description, schemas: &schemas, values: &values, base };
                by_tag.entry(tag).or_default().push(reading.operation(id, method, path, described));
            }
        }
        let tags = description["tags"].as_array().into_iter().flatten();
        let groups = tags.filter_map(|tag| {
            let name = tag["name"].as_str()?;
            let operations = by_tag.remove(name)?;
            let path = format!("{FOLDER}/{}", slug(name));
            let about = markdown::line(tag["description"].as_str().unwrap_or_default());
            Some(Group { name: name.to_owned(), path, about, operations, is_split: false })
        });
        let mut groups: Vec<Group> = groups.collect();
        for group in &mut groups {
            group.operations.sort_by_key(|operation| {
                (operation.path.clone(), METHODS.iter().position(|method| *method == operation.method))
            });
        }
        let version = description["info"]["x-kalends-version"].as_str().unwrap_or_default().to_owned();
        Self { groups, objects: schemas.objects(), version }
    }
}

impl Group {
    /// The address of an operation.
    pub(crate) fn address(&self, operation: &Operation) -> String {
        let separator = if self.is_split { '/' } else { '#' };
        format!("{ROOT}{}{separator}{}", self.path, operation.id)
    }
}

/// What is needed to read an operation.
struct Reading<'a> {
    description: &'a Value,
    schemas: &'a Schemas<'a>,
    values: &'a samples::Values,
    base: &'a str,
}

impl Reading<'_> {
    fn operation(&self, id: &str, method: &str, path: &str, described: &Value) -> Operation {
        let text = |name: &str| described[name].as_str().unwrap_or_default();
        let access = access(&described["security"]);
        let content = described["requestBody"]["content"].as_object();
        // Programs send the first type, forms of pages the other.
        let body =
            content.and_then(|content| content.get_key_value("application/json").or_else(|| content.iter().next()));
        let (mut answers, mut errors) = (Vec::new(), Vec::new());
        let mut answered = None;
        for (status, response) in entries(&described["responses"]) {
            let response = self.resolved(response);
            let media = entries(&response["content"]).next();
            let kind = media.map_or_else(String::new, |(media_type, media)| match media_type.as_str() {
                "application/json" => self.schemas.kind(&media["schema"]),
                other => format!("<code>{other}</code>"),
            });
            let about = markdown::line(response["description"].as_str().unwrap_or_default());
            let is_error = status.starts_with(['4', '5']);
            if let Some((_, media)) = media.filter(|_| !is_error && answered.is_none()) {
                answered = media.get("example").map(|example| (status.clone(), pretty(example)));
            }
            let kind = if is_error { String::new() } else { kind };
            let answer = Answer { status: status.clone(), about, kind };
            if is_error { &mut errors } else { &mut answers }.push(answer);
        }
        let call = samples::Call {
            id,
            method: &method.to_ascii_uppercase(),
            path,
            parameters: &described["parameters"],
            body: body.map(|(media_type, media)| (media_type.as_str(), &media["example"])),
            body_type: body.and_then(|(_, media)| schema::name_of(&media["schema"])),
            access,
            base: self.base,
            values: self.values,
        };
        Operation {
            id: id.to_owned(),
            method: method.to_ascii_uppercase(),
            path: path.to_owned(),
            title: text("summary").trim_end_matches('.').to_owned(),
            about: markdown::text(text("description")),
            words: format!("{} {}", text("summary"), text("description")),
            access,
            parameters: described["parameters"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|one| self.parameter(one))
                .collect(),
            body: body.map(|(media_type, media)| Shape {
                media_type: media_type.clone(),
                ..self.schemas.shape(&media["schema"])
            }),
            answers,
            errors,
            samples: call.samples(),
            answered,
        }
    }

    fn parameter(&self, parameter: &Value) -> Field {
        let text = |name: &str| parameter[name].as_str().unwrap_or_default();
        let about = self.schemas.about(&parameter["schema"], text("description"));
        Field {
            name: text("name").to_owned(),
            kind: self.schemas.kind(&parameter["schema"]),
            place: text("in").to_owned(),
            is_required: parameter["required"] == true,
            about,
        }
    }

    /// The response itself, or the one of the catalogue that it refers to.
    fn resolved<'b>(&'b self, response: &'b Value) -> &'b Value {
        let pointer = response["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        pointer.and_then(|pointer| self.description.pointer(pointer)).unwrap_or(response)
    }
}

fn access(security: &Value) -> Access {
    let schemes: BTreeSet<&str> =
        security.as_array().into_iter().flatten().flat_map(entries).map(|(name, _)| name.as_str()).collect();
    if schemes.contains("adminToken") {
        Access::Operator
    } else if schemes.contains("session") {
        Access::Session
    } else if schemes.contains("apiKey") {
        Access::Key
    } else {
        Access::Anyone
    }
}

/// A name as a segment of a path.
fn slug(name: &str) -> String {
    name.to_lowercase().replace(' ', "-")
}
