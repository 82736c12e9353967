//! Fuzzes times, dates and zones. The properties are in [`kalends_fuzz_checks::time`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| kalends_fuzz_checks::time::check(input));
