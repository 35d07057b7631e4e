//! The table of families and what belongs to them.

use super::*;

#[test]
fn each_family_has_one_row_and_no_name_is_there_twice() {
    let ids = FAMILIES.iter().flat_map(|row| row.ids);
    let hosts = FAMILIES.iter().flat_map(|row| row.hosts);
    let mut seen = std::collections::HashSet::new();
    for name in ids {
        assert!(seen.insert(*name), "{name}");
        assert_eq!(*name, name.trim().to_lowercase());
    }
    seen.clear();
    for name in hosts {
        assert!(seen.insert(*name), "{name}");
        assert!(name.contains('.') && *name == name.to_lowercase());
    }
    for (position, row) in FAMILIES.iter().enumerate() {
        assert!(
            FAMILIES[..position]
                .iter()
                .all(|earlier| earlier.family != row.family)
        );
    }
}

#[test]
fn c_6_a_name_stands_for_itself_and_what_follows_a_dash() {
    for row in FAMILIES {
        for id in row.ids {
            for text in [
                (*id).to_owned(),
                format!(" {} ", id.to_uppercase()),
                format!("{id}-eu"),
            ] {
                assert_eq!(Family::of(Some(&text), None), Some(row.family), "{text}");
            }
            assert_eq!(Family::of(Some(&format!("my{id}")), None), None, "{id}");
        }
        for host in row.hosts {
            for text in [
                (*host).to_owned(),
                format!("api.{host}:443"),
                format!("https://{host}/v1"),
            ] {
                assert_eq!(Family::of(Some("mine"), Some(&text)), Some(row.family), "{text}");
                assert_eq!(Family::of(None, Some(&text)), Some(row.family), "{text}");
            }
        }
    }
}

#[test]
fn c_6_an_id_counts_before_a_host() {
    assert_eq!(
        Family::of(Some("openrouter"), Some("api.anthropic.com")),
        Some(Family::OpenRouter)
    );
    assert_eq!(Family::of(None, None), None);
    assert_eq!(Family::of(Some("openaix"), Some("notopenai.com")), None);
}

#[test]
fn c_9_times_without_a_zone_are_of_the_provider_home() {
    let china: Vec<Family> = FAMILIES
        .iter()
        .map(|row| row.family)
        .filter(|family| family.time_zone() == "Asia/Shanghai")
        .collect();
    assert_eq!(
        china,
        [
            Family::Alibaba,
            Family::Kimi,
            Family::Minimax,
            Family::Volcengine,
            Family::Zai
        ]
    );
    assert!(
        FAMILIES
            .iter()
            .all(|row| china.contains(&row.family) || row.time_zone == "UTC")
    );
}
