//! How the console writes numbers.

/// The number with commas between groups of three digits, such as `1,000,000`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The number with the word for what it counts, in the singular or the plural, such as `1 minute`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A number of bytes in its largest unit, such as `12.3 MB`, rounded down.
pub(crate) fn size_text(bytes: u64) -> String {
    let larger = [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    match larger.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{}.{} {name}", grouped(bytes / unit), bytes % unit / (unit / 10)),
        None => counted(bytes, "byte", "bytes"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(0, "0")]
    #[case(999, "999")]
    #[case(1_000, "1,000")]
    #[case(12_345, "12,345")]
    #[case(1_000_000, "1,000,000")]
    #[case(u64::MAX, "18,446,744,073,709,551,615")]
    fn digits_are_grouped(#[case] number: u64, #[case] text: &str) {
        assert_eq!(grouped(number), text);
    }

    #[rstest]
    #[case(0, "0 days")]
    #[case(1, "1 day")]
    #[case(1_001, "1,001 days")]
    fn one_thing_is_in_the_singular(#[case] number: u64, #[case] text: &str) {
        assert_eq!(counted(number, "day", "days"), text);
    }

    #[rstest]
    #[case(0, "0 bytes")]
    #[case(1, "1 byte")]
    #[case(999, "999 bytes")]
    #[case(1_000, "1.0 kB")]
    #[case(999_999, "999.9 kB")]
    #[case(12_345_678, "12.3 MB")]
    #[case(2_000_000_000, "2.0 GB")]
    #[case(u64::MAX, "18,446,744.0 TB")]
    fn sizes_have_a_unit(#[case] bytes: u64, #[case] text: &str) {
        assert_eq!(size_text(bytes), text);
    }
}
