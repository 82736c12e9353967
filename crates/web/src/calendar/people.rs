//! The attendees of an event, as the lines of a form.

use std::fmt;

/// Ends the line of somebody who does not have to be there.
const OPTIONAL: &str = "(optional)";

/// An attendee as a line of a form names them: `Ada Lovelace <ada@example.com>` or an address, with `(optional)` at the
/// end if they do not have to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttendeeLine<'a> {
    /// The name, if the line has one.
    pub name: Option<&'a str>,
    /// The address. It is not checked.
    pub email: &'a str,
    /// Whether they do not have to be there.
    pub is_optional: bool,
}

impl<'a> AttendeeLine<'a> {
    /// The attendees of the lines that are not blank.
    pub fn read_all(text: &'a str) -> impl Iterator<Item = Self> {
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(Self::read)
    }

    fn read(line: &'a str) -> Self {
        let marked = line.len().checked_sub(OPTIONAL.len()).and_then(|at| line.split_at_checked(at));
        let marked = marked.filter(|(_, end)| end.eq_ignore_ascii_case(OPTIONAL));
        let (who, is_optional) = marked.map_or((line, false), |(who, _)| (who.trim_end(), true));
        // An address has no such bracket, so the last one begins it, whatever the name is.
        match who.strip_suffix('>').and_then(|who| who.rsplit_once('<')) {
            Some((name, email)) => {
                let name = Some(name.trim()).filter(|name| !name.is_empty());
                Self { name, email: email.trim(), is_optional }
            }
            None => Self { name: None, email: who, is_optional },
        }
    }
}

impl fmt::Display for AttendeeLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            Some(name) => write!(f, "{name} <{}>", self.email)?,
            None => f.write_str(self.email)?,
        }
        if self.is_optional { write!(f, " {OPTIONAL}") } else { Ok(()) }
    }
}

/// An attendee of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttendeeShown {
    /// The name, if it is known.
    pub name: Option<String>,
    /// The address.
    pub email: String,
    /// Whether the attendee does not have to be there.
    pub is_optional: bool,
    /// The identifier of the agent that the attendee is, or that acts for the attendee.
    pub agent: Option<String>,
    /// The reply, in words.
    pub reply: &'static str,
}

impl AttendeeShown {
    /// The attendee as a line of a form.
    pub fn line(&self) -> AttendeeLine<'_> {
        AttendeeLine { name: self.name.as_deref(), email: &self.email, is_optional: self.is_optional }
    }

    /// Who it is: the name, or else the address.
    pub(crate) fn who(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.email)
    }
}

#[cfg(test)]
mod tests {
    use kalends_time::testing::config;
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn read(text: &str) -> Vec<AttendeeLine<'_>> {
        AttendeeLine::read_all(text).collect()
    }

    #[rstest]
    #[case("Ada Lovelace <ada@example.com>", Some("Ada Lovelace"), "ada@example.com", false)]
    #[case("  Ada<ada@example.com>  (Optional) ", Some("Ada"), "ada@example.com", true)]
    #[case("ada@example.com", None, "ada@example.com", false)]
    #[case("ada@example.com (optional)", None, "ada@example.com", true)]
    #[case("<ada@example.com>", None, "ada@example.com", false)]
    #[case("Ada <x> (optional) <ada@example.com>", Some("Ada <x> (optional)"), "ada@example.com", false)]
    #[case("Ada ada@example.com", None, "Ada ada@example.com", false)]
    #[case("Ada <ada@example.com", None, "Ada <ada@example.com", false)]
    #[case("(optional)", None, "", true)]
    #[case("日本語", None, "日本語", false)]
    fn a_line_names_an_attendee(
        #[case] line: &str,
        #[case] name: Option<&str>,
        #[case] email: &str,
        #[case] is_optional: bool,
    ) {
        assert_eq!(read(line), [AttendeeLine { name, email, is_optional }]);
    }

    #[test]
    fn blank_lines_name_nobody() {
        assert_eq!(read(" \n\n").len(), 0);
        let emails: Vec<&str> = read("\na@x.example\r\n \nb@x.example").iter().map(|line| line.email).collect();
        assert_eq!(emails, ["a@x.example", "b@x.example"]);
    }

    proptest! {
        #![proptest_config(config(256))]

        /// What a form shows of attendees is read as the same attendees.
        #[test]
        fn attendees_are_read_as_they_are_shown(
            people in prop::collection::vec(
                (prop::option::of("[a-z<>() @]{1,20}|\\PC{1,20}"), "[a-z+.]{1,9}@[a-z]{1,9}\\.example", any::<bool>()),
                0..5,
            ),
        ) {
            let shown: Vec<AttendeeLine<'_>> = people
                .iter()
                .map(|(name, email, is_optional)| {
                    let name = name.as_deref().map(str::trim).filter(|name| !name.is_empty());
                    AttendeeLine { name, email, is_optional: *is_optional }
                })
                .collect();
            let text: Vec<String> = shown.iter().map(ToString::to_string).collect();
            let text = text.join("\n");
            prop_assert_eq!(read(&text), shown);
        }
    }
}
