//! The shapes of networks that are compiled in for a task.
//!
//! `wdgnn-core` fixes dimensions at compile time; a weight file names them at run time. Here the two meet: a tuple of shapes is a list
//! of what can be flown.

use wdgnn_core::{
    model::shape::{Dimensions, Shape},
    task::Task,
};

use crate::error::{Error, Result};

/// Something to do with a network whose shape is known only now.
pub trait Visitor<T: Task> {
    /// What comes out.
    type Output;

    /// Does it, for the shape that was asked for.
    fn visit<S: Shape<T>>(self) -> Self::Output;
}

/// A list of shapes, such as `(OneLayer<6, 4, 32, 2>,)`.
pub trait Shapes<T: Task> {
    /// Their dimensions.
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
