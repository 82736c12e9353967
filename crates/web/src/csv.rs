//! Files with comma-separated values (RFC 4180), for spreadsheets.

/// Appends a row. Its cells hold third-party text, so a cell that a spreadsheet would run as a formula gets a leading
/// apostrophe.
pub fn csv_row(text: &mut String, cells: &[&str]) {
    for (index, cell) in cells.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        let apostrophe = if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
        if cell.contains(['"', ',', '\r', '\n']) {
            text.push('"');
            text.push_str(apostrophe);
            text.push_str(&cell.replace('"', "\"\""));
            text.push('"');
        } else {
            text.push_str(apostrophe);
            text.push_str(cell);
        }
    }
    text.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain(&["a", "b"], "a,b\r\n")]
    #[case::empty(&["", ""], ",\r\n")]
    #[case::quoted(&["a,b", "say \"x\"", "two\nlines"], "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\r\n")]
    #[case::formula(&["=1+1", "+1", "-1", "@x", "\tx"], "'=1+1,'+1,'-1,'@x,'\tx\r\n")]
    #[case::quoted_formula(&["=HYPERLINK(\"x\",1)", "\rx"], "\"'=HYPERLINK(\"\"x\"\",1)\",\"'\rx\"\r\n")]
    fn rows_are_written(#[case] cells: &[&str], #[case] expected: &str) {
        let mut text = String::new();
        csv_row(&mut text, cells);
        assert_eq!(text, expected);
    }

    /// The rows of a file, read as RFC 4180 says.
    fn read(text: &str) -> Vec<Vec<String>> {
        let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
        let (mut quoted, mut letters) = (false, text.chars().peekable());
        while let Some(letter) = letters.next() {
            match letter {
                '"' if quoted && letters.next_if_eq(&'"').is_some() => cell.push('"'),
                '"' => quoted = !quoted,
                ',' if !quoted => row.push(std::mem::take(&mut cell)),
                '\r' if !quoted && letters.next_if_eq(&'\n').is_some() => {
                    row.push(std::mem::take(&mut cell));
                    rows.push(std::mem::take(&mut row));
                }
                letter => cell.push(letter),
            }
        }
        assert!(!quoted && cell.is_empty() && row.is_empty(), "the last row ends");
        rows
    }

    proptest! {
        /// Every row is read back from its text, with an apostrophe before what would be a formula.
        #[test]
        fn rows_are_read_back(rows in vec(vec("[=+@\"',;a\r\n\t -]{0,8}", 1..5), 0..5)) {
            let mut text = String::new();
            for row in &rows {
                csv_row(&mut text, &row.iter().map(String::as_str).collect::<Vec<_>>());
            }
            let safe = |cell: &String| {
                let runs = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
                if runs { format!("'{cell}") } else { cell.clone() }
            };
            let expected: Vec<Vec<_>> = rows.iter().map(|row| row.iter().map(safe).collect()).collect();
            prop_assert_eq!(read(&text), expected);
        }
    }
}
