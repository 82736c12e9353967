//! Fuzzes the algebra of busy times, slots and rules. The properties are in [`kalends_fuzz_checks::algebra`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| kalends_fuzz_checks::algebra::check(input));
