//! Fuzzes recurrence rules. The properties are in [`kalends_fuzz_checks::rule`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| kalends_fuzz_checks::rule::check(input));
