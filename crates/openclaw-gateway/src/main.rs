//! The `openclaw-gateway` binary.
fn main() {}
