//! Fuzzes sets of rules, dates, exceptions and overrides. The properties are in [`kalends_fuzz_checks::set`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| kalends_fuzz_checks::set::check(input));
