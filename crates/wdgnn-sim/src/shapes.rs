//! Network shapes that are compiled in for a task.
//!
//! `wdgnn-core` fixes dimensions at compile time, weight files name them at run time. A tuple of
//! shapes lists the supported ones.

use wdgnn_core::{
    model::shape::{Dimensions, Shape},
    task::Task,
};

use crate::error::{Error, Result};

/// Function of a network shape that is selected at run time.
pub trait Visitor<T: Task> {
    /// Result of the function.
    type Output;

    /// Calls the function with the selected shape.
    fn visit<S: Shape<T>>(self) -> Self::Output;
}

/// List of shapes, such as `(OneLayer<6, 4, 32, 2>,)`.
pub trait Shapes<T: Task> {
    /// Returns the dimensions of all shapes.
    fn all() -> Vec<Dimensions>;

    /// Calls `visitor` with the shape of these dimensions.
    fn visit<V: Visitor<T>>(size: Dimensions, visitor: V) -> Result<V::Output>;
}

macro_rules! lists {
    ($(($($shape:ident),+))+) => {
        $(impl<T: Task, $($shape: Shape<T>),+> Shapes<T> for ($($shape,)+) {
            fn all() -> Vec<Dimensions> {
                vec![$($shape::DIMENSIONS),+]
            }

            fn visit<V: Visitor<T>>(size: Dimensions, visitor: V) -> Result<V::Output> {
                $(if size == $shape::DIMENSIONS {
                    return Ok(visitor.visit::<$shape>());
                })+
                Err(none(size, &<Self as Shapes<T>>::all()))
            }
        })+
    };
}

lists! {
    (A)
    (A, B)
    (A, B, C)
    (A, B, C, D)
    (A, B, C, D, E)
    (A, B, C, D, E, F)
    (A, B, C, D, E, F, G)
    (A, B, C, D, E, F, G, H, I, J, K)
}

fn none(size: Dimensions, all: &[Dimensions]) -> Error {
    let first = all[0];
    if (size.features, size.outputs) != (first.features, first.outputs) {
        return Error::usage(format!(
            "the network has {} features and {} outputs, but this task has {} and {}",
            size.features, size.outputs, first.features, first.outputs
        ));
    }
    let there: Vec<String> =
        all.iter().map(|size| format!("({}, {}, {})", size.layers, size.taps, size.hidden)).collect();
    Error::usage(format!(
        "this build has no network of {} layers, {} taps and {} features: it has (layers, taps, features) {}; build with \
         `--features all-shapes` for more",
        size.layers,
        size.taps,
        size.hidden,
        there.join(", ")
    ))
}
