//! Events that a client wrote through Microsoft's API. Only what the real one accepts is accepted.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDateTime, NaiveTime, Utc};
use serde_json::{Map, Value, json};

use crate::authorization::Parameters;

/// The fields that a client may write, beside the extended properties.
const FIELDS: [&str; 11] = [
    "subject",
    "body",
    "location",
    "start",
    "end",
    "isAllDay",
    "showAs",
    "isReminderOn",
    "responseRequested",
    "transactionId",
    "singleValueExtendedProperties",
];
const SHOWN_AS: [&str; 6] = ["free", "tentative", "busy", "oof", "workingElsewhere", "unknown"];
/// The longest subject and the longest value of a property.
const TEXT_MAX: usize = 255;

/// An event in a calendar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) id: String,
    /// Changes with every write.
    pub(super) change: u32,
    pub(super) transaction: Option<String>,
    pub(super) subject: String,
    pub(super) body: String,
    pub(super) location: String,
    pub(super) start: NaiveDateTime,
    pub(super) end: NaiveDateTime,
    pub(super) zone: String,
    pub(super) all_day: bool,
    pub(super) show_as: String,
    pub(super) reminder: bool,
    pub(super) properties: BTreeMap<String, String>,
}

/// The code of the error with which a write is refused.
pub(super) type Refused = &'static str;

fn text<'a>(object: &'a Value, name: &str) -> Result<&'a str, Refused> {
    object[name].as_str().ok_or("ErrorInvalidPropertyType")
}

/// An object with exactly these fields.
fn exactly<'a>(value: &'a Value, names: &[&str]) -> Result<&'a Value, Refused> {
    let object = value.as_object().ok_or("ErrorInvalidPropertyType")?;
    let same = object.len() == names.len() && names.iter().all(|name| object.contains_key(*name));
    same.then_some(value).ok_or("RequestBodyRead")
}

fn time(value: &Value) -> Result<(NaiveDateTime, String), Refused> {
    let value = exactly(value, &["dateTime", "timeZone"])?;
    let at = NaiveDateTime::parse_from_str(text(value, "dateTime")?, "%Y-%m-%dT%H:%M:%S%.f");
    let zone = text(value, "timeZone")?;
    let area = zone.split_once('/').is_some_and(|(area, city)| !area.is_empty() && !city.is_empty());
    if zone != "UTC" && !area {
        return Err("TimeZoneNotSupportedException");
    }
    Ok((at.map_err(|_| "ErrorInvalidPropertyType")?, zone.to_owned()))
}

impl Written {
    /// A new event of these fields.
    pub(super) fn new(id: String, fields: &Value) -> Result<Self, Refused> {
        let mut event = Self {
            id,
            change: 0,
            transaction: None,
            subject: String::new(),
            body: String::new(),
            location: String::new(),
            start: NaiveDateTime::default(),
            end: NaiveDateTime::default(),
            zone: "UTC".to_owned(),
            all_day: false,
            show_as: "busy".to_owned(),
            reminder: true,
            properties: BTreeMap::new(),
        };
        for required in ["subject", "start", "end"] {
            fields.get(required).ok_or("ErrorPropertyValidationFailure")?;
        }
        if let Some(transaction) = fields.get("transactionId") {
            event.transaction = Some(transaction.as_str().ok_or("ErrorInvalidPropertyType")?.to_owned());
        }
        event.write(fields)?;
        Ok(event)
    }

    /// A change of an event.
    pub(super) fn changed(&self, fields: &Value) -> Result<Self, Refused> {
        if fields.get("transactionId").is_some() {
            return Err("ErrorInvalidPropertySet");
        }
        let mut event = self.clone();
        event.write(fields)?;
        Ok(event)
    }

