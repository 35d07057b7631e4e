//! What people read: the help and the configuration.

#[test]
fn the_guide_is_as_reviewed() {
    insta::assert_snapshot!("help", faultwall::help());
    insta::assert_snapshot!("config", faultwall::config("127.0.0.1:4100".parse().unwrap()));
}
