//! Property tests of verdicts.

use proptest::prelude::*;

use super::{BILLING, NOW, reason, said, under};
use crate::{Failure, Header, Reason, classify};

proptest! {
    #[test]
    fn c_1_4_any_bytes_have_a_verdict(
        body in proptest::collection::vec(any::<u8>(), 0..400),
        message in ".{0,200}",
        code in proptest::option::of(".{0,20}"),
        status in proptest::option::of(any::<u16>()),
        header in ".{0,30}",
    ) {
        let failure = Failure {
            status,
            code,
            message: Some(message),
            body: Some(body),
            headers: vec![Header { name: "retry-after".to_owned(), value: header }],
            ..Failure::default()
        };
        prop_assert_eq!(classify(&failure, NOW), classify(&failure, NOW));
    }

    #[test]
    fn c_1_4_structured_noise_has_a_verdict(text in r#"[{}\[\]"':,\\a-z0-9 ]{0,300}"#) {
        let _ = classify(&said(&text), NOW);
    }

    #[test]
    fn bl_03_billing_texts_are_recognised_anywhere(text in 0usize..BILLING.len(), status in 400u16..600, before in "[a-z]{0,10}[.:]? ?") {
        let message = format!("{before}{}", BILLING[text]);
        prop_assume!(before.is_empty() || before.ends_with([' ', ':', '.']));
        prop_assume!(!before.starts_with("no"));
        prop_assert_eq!(reason(&under(status, &message)), Reason::Billing);
    }
}
