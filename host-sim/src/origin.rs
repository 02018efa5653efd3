//! Where results come from: what every page and all JSON say of themselves.

use serde::Serialize;

/// What made a result.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Origin {
    /// The command that does this again, whatever will be usual then.
    pub command: String,
    /// The program's version.
    pub version: &'static str,
    /// The scenario's file, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// The models that flew.
    pub models: String,
    /// What went wrong on purpose, as it is typed; `none` where nothing did.
    pub faults: String,
}

impl Origin {
    /// Of a command with these models, in which nothing goes wrong on purpose.
    pub fn new(command: String, models: impl Into<String>) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        Self { command, version, scenario: None, models: models.into(), faults: "none".into() }
    }

    /// The same with faults, as they are typed; none for no words.
    #[must_use]
    pub fn with_faults(self, words: &str) -> Self {
        match words.trim() {
            "" => self,
            words => Self { faults: words.into(), ..self },
        }
    }
}
