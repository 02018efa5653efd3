//! `host-sim schema`: descriptions of all radio frames.

use std::path::Path;

use clap::Args;

use wdgnn_schema::{Format, describe};

use crate::{error::Result, files};

/// Print the fields of all radio frames, for other languages.
///
/// The key of a frame is the postcard-schema hash of its name and schema. It changes with each
/// change of the format.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  host-sim schema\n  host-sim schema --format c > wdgnn_frames.h\n  \
                  host-sim schema --format wireshark > ~/.local/lib/wireshark/plugins/wdgnn.lua")]
pub struct SchemaArguments {
    /// Output format: text, json, c, python or wireshark.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text, hide_possible_values = true)]
    format: Format,
}

impl SchemaArguments {
    pub fn run(&self) -> Result {
        files::write(Path::new("-"), describe(self.format).as_bytes())
    }
}
