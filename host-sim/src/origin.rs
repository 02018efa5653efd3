//! Origin of results, for pages and JSON.

use serde::Serialize;

/// Origin of a result.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Origin {
    /// Command that repeats the run, with all defaults explicit.
    pub command: String,
    /// Version of the program.
    pub version: &'static str,
    /// Scenario file, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    pub models: String,
    /// Faults as settings; `none` without faults.
    pub faults: String,
}

impl Origin {
    /// Creates the origin of a run without faults.
    pub fn new(command: String, models: impl Into<String>) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        Self { command, version, scenario: None, models: models.into(), faults: "none".into() }
    }

    /// Adds a description of faults; an empty one means none.
    #[must_use]
    pub fn with_faults(self, words: &str) -> Self {
        match words.trim() {
            "" => self,
            words => Self { faults: words.into(), ..self },
        }
    }
}
