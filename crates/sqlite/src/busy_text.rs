//! Busy spans as text, in which a statement can search and which it can append to.

use kalends_time::Span;

/// How many hexadecimal digits a busy span takes.
pub(crate) const BUSY_DIGITS: usize = 32;

/// A busy span as stored: 32 hexadecimal digits.
pub(crate) fn busy_text(span: Span) -> String {
    format!("{:032x}", u128::from_be_bytes(span.into()))
}

/// The spans of such texts, one after the other; `None` if the texts are not spans.
pub(crate) fn busy_spans(texts: &[u8]) -> Option<Vec<Span>> {
    let (digits, rest) = texts.as_chunks::<BUSY_DIGITS>();
    if !rest.is_empty() {
        return None;
    }
    let mut spans = Vec::with_capacity(digits.len());
    for digits in digits {
        spans.push(Span::try_from(bytes(digits)?).ok()?);
    }
    Some(spans)
}

/// The bytes of 32 hexadecimal digits.
fn bytes(digits: &[u8; BUSY_DIGITS]) -> Option<[u8; 16]> {
    let (pairs, _) = digits.as_chunks::<2>();
    let mut bytes = [0; 16];
    let mut valid = true;
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        let (high, low) = (HEX[usize::from(*high)], HEX[usize::from(*low)]);
        valid &= high | low < 16;
        *byte = high << 4 | (low & 15);
    }
    valid.then_some(bytes)
}

/// The value of each lower-case hexadecimal digit; 255 for every other byte.
const HEX: [u8; 256] = {
    let mut values = [255; 256];
    let mut value = 0;
    while value < 16 {
        values[b"0123456789abcdef"[value as usize] as usize] = value;
        value += 1;
    }
    values
};

#[cfg(test)]
mod tests {
    use kalends_time::Timestamp;

    use super::*;

    fn span(start: i64, end: i64) -> Span {
        Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end)).unwrap()
    }

    #[test]
    fn busy_spans_are_read_as_written() {
        let spans = [span(0, 1), span(1_772_323_200_000_001, 4_102_444_800_000_000), span(i64::MIN, i64::MAX)];
        let texts: String = spans.iter().map(|span| busy_text(*span)).collect();
        assert_eq!(busy_spans(texts.as_bytes()), Some(spans.to_vec()));
        assert_eq!(busy_spans(b""), Some(Vec::new()));
        let one = busy_text(span(3, 5));
        for broken in [&one[1..], &one.replace('3', "g"), &one.to_uppercase().replace('0', "é"), &"0".repeat(32)] {
            assert_eq!(busy_spans(broken.as_bytes()), None, "{broken}");
        }
    }
}
