//! Fuzzes the lenient reader of recurrence rules. The properties are in [`kalends_fuzz_checks::lenient`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| kalends_fuzz_checks::lenient::check(input));
