//! Ten minutes of load: memory must not grow with the requests that were answered.

use crate::Failure;
use crate::arguments::Arguments;
use crate::programs::load;
use crate::programs::process::Process;
use crate::suites::gateway::{program, started, to, write_config};
use crate::table::{Results, Target};

const MINUTES: usize = 10;
/// What memory may differ by between the second and the last minute, in MiB: caches of SQLite and the allocator breathe.
const FLAT: f64 = 3.0;

pub(crate) async fn measure(arguments: &Arguments, results: &mut Results) -> Result<(), Failure> {
    let upstream = Process::role("upstream", &[])?;
    let home = tempfile::tempdir()?;
    write_config(home.path(), &upstream.address, 0)?;
    let gateway = started(&program(arguments.gateway.as_deref())?, home.path()).await?;
    let (plain, failing) = (to(&gateway, "plain"), to(&gateway, "failover"));
    let (mut answered, mut after) = (0.0, Vec::new());
    for minute in 1..=MINUTES {
        for _ in 0..3 {
            let (some, more) = tokio::join!(load::run(&plain, 32, 20_000), load::run(&failing, 32, 20_000));
            answered += some?.count() + more?.count();
        }
        after.push(gateway.memory()?);
        eprintln!(
            "minute {minute} of {MINUTES}: {answered} requests, {:.1} MiB",
            gateway.memory()?
        );
    }
    let (early, late) = (after[1], after[MINUTES - 1]);
    results.figure("requests in ten minutes".to_owned(), "", &[answered], None);
    results.figure(
        "memory, after two minutes of 64 clients".to_owned(),
        "MiB",
        &[early],
        None,
    );
    results.figure("memory, after ten".to_owned(), "MiB", &[late], None);
    results.figure(
        "memory, growth from the second minute on".to_owned(),
        "MiB",
        &[late - early],
        Some(Target::AtMost(FLAT)),
    );
    Ok(())
}
