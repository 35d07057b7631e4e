//! The table is sound, and an edge outside it is reported with file and remedy.

use super::*;

fn check(tree: &str) -> Vec<String> {
    check_edges(&edges(tree))
}

#[test]
fn the_table_is_acyclic_because_every_arrow_points_to_an_earlier_row() {
    for (row, layer) in LAYERS.iter().enumerate() {
        for arrow in layer.arrows {
            let target = LAYERS.iter().position(|other| other.package == *arrow);
            assert!(
                target.is_some_and(|target| target < row),
                "{} -> {arrow}",
                layer.package
            );
        }
    }
}

#[test]
fn a_crate_reaches_nothing_of_a_higher_tier() {
    for layer in LAYERS.iter().filter(|layer| layer.tier == Tier::Pure) {
        for reached in reachable(layer.package) {
            assert_eq!(
                super::layer(reached).map(|layer| layer.tier),
                Some(Tier::Pure),
                "{}",
                layer.package
            );
        }
    }
}

#[test]
fn arrows_are_transitive() {
    assert!(reachable("openclaw-gateway").contains("openclaw-ids"));
    assert!(!reachable("openclaw-session").contains("openclaw-auth-store"));
    assert!(!reachable("openclaw-auth-store").contains("openclaw-chain"));
}

#[test]
fn allowed_edges_and_third_parties_are_fine() {
    let tree = "0openclaw-session v0.1.0 (/x)\n1openclaw-chain v0.1.0 (/x)\n1openclaw-ids v0.1.0 (/x)\n1serde v1.0.0\n\n\
                0xtask v0.1.0 (/x)\n";
    assert_eq!(check(tree), Vec::<String>::new());
}

#[test]
fn a_new_edge_names_the_manifest_and_the_remedy() {
    let [finding] = &check("0openclaw-session v0.1.0 (/x)\n1openclaw-auth-store v0.1.0 (/x)\n")[..] else {
        panic!("one finding")
    };
    assert!(
        finding.starts_with("crates/openclaw-session/Cargo.toml: "),
        "{finding}"
    );
    assert!(finding.contains("remedy: "), "{finding}");
}

#[test]
fn every_manifest_that_a_finding_may_name_is_there() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for layer in LAYERS {
        let manifest = std::fs::read_to_string(root.join(manifest(layer.package))).unwrap();
        let name = format!("name = \"{}\"", layer.package);
        assert!(manifest.contains(&name), "{}", layer.package);
    }
}

#[test]
fn an_unknown_member_is_reported_and_xtask_depends_on_nothing() {
    assert!(check("0openclaw-new v0.1.0 (/x)\n1serde v1.0.0\n")[0].contains("not in the layer table"));
    assert!(check("0xtask v0.1.0 (/x)\n1serde v1.0.0\n")[0].starts_with("xtask/Cargo.toml: "));
}