    fn write(&mut self, fields: &Value) -> Result<(), Refused> {
        let flag = |value: &Value| value.as_bool().ok_or("ErrorInvalidPropertyType");
        let object = fields.as_object().ok_or("RequestBodyRead")?;
        let mut zones = Vec::new();
        for (name, value) in object {
            if !FIELDS.contains(&name.as_str()) {
                return Err("RequestBodyRead");
            }
            match name.as_str() {
                "subject" => text(fields, "subject")?.clone_into(&mut self.subject),
                "body" => {
                    let body = exactly(value, &["contentType", "content"])?;
                    if text(body, "contentType")? != "text" {
                        return Err("RequestBodyRead");
                    }
                    text(body, "content")?.clone_into(&mut self.body);
                }
                "location" => {
                    text(exactly(value, &["displayName"])?, "displayName")?.clone_into(&mut self.location);
                }
                "start" | "end" => {
                    let (at, zone) = time(value)?;
                    *(if name == "start" { &mut self.start } else { &mut self.end }) = at;
                    zones.push(zone);
                }
                "isAllDay" => self.all_day = flag(value)?,
                "isReminderOn" => self.reminder = flag(value)?,
                "responseRequested" => {
                    flag(value)?;
                }
                "showAs" => {
                    let shown = value.as_str().filter(|shown| SHOWN_AS.contains(shown)).ok_or("RequestBodyRead")?;
                    shown.clone_into(&mut self.show_as);
                }
                "singleValueExtendedProperties" => {
                    for property in value.as_array().ok_or("RequestBodyRead")? {
                        let property = exactly(property, &["id", "value"])?;
                        let (id, value) = (text(property, "id")?, text(property, "value")?);
                        let named = id.starts_with("String {") && id.get(44..52) == Some("} Name K");
                        if !named || value.chars().count() > TEXT_MAX {
                            return Err("ErrorInvalidExtendedProperty");
                        }
                        self.properties.insert(id.to_owned(), value.to_owned());
                    }
                }
                _ => {}
            }
        }
        if zones.len() == 1 || zones.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err("ErrorOccurrenceTimeSpanTooBig");
        }
        if let Some(zone) = zones.pop() {
            self.zone = zone;
        }
        let midnights = self.start.time() == NaiveTime::MIN && self.end.time() == NaiveTime::MIN;
        if self.start > self.end || (self.all_day && (!midnights || self.start == self.end)) {
            return Err("ErrorPropertyValidationFailure");
        }
        // The service writes other times in UTC.
        if (!self.all_day && self.zone != "UTC") || self.subject.chars().count() > TEXT_MAX {
            return Err("ErrorPropertyValidationFailure");
        }
        self.change += 1;
        Ok(())
    }

    /// The version.
    pub(super) fn etag(&self) -> String {
        format!("W/\"{}+{}==\"", self.id, self.change)
    }

    /// Whether it is within a window, as the API sees whole days: from midnight to midnight in UTC.
    pub(super) fn is_within(&self, from: DateTime<Utc>, to: DateTime<Utc>) -> bool {
        self.start.and_utc() < to && from < self.end.and_utc()
    }

    /// The event with the selected fields, and with the expanded property.
    pub(super) fn shown(&self, selected: &str, expanded: Option<&str>) -> Value {
        let time = |at: NaiveDateTime| {
            let text = at.format("%Y-%m-%dT%H:%M:%S%.6f0").to_string();
            json!({ "dateTime": text, "timeZone": "UTC" })
        };
        let whole = json!({
            "subject": self.subject,
            "body": { "contentType": "text", "content": self.body },
            "location": { "displayName": self.location },
            "start": time(self.start),
            "end": time(self.end),
            "originalStartTimeZone": self.zone,
            "originalEndTimeZone": self.zone,
            "isAllDay": self.all_day,
            "isCancelled": false,
            "isReminderOn": self.reminder,
            "showAs": self.show_as,
            "transactionId": self.transaction,
        });
        let mut shown = Map::new();
        shown.insert("@odata.etag".to_owned(), self.etag().into());
        shown.insert("id".to_owned(), self.id.clone().into());
        let Value::Object(whole) = whole else { return Value::Object(shown) };
        let selected: Vec<&str> = selected.split(',').collect();
        shown.extend(whole.into_iter().filter(|(name, _)| selected == [""] || selected.contains(&name.as_str())));
        if let Some((id, value)) = expanded.and_then(|id| self.properties.get_key_value(id)) {
            // The real one writes the namespace in lower case.
            let id =
                id.split_once("} ").map_or(id.clone(), |(space, name)| format!("{}}} {name}", space.to_lowercase()));
            let id = id.replacen("string", "String", 1);
            shown.insert("singleValueExtendedProperties".to_owned(), json!([{ "id": id, "value": value }]));
        }
        Value::Object(shown)
    }
}

/// The identifier of the property in `$expand`.
pub(super) fn expanded(query: &Parameters) -> Result<Option<String>, &'static str> {
    let Some(text) = query.get("$expand") else { return Ok(None) };
    let inner = text.strip_prefix("singleValueExtendedProperties($filter=id eq '");
    let id = inner.and_then(|inner| inner.strip_suffix("')")).filter(|id| !id.contains('\''));
    id.map(|id| Some(id.to_owned())).ok_or("BadRequest")
}
