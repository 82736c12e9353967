//! Content lines (RFC 5545 section 3.1), folded and escaped.

/// The maximum number of octets of a line, without the line break.
const LINE_MAX: usize = 75;

/// Content lines, one after the other.
#[derive(Debug, Default)]
pub(super) struct Lines {
    text: String,
    /// The line that is being written, before folding.
    line: String,
}

impl Lines {
    pub(super) const fn len(&self) -> usize {
        self.text.len()
    }

    /// Appends lines that were written before.
    pub(super) fn append(&mut self, lines: &str) {
        self.text.push_str(lines);
    }

    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// Writes a line whose value needs no escaping, because this crate made it. `name` includes the parameters.
    pub(super) fn put(&mut self, name: &str, value: &str) {
        self.line.clear();
        self.line.push_str(name);
        self.line.push(':');
        self.line.push_str(value);
        self.fold();
    }

    /// Writes a line with a text value, escaped.
    pub(super) fn text(&mut self, name: &str, value: &str) {
        self.line.clear();
        self.line.push_str(name);
        self.line.push(':');
        escape(value, &mut self.line);
        self.fold();
    }

    /// Folds the line between characters.
    fn fold(&mut self) {
        let mut rest = self.line.as_str();
        let mut room = LINE_MAX;
        while rest.len() > room {
            let (line, others) = rest.split_at(rest.floor_char_boundary(room));
            self.text.push_str(line);
            self.text.push_str("\r\n ");
            rest = others;
            // The leading space counts as one of the octets.
            room = LINE_MAX - 1;
        }
        self.text.push_str(rest);
        self.text.push_str("\r\n");
    }
}

/// Writes `text` as a value of the type TEXT (section 3.3.11). Every kind of line break is written as `\n`. Tabs stay.
/// Other control characters are left out, because a line must not contain them.
fn escape(text: &str, to: &mut String) {
    if text.bytes().all(is_literal) {
        to.push_str(text);
        return;
    }
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            // The line feed that follows is written instead.
            '\r' if characters.peek() == Some(&'\n') => {}
            '\r' | '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => to.push_str("\\n"),
            '\\' | ';' | ',' => to.extend(['\\', character]),
            '\t' => to.push('\t'),
            other if other.is_control() => {}
            other => to.push(other),
        }
    }
}

const fn is_literal(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'\\' | b';' | b',')
}
