//! Helpers that fly for a training: whatever becomes of them, the bytes of the network are those of one process.

use std::{
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use host_sim::{
    error::{Error, Result},
    model::ModelFile,
    recipe::{Architecture, RecipeName},
    seeds::{Purpose, generator},
    train::{
        checkpoint::Checkpoint,
        crew::Crew,
        helpers::{Line, Reach},
        line,
        plan::Plan,
        recipe::Recipe,
        request::{Reply, Request},
        roll_outs::{Rolled, What},
        run::{Train, Watcher},
        serve::serve,
        ways::Way,
    },
    world::flock::Flock,
};
use rand::RngExt as _;
use wdgnn_core::model::shape::Dimensions;

/// A little training of every kind.
fn plan(recipe: RecipeName, layers: usize) -> Plan<Flock> {
    let mut recipe = Recipe::<Flock>::named(recipe).unwrap();
    (recipe.epochs, recipe.validate_every, recipe.validations) = (2, 1, 3);
    recipe.condition.robots = 5;
    recipe.condition.ticks = 20;
    recipe.robots_fixed = true;
    recipe.steps = recipe.steps.min(2);
    match &mut recipe.way {
        Way::Imitate(way) => (way.flights, way.refresh) = (9, way.refresh.min(3)),
        Way::Through(way) => (way.flights, way.ticks) = (7, 10),
        Way::Evolve(way) => way.pairs = 4,
    }
    let (taps, hidden) = if layers == 1 { (4, 32) } else { (2, 16) };
    let size = Dimensions { features: 6, layers, taps, hidden, outputs: 2 };
    Plan::new(recipe, Architecture::WdGnn, size, 3)
}

/// A helper on a thread of its own, with something that is done to its answers: by their number.
struct OnThread {
    plan: Plan<Flock>,
    spoil: fn(usize, Vec<u8>) -> Option<Vec<u8>>,
    answers: Arc<AtomicUsize>,
}

impl Reach for OnThread {
    fn name(&self) -> String {
        "thread".into()
    }

    fn reach(&self) -> io::Result<Line> {
        let (mut asked, to) = io::pipe()?;
        let (from, mut answer) = io::pipe()?;
        let (plan, spoil, answers) = (self.plan.clone(), self.spoil, Arc::clone(&self.answers));
        thread::spawn(move || {
            while let Ok(Some(request)) = line::take(&mut asked) {
                let (mut one, mut said) = (Vec::new(), Vec::new());
                line::send(&mut one, &request).unwrap();
                serve(&mut &one[..], &mut said, &|_| Ok(Box::new(plan.clone()))).unwrap();
                let (number, length) = (answers.fetch_add(1, Ordering::Relaxed), said.len());
                // With half an answer or none, it dies.
                let said = spoil(number, said).unwrap_or_default();
                if io::Write::write_all(&mut answer, &said).is_err() || said.len() < length {
                    return;
                }
            }
        });
        Ok(Line { to: Box::new(to), from: Box::new(from), process: None })
    }
}

type Spoil = fn(usize, Vec<u8>) -> Option<Vec<u8>>;

fn crew(plan: &Plan<Flock>, spoils: &[Spoil]) -> Crew {
    let answers = Arc::new(AtomicUsize::new(0));
    let reach = |spoil: &Spoil| -> Box<dyn Reach> {
        Box::new(OnThread { plan: plan.clone(), spoil: *spoil, answers: Arc::clone(&answers) })
    };
    Crew::new(spoils.iter().map(reach).collect(), Vec::new(), |_| {})
}

struct Nobody;

impl Watcher for Nobody {
    fn epoch(&self, _: usize, _: f32, _: Option<f64>) {}
    fn best(&self, _: &ModelFile) -> Result {
        Ok(())
    }
    fn checkpoint(&self, _: &Checkpoint) -> Result {
        Ok(())
    }
}

fn trained(plan: &Plan<Flock>, crew: Option<&Crew>) -> Result<Vec<u8>> {
    let (out, stop) = (Path::new("it"), &AtomicBool::new(false));
    let (model, quality) = Train { plan, out, resume: None, watcher: &Nobody, crew, stop }.run()?;
    Ok([model.as_bytes(), &quality.total.to_le_bytes()].concat())
}

const PLANS: [(RecipeName, usize); 5] = [
    (RecipeName::Through, 1),
    (RecipeName::Evolve, 1),
    (RecipeName::Ours, 1),
    (RecipeName::Ours, 2),
    (RecipeName::Paper, 1),
];

#[test]
fn whoever_flies_the_network_has_the_same_bytes() {
    for (recipe, layers) in PLANS {
        let plan = plan(recipe, layers);
        let here = trained(&plan, None).unwrap();
        for helpers in [1, 2, 9] {
            let spoils: Vec<Spoil> = vec![|_, said| Some(said); helpers];
            let there = trained(&plan, Some(&crew(&plan, &spoils))).unwrap();
            assert!(there == here, "{recipe:?} of {layers} layers, {helpers} helpers");
        }
    }
}

#[test]
fn helpers_that_die_and_answers_that_are_damaged_change_nothing() {
    let spoils: [Spoil; 4] = [
        // Dies with every third answer on its lips.
        |number, said| (number % 3 != 2).then_some(said),
        // Ends in the middle of one.
        |number, mut said| {
            said.truncate(if number % 3 == 1 { said.len() / 2 } else { said.len() });
            Some(said)
        },
        // Says something else.
        |number, said| Some(if number % 3 == 1 { b"Connection closed by 10.0.0.1.".to_vec() } else { said }),
        // One bit is another.
        |number, mut said| {
            let last = said.len() - 1;
            said[last] ^= u8::from(number % 3 == 0);
            Some(said)
        },
    ];
    for (recipe, layers) in PLANS {
        let plan = plan(recipe, layers);
        let here = trained(&plan, None).unwrap();
        for spoil in spoils {
            assert!(trained(&plan, Some(&crew(&plan, &[spoil]))).unwrap() == here, "{recipe:?}");
            let both = [spoil, |_, said| Some(said)];
            assert!(trained(&plan, Some(&crew(&plan, &both))).unwrap() == here, "{recipe:?}");
        }
    }
}

#[test]
fn one_that_never_answers_is_left_behind_and_without_any_other_that_is_said() {
    let plan = plan(RecipeName::Through, 1);
    let here = trained(&plan, None).unwrap();
    let never: Spoil = |_, _| None;
    assert!(trained(&plan, Some(&crew(&plan, &[never, |_, said| Some(said), never]))).unwrap() == here);
    let refused = trained(&plan, Some(&crew(&plan, &[never, never]))).unwrap_err();
    assert!(matches!(&refused, Error::Usage(said) if said.contains("`thread` does not answer")), "{refused}");
    let soon: Spoil = |number, said| (number < 3).then_some(said);
    let lost = trained(&plan, Some(&crew(&plan, &[soon]))).unwrap_err();
    assert!(matches!(&lost, Error::Failed(said) if said.contains("--resume goes on")), "{lost}");
}

#[test]
fn answers_that_cannot_be_of_this_training_are_none() {
    // A checksum that is right, of flights that are not: fewer of them, others, with links that lead nowhere.
    let spoil: Spoil = |number, said| {
        let reply = Reply::read(&line::take(&mut &said[..]).unwrap().unwrap()).unwrap();
        let mut rolled = reply.rolled().unwrap();
        match (number % 4, &mut rolled) {
            (0, Rolled::Trajectories(flights)) => drop(flights.pop()),
            (0, Rolled::Costs(costs)) => drop(costs.pop()),
            (1, Rolled::Trajectories(flights)) => flights[0].robots = 4,
            (1, Rolled::Costs(_)) => rolled = Rolled::Slopes(Vec::new()),
            (2, Rolled::Trajectories(flights)) => drop(flights[0].links.pop()),
            _ => {}
        }
        let mut changed = Vec::new();
        line::send(&mut changed, &Reply::Flown(rolled).bytes().unwrap()).unwrap();
        Some(changed)
    };
    let plan = plan(RecipeName::Ours, 2);
    let here = trained(&plan, None).unwrap();
    assert!(trained(&plan, Some(&crew(&plan, &[spoil, |_, said| Some(said)]))).unwrap() == here);
}

#[test]
fn what_a_flight_says_ends_the_training_with_that_sentence() {
    let mut plan = plan(RecipeName::Through, 1);
    let crew = crew(&plan, &[|_, said| Some(said)]);
    plan.recipe.rate = 1.0;
    let refused = trained(&plan, Some(&crew)).unwrap_err();
    assert!(matches!(&refused, Error::Usage(said) if said.contains("the same program")), "{refused}");
}

#[test]
fn nothing_that_a_helper_or_a_training_is_told_makes_it_panic() {
    let plan = plan(RecipeName::Ours, 2);
    let weights = vec![0.1; plan.numbers()];
    let request = Request::new(&["--seed=1".into()], plan.fingerprint(), What::Epoch(1), &weights);
    let request = request.bytes(&(0..2)).unwrap();
    let rolled = plan.roll_out(What::Epoch(1), &weights, 0..2).unwrap();
    assert!(plan.fits(What::Epoch(1), &rolled) && !plan.fits(What::Validation, &rolled));
    let reply = Reply::of(Ok(rolled)).bytes().unwrap();
    let mut random = generator(1, Purpose::Testing, 0);
    let mut refused = 0;
    for _ in 0..3000 {
        let mut changed = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            // Lengths and counts are near the beginning.
            let reach = if random.random_bool(0.5) { 64 } else { bytes.len() };
            bytes[random.random_range(0..reach)] = random.random();
            bytes.truncate(if random.random_bool(0.2) { random.random_range(0..reach) } else { bytes.len() });
            bytes
        };
        let (mut asked, mut said) = (Vec::new(), Vec::new());
        line::send(&mut asked, &changed(&request)).unwrap();
        serve(&mut &asked[..], &mut said, &|_| Err(Error::usage("nothing is flown here"))).unwrap();
        assert!(line::take(&mut &said[..]).unwrap().is_some(), "whatever is asked is answered");
        let fits = |reply: Reply| reply.rolled().is_ok_and(|rolled| plan.fits(What::Epoch(1), &rolled));
        refused += usize::from(!Reply::read(&changed(&reply)).is_some_and(fits));
    }
    // The others have another number in a place for numbers.
    assert!(refused > 1000, "{refused}");
}
