//! The block of dependencies that a README tells its users to write.

use crate::cli::CannotRun;

/// The lines below `[dependencies]` in the README's first TOML block that has them; a README with none says so.
pub(super) fn dependencies(name: &str, readme: &str) -> Result<String, CannotRun> {
    blocks(readme)
        .find_map(|block| block.split_once("[dependencies]").map(|(_, lines)| lines.trim().to_owned()))
        .ok_or_else(|| {
            CannotRun(format!(
                "the README of {name} has no TOML block with `[dependencies]`; write what its first user has to"
            ))
        })
}

/// The texts between a fence that opens TOML and the next fence.
fn blocks(readme: &str) -> impl Iterator<Item = &str> {
    readme
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split_once("```").map(|(block, _)| block))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_block_with_dependencies_counts() {
        let readme = "# x\n```toml\n[features]\n```\n```rust\nlet a;\n```\n```toml\n[dependencies]\nx = \"0.1\"\ny = \"1\"\n```\n";
        assert_eq!(dependencies("x", readme).unwrap(), "x = \"0.1\"\ny = \"1\"");
        let CannotRun(error) = dependencies("x", "# x\n").unwrap_err();
        assert!(error.starts_with("the README of x has no TOML block"), "{error}");
    }
}
