//! Fuzzes recurrence rules from typed values. The properties are in [`kalends_fuzz_checks::built`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| kalends_fuzz_checks::built::check(input));
