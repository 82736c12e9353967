//! Random histories of bookings and holds, checked against a plain model.

use kalends_testkit::histories::{Stores, check, count};

#[test]
fn histories_are_as_the_model_says() {
    check(count(20), Stores::OneForAll, crate::server::empty_store);
}
