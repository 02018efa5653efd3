//! The simulator's errors as Python's exceptions, with the same sentence.

use pyo3::{
    create_exception,
    exceptions::{PyException, PyKeyboardInterrupt, PyOSError, PyValueError},
    prelude::*,
};
use wdgnn_sim::error;

create_exception!(wdgnn, Error, PyException, "What goes wrong with a model or in a flight, in a sentence.");
create_exception!(
    wdgnn,
    Refused,
    Error,
    "A frame that is not accepted. Its text is the reason’s name in docs/wire-format.md."
);

/// What the simulator says, as an exception.
pub fn raise(error: error::Error) -> PyErr {
    let sentence = in_python(&error.to_string());
    match error {
        error::Error::Read { .. } | error::Error::Write { .. } => PyOSError::new_err(sentence),
        error::Error::Usage(_) => PyValueError::new_err(sentence),
        error::Error::Interrupted => PyKeyboardInterrupt::new_err(sentence),
        _ => Error::new_err(sentence),
    }
}

/// Options are written `robots` here and not `--robots`; commands between backticks stay as they are typed.
fn in_python(sentence: &str) -> String {
    let pieces = sentence.split('`').enumerate();
    let pieces =
        pieces.map(|(index, piece)| if index % 2 == 1 { format!("`{piece}`") } else { options(piece) });
    pieces.collect()
}

fn options(text: &str) -> String {
    let words = text.split(' ').map(|word| match word.strip_prefix("--") {
        Some(option) => option.replace('-', "_"),
        None => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}
