//! What a training and its helpers say to each other: never a panic, and flights that are taken for this training's can be used.
#![no_main]

use std::sync::LazyLock;

use host_sim::{
    error::Error,
    recipe::{Architecture, RecipeName},
    train::{
        line,
        plan::Plan,
        recipe::Recipe,
        request::Reply,
        roll_outs::{Rolled, What},
        serve::serve,
    },
    world::flock::Flock,
};
use libfuzzer_sys::fuzz_target;
use wdgnn_core::model::shape::Dimensions;

static PLAN: LazyLock<Plan<Flock>> = LazyLock::new(|| {
    let recipe = Recipe::named(RecipeName::Ours).expect("there is one");
    let size = Dimensions { features: 6, layers: 2, taps: 2, hidden: 16, outputs: 2 };
    Plan::new(recipe, Architecture::WdGnn, size, 1)
});

fuzz_target!(|bytes: &[u8]| {
    let _ = line::take(&mut &bytes[..]);
    // A right checksum lets the fuzzer in: it would not find one by itself.
    let mut parcel = Vec::new();
    line::send(&mut parcel, bytes).expect("there is room");
    let nothing = |_: &[String]| Err(Error::usage("nothing is flown here"));
    serve(&mut &parcel[..], &mut Vec::new(), &nothing).expect("what is no request is answered as well");
    let Some(Ok(Rolled::Trajectories(flights))) = Reply::read(bytes).map(Reply::rolled) else { return };
    if PLAN.fits(What::Epoch(1), &Rolled::Trajectories(flights.clone())) {
        for flight in &flights {
            for tick in 0..flight.ticks() {
                assert_eq!(flight.taps(tick).len(), flight.robots * PLAN.size.inputs(0));
                assert_eq!(flight.labels(tick).len(), flight.robots * 2);
                let links = &flight.links[tick];
                (0..flight.robots).for_each(|robot| {
                    assert!(links.of(robot).iter().all(|other| (*other as usize) < flight.robots));
                });
            }
        }
    }
});
