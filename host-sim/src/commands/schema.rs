//! `host-sim schema`: descriptions of all radio frames.

use std::path::Path;

use clap::Args;

use crate::{
    error::Result,
    files,
    schema::{Format, describe},
};

/// Print the fields of every radio frame, for other languages.
///
/// A frame's key is the postcard-schema hash of its name and schema: it changes with every change of the format.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  host-sim schema\n  host-sim schema --format c > wdgnn_frames.h\n  \
                  host-sim schema --format wireshark > ~/.local/lib/wireshark/plugins/wdgnn.lua")]
pub struct SchemaArguments {
    /// Language of the description.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl SchemaArguments {
    pub fn run(&self) -> Result {
        files::write(Path::new("-"), describe(self.format).as_bytes())
    }
}
