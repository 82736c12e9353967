//! What is wrong with a form of the console.

/// What is wrong with a form that had no effect. A problem of a field is shown beside it, any other one above the form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Problems {
    /// The names of fields, each with its problem as a sentence.
    fields: Vec<(String, String)>,
    general: Option<String>,
}

/// Nothing is wrong.
pub static NO_PROBLEMS: Problems = Problems { fields: Vec::new(), general: None };

impl Problems {
    /// A problem of the form as a whole, as a sentence.
    pub const fn general(problem: String) -> Self {
        Self { fields: Vec::new(), general: Some(problem) }
    }

    /// Adds a problem of a field, as a sentence. It is shown above the form if the form has no such field: `known` are the
    /// names of its fields.
    pub fn add(&mut self, known: &[&str], field: &str, problem: &str) {
        if known.contains(&field) {
            self.fields.push((field.to_owned(), problem.to_owned()));
        } else {
            let text = self.general.get_or_insert_default();
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(problem);
        }
    }

    /// Whether nothing is wrong.
    pub const fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.general.is_none()
    }

    /// The first problem of the field.
    pub(crate) fn of(&self, field: &str) -> Option<&str> {
        self.fields.iter().find(|(name, _)| name == field).map(|(_, problem)| problem.as_str())
    }

    /// The first field with a problem.
    pub(crate) fn first(&self) -> Option<&str> {
        self.fields.first().map(|(name, _)| name.as_str())
    }

    /// What is said above the form.
    pub fn above(&self) -> Option<&str> {
        self.general.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_problem_is_shown_once() {
        let mut problems = Problems::default();
        assert!(problems.is_empty());
        problems.add(&["name"], "name", "Must not be blank.");
        problems.add(&["name"], "metadata", "Must be an object.");
        problems.add(&["name"], "metadata.a", "Must be text.");
        assert_eq!(problems.of("name"), Some("Must not be blank."));
        assert_eq!(problems.of("metadata"), None);
        assert_eq!(problems.above(), Some("Must be an object. Must be text."));
    }
}
