//! Where the configuration is read from: at the start, and again at each reload.

use std::path::{Path, PathBuf};

use super::{Config, FileError, file};
use crate::environment::{CONFIG_VARIABLE, Environment, FAILOVER_VARIABLE};

/// The two files of a configuration.
#[derive(Debug, Clone)]
pub struct ConfigFiles {
    config: Place,
    failover: Place,
}

/// A file, and what names it when it is not the usual one.
#[derive(Debug, Clone)]
struct Place {
    path: PathBuf,
    named_by: Option<&'static str>,
}

impl ConfigFiles {
    /// The files at these places; neither need exist.
    pub fn at(config: &Path, failover: &Path) -> Self {
        let place = |path: &Path| Place {
            path: path.to_owned(),
            named_by: None,
        };
        Self {
            config: place(config),
            failover: place(failover),
        }
    }

    /// The files that an argument and `environment` name, else the usual ones.
    pub fn find(environment: &Environment, argument: Option<PathBuf>, state_dir: &Path) -> Self {
        let by_argument = argument.is_some();
        let path = argument.unwrap_or_else(|| environment.config_path(state_dir));
        let by_variable = |name| environment.get(name).map(|_| name);
        let failover = environment.failover_config_path(&path);
        Self {
            config: Place {
                path,
                named_by: if by_argument {
                    Some("--config")
                } else {
                    by_variable(CONFIG_VARIABLE)
                },
            },
            failover: Place {
                path: failover,
                named_by: by_variable(FAILOVER_VARIABLE),
            },
        }
    }

    /// Reads both files. One that does not exist leaves the defaults, unless somebody named it.
    ///
    /// # Errors
    /// As [`Config::load`], and when a named file is not there.
    pub fn load(&self) -> Result<Config, FileError> {
        for place in [&self.config, &self.failover] {
            if let Some(named_by) = place.named_by {
                file::require(&place.path, named_by)?;
            }
        }
        Config::load(&self.config.path, &self.failover.path)
    }

    /// Reads both files again. A configuration that was `present` and is gone is taken for a mistake, or for a file
    /// that is just being replaced, and not for the wish to run without one.
    pub(crate) fn load_again(&self, present: bool) -> Result<Config, FileError> {
        let config = self.load()?;
        if present && !config.exists {
            return Err(FileError::Gone { path: config.path });
        }
        Ok(config)
    }
}
