//! The paths of the two configuration files, which are read at the start and at each reload.

use std::path::{Path, PathBuf};

use super::Config;
use crate::environment::{CONFIG_VARIABLE, Environment, FAILOVER_VARIABLE};
use crate::file::{self, FileError};

/// The two files of a configuration.
#[derive(Debug, Clone)]
pub struct ConfigFiles {
    config: ConfigFile,
    failover: ConfigFile,
}

/// A file, and the argument or variable that names it; none for the default path.
#[derive(Debug, Clone)]
struct ConfigFile {
    path: PathBuf,
    named_by: Option<&'static str>,
}

impl ConfigFiles {
    /// The files at these paths; neither need exist.
    pub fn at(config: &Path, failover: &Path) -> Self {
        let file_at = |path: &Path| ConfigFile {
            path: path.to_owned(),
            named_by: None,
        };
        Self {
            config: file_at(config),
            failover: file_at(failover),
        }
    }

    /// The files that an argument and `environment` name, else the default ones.
    pub fn find(environment: &Environment, argument: Option<PathBuf>, state_dir: &Path) -> Self {
        let by_argument = argument.is_some();
        let path = argument.unwrap_or_else(|| environment.config_path(state_dir));
        let by_variable = |name| environment.get(name).map(|_| name);
        let failover = environment.failover_config_path(&path);
        Self {
            config: ConfigFile {
                path,
                named_by: if by_argument {
                    Some("--config")
                } else {
                    by_variable(CONFIG_VARIABLE)
                },
            },
            failover: ConfigFile {
                path: failover,
                named_by: by_variable(FAILOVER_VARIABLE),
            },
        }
    }

    /// Reads both files. One that does not exist leaves the defaults, unless an argument or a variable names it.
    ///
    /// # Errors
    /// As [`Config::load`], and when a named file is not there.
    pub fn load(&self) -> Result<Config, FileError> {
        for named in [&self.config, &self.failover] {
            if let Some(named_by) = named.named_by {
                file::require(&named.path, named_by)?;
            }
        }
        Config::load(&self.config.path, &self.failover.path)
    }

    /// Reads both files again. A configuration that was `present` and is gone is an error: it is a mistake, or a file
    /// that is just being replaced.
    ///
    /// # Errors
    /// As [`load`](Self::load), and when the configuration is gone.
    pub fn load_again(&self, present: bool) -> Result<Config, FileError> {
        let config = self.load()?;
        if present && !config.exists {
            return Err(FileError::Gone { path: config.path });
        }
        Ok(config)
    }
}
