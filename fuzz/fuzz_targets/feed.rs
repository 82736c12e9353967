//! Fuzzes the parser of feeds. The properties are in [`kalends_fuzz_checks::feed`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| kalends_fuzz_checks::feed::check(input));
