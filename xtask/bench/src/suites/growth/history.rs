//! What remembered decisions cost those who ask next, and those who look at them.

use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::Work;
use crate::Failure;
use crate::programs::load::{self, Connection, Target};
use crate::programs::process::Process;
use crate::suites::gateway;

/// Large enough for all sizes: nothing is forgotten to make room.
const SETTINGS: &str = "{ history: { maxMegaBytes: 2048 } }";

/// A gateway that has decided so much.
struct World {
    runtime: Runtime,
    gateway: Process,
    _upstream: Process,
    _home: TempDir,
}

impl World {
    fn new(decided: usize) -> Result<Self, Failure> {
        let runtime = crate::runtime()?;
        let home = tempfile::tempdir()?;
        let upstream = Process::role("upstream", &[])?;
        gateway::write_config(home.path(), &upstream.address, 0)?;
        std::fs::write(home.path().join("failover.json5"), SETTINGS)?;
        let gateway = runtime.block_on(gateway::started(&gateway::program(None)?, home.path()))?;
        let failing = gateway::to(&gateway, "failover");
        runtime.block_on(async {
            let mut done = 0.0;
            while done < f64::from(u32::try_from(decided)?) {
                done += load::run(&failing, 16, 200).await?.count();
            }
            Ok::<_, Failure>(())
        })?;
        Ok(Self {
            runtime,
            gateway,
            _upstream: upstream,
            _home: home,
        })
    }

    fn work(self, target: Target) -> Result<Work, Failure> {
        let mut connection = self.runtime.block_on(Connection::open(&target))?;
        Ok(Box::new(move || {
            // All of it: the gateway lives as long as the work.
            let world = &self;
            let answered = world.runtime.block_on(connection.exchange(&target));
            assert!(answered.is_ok(), "{answered:?}");
        }))
    }
}

/// One more request fails over.
pub(super) fn asked(decided: usize) -> Result<Work, Failure> {
    let world = World::new(decided)?;
    let target = gateway::to(&world.gateway, "failover");
    world.work(target)
}

/// A reader asks for the last of them.
pub(super) fn told(decided: usize) -> Result<Work, Failure> {
    let world = World::new(decided)?;
    let target = Target {
        path: "/admin/v1/decisions?limit=20",
        asks: load::RequestKind::Reading,
        ..gateway::to(&world.gateway, "failover")
    };
    world.work(target)
}
