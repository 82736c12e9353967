//! Tokens, the pieces in which language models read text.

/// The encoding that counts them. Its vocabulary is part of this program.
pub(crate) const ENCODING: &str = "o200k_base";

/// The number of tokens of a text.
pub(crate) fn number(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().count_ordinary(text)
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn words_are_few_tokens_and_identifiers_are_many() {
        assert_eq!((number(""), number("hello world")), (0, 2));
        assert!(number("evt_01jn8r6v9ke0bt3m5qz2c7xwdh") > 10);
    }
}
