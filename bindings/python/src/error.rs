//! Conversion of the simulator's errors to Python exceptions.

use pyo3::{
    create_exception,
    exceptions::{PyException, PyKeyboardInterrupt, PyOSError, PyValueError},
    prelude::*,
};
use wdgnn_sim::{error, medium::options::FAULTS};

create_exception!(wdgnn, Error, PyException, "Damaged or unsuitable model, or an error during a run.");
create_exception!(
    wdgnn,
    FrameError,
    Error,
    "Rejected frame. The message is the name of the reason in docs/wire-format.md."
);

/// Exception for an error of the simulator.
pub fn raise(error: error::Error) -> PyErr {
    let sentence = in_python(&error.to_string());
    match error {
        error::Error::Read { .. } | error::Error::Write { .. } => PyOSError::new_err(sentence),
        error::Error::Usage(_) => PyValueError::new_err(sentence),
        error::Error::Interrupted => PyKeyboardInterrupt::new_err(sentence),
        _ => Error::new_err(sentence),
    }
}

/// Message with Python's names of options and faults: `robots` for `--robots`, `drop_chance` for `--fault drop-chance`. Commands
/// between backticks stay unchanged.
fn in_python(sentence: &str) -> String {
    let pieces = sentence.split('`').enumerate();
    let pieces =
        pieces.map(|(index, piece)| if index % 2 == 1 { format!("`{piece}`") } else { options(piece) });
    pieces.collect()
}

fn options(text: &str) -> String {
    let python = |word: &str| match word.strip_prefix("--") {
        Some(option) => option.replace('-', "_"),
        None if FAULTS.iter().any(|fault| fault.key == word.trim_end_matches(',')) => word.replace('-', "_"),
        None => word.to_owned(),
    };
    let words = text.split(' ').filter(|word| *word != "--fault").map(python);
    words.collect::<Vec<_>>().join(" ")
}
