//! Fuzzes the reader of feeds; what must hold is [`kalends_fuzz_checks::feed`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| kalends_fuzz_checks::feed::check(input));
