//! The Rust examples of the reference at `/docs`. A test of `kalends-http` writes them. What is tested here is that
//! they compile.
#![expect(dead_code, unused_variables, reason = "the examples call no server here")]

use kalends_client::{Client, wire};
use serde_json::json;

include!("reference/samples.in");
