//! Rows of the table of faults, each with its settings.

use super::{
    properties::{self as must, Property, SOON},
    row::Yardstick,
};

/// Default cost limit.
const USUAL: f64 = 1.5;
/// Number of received frames with a wrong key.
const FORGERIES: u64 = 1_000_000;
/// Largest number of forged frames per robot and exchange: a robot reads 256 frames per tick,
/// including honest ones.
const MOST_FORGERIES: u64 = 200;

/// Row to run.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name of the fault.
    pub fault: &'static str,
    /// Strength of the fault.
    pub level: String,
    /// Settings, such as `drop-chance=0.3`.
    pub options: String,
    /// Settings of the episodes to compare with.
    pub against: String,
    /// Largest acceptable cost.
    pub limit: Option<f64>,
    /// Reason for a limit other than `USUAL`.
    pub because: &'static str,
    /// Property to check.
    pub property: Property,
    /// Ticks per episode, if different from other rows.
    pub ticks: Option<u32>,
    /// Largest number of swarms.
    pub swarms: usize,
    /// Comparison besides the same swarms without the fault.
    pub yardstick: Yardstick,
    /// Factor of the online step size.
    pub step: f32,
}

impl Case {
    fn new(fault: &'static str, level: impl Into<String>, options: impl Into<String>) -> Self {
        Self {
            fault,
            level: level.into(),
            options: options.into(),
            against: String::new(),
            limit: Some(USUAL),
            because: "",
            property: must::nothing,
            ticks: None,
            swarms: usize::MAX,
            yardstick: Yardstick::Usual,
            step: 1.0,
        }
    }

    /// Row with user-defined settings and no cost limit.
    pub fn of_options(options: &str) -> Self {
        Self { limit: None, ..Self::new("your own", options.trim(), options.trim()) }
    }

    fn costs(self, limit: f64) -> Self {
        Self { limit: Some(limit), ..self }
    }

    fn because(self, because: &'static str) -> Self {
        Self { because, ..self }
    }

    fn must(self, property: Property) -> Self {
        Self { property, ..self }
    }

    fn against(self, against: impl Into<String>) -> Self {
        Self { against: against.into(), ..self }
    }

    fn jammed(self) -> Self {
        Self { yardstick: Yardstick::Jammed, ..self.against("drop-chance=1") }
    }

    fn expert_too(self) -> Self {
        Self { yardstick: Yardstick::ExpertToo, ..self }
    }

    fn lasts(self, ticks: u32, swarms: usize) -> Self {
        Self { ticks: Some(ticks), swarms, ..self }
    }
}

/// Quantities that rows depend on.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances {
    /// Robots per swarm.
    pub robots: usize,
    /// Ticks per episode.
    pub ticks: u32,
    /// Number of receptions of a broadcast that all robots hear, over all episodes of a row.
    pub heard_per_frame: u64,
}

/// Returns all rows.
pub fn all(circumstances: &Circumstances) -> Vec<Case> {
    let Circumstances { robots, ticks, heard_per_frame } = *circumstances;
    [
        radio(),
        strangers(robots, heard_per_frame),
        insiders(),
        sensors(),
        motors(),
        clocks(robots),
        switching(robots, ticks),
        separation(),
        combinations(),
    ]
    .concat()
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn radio() -> Vec<Case> {
    let lost = |chance: f64, limit| {
        Case::new("loss, independent", percent(chance), format!("drop-chance={chance}")).costs(limit)
    };
    let lost_in_bursts = |chance: f64, limit| {
        Case::new("loss, bursts of 5", percent(chance), format!("drop-chance={chance} burst=5")).costs(limit)
    };
    vec![
        lost(0.1, 1.05),
        lost(0.3, 1.10),
        lost(0.6, 1.25),
        lost(0.9, USUAL),
        lost_in_bursts(0.1, 1.05),
        lost_in_bursts(0.3, 1.10),
        lost_in_bursts(0.6, 1.25),
        Case::new("one-way links", "30 % of directions", "one-way=0.3"),
        Case::new("hidden terminals", "no slots", "collisions=true"),
        Case::new("interference", "20 %, 50 ms", "interference=0.2:5"),
        Case::new("duplicates", "20 %", "duplicate-chance=0.2").costs(1.0).must(must::same_bits),
        Case::new("reordering", "20 %, 5 ticks", "delay=0.2:5").costs(1.1).must(must::late_ignored),
        Case::new("corruption", "10 %, one bit to all", "corrupt-chance=0.1")
            .costs(1.05)
            .must(must::some_refused),
        Case::new("mixed models", "50 % of robots", "mixed-models=0.5"),
    ]
}

fn strangers(robots: usize, heard_per_frame: u64) -> Vec<Case> {
    let forge = FORGERIES.div_ceil(heard_per_frame.max(1)).min(MOST_FORGERIES);
    let held = |ticks: u32| {
        let level = if ticks == 1 { "1 tick".into() } else { format!("{ticks} ticks") };
        Case::new("frames held back by a stranger", level, format!("attack-delay={ticks}"))
    };
    // Delayed frames postpone the start of coordination by the delay. The comparison is a radio
    // outage of that length.
    let late = |ticks: u32| {
        let deaf = (0..robots).map(|robot| format!("radio-outage={robot}@0-{ticks}")).collect::<Vec<_>>();
        Case { yardstick: Yardstick::Deaf, ..held(ticks).against(deaf.join(" ")).costs(1.1) }
    };
    // Frames with a longer delay are rejected. The robots are then as isolated as with a jammer,
    // and no worse.
    let refused = |ticks| held(ticks).jammed().costs(1.0).must(must::delay_refused);
    vec![
        // Records one second and replays it for nine; one robot restarts meanwhile.
        Case::new("replay, over a reboot", "10 s", "reboot=0@300 replay=100")
            .against("reboot=0@300")
            .costs(1.0)
            .must(must::replays_refused)
            .lasts(1000, 1),
        Case::new("forged, wrong key", "10⁶ frames", format!("forge={forge}"))
            .costs(1.0)
            .must(must::forgeries_refused),
        late(1),
        late(2),
        refused(5),
        refused(20),
        refused(45),
        Case { limit: None, ..Case::new("flood", "1,000 frames a tick", "forge=1000").jammed() }
            .because("a flood blocks honest frames; the tick must stay within its time")
            .must(must::within_budget)
            .lasts(20, 1),
    ]
}

fn insiders() -> Vec<Case> {
    let lying = |fault, about: &str, share: f64, limit| {
        Case::new(fault, percent(share) + " of robots", format!("liars={about}:{share}")).costs(limit)
    };
    let (parameters, state) = ("insiders lie about parameters", "insiders lie about state, taps");
    let subtle = "insiders lie as far as believed";
    let invented = |level: &str, options: &str| {
        Case::new("the same where names are proven", level, format!("{options} peer-auth=true"))
            .costs(1.25)
            .must(must::not_crowded_out)
    };
    vec![
        lying(parameters, "PARAMETERS", 0.1, 1.15),
        lying(parameters, "PARAMETERS", 0.2, 1.30),
        lying(state, "STATE", 0.1, USUAL).must(must::liars_rejected),
        lying(state, "STATE", 0.2, USUAL).must(must::liars_rejected),
        lying(subtle, "SUBTLE", 0.1, USUAL).must(must::never_within_5_cm),
        lying(subtle, "SUBTLE", 0.2, USUAL).must(must::never_within_5_cm),
        Case::new("an insider spoofs everybody", "one frame each", "spoof=50").must(must::heard_again),
        Case::new("an insider invents names", "16, a table", "sybil=16").must(must::not_crowded_out),
        Case::new("an insider invents names", "64, all counts", "sybil=64").must(must::not_crowded_out),
        invented("16, a table", "sybil=16"),
        invented("64, all counts", "sybil=64"),
        invented("16, 10 cm away", "sybil=16 sybil-distance=0.1"),
        Case::new("names are proven", "nobody attacks", "peer-auth=true").costs(1.1),
        Case::new("names are proven, losses", "30 %", "peer-auth=true drop-chance=0.3")
            .against("drop-chance=0.3")
            .costs(1.25),
        Case::new("a new key, one captured", "at 8 s", "kill=3@30 rekey=50-800 expel=3")
            .against("kill=3@30")
            .must(must::rekeyed)
            .lasts(900, 1),
        Case::new("the same with losses", "30 %", "kill=3@30 rekey=50-800 expel=3 drop-chance=0.3")
            .against("kill=3@30 drop-chance=0.3")
            .must(must::rekeyed)
            .lasts(900, 1),
    ]
}

fn sensors() -> Vec<Case> {
    let stops = |fault, options: &str| {
        Case::new(fault, "10 % at 0.5 s", options)
            .costs(1.15)
            .because("the other robots must be unaffected")
            .must(must::no_close_pair)
    };
    vec![
        Case::new("noise of positions", "10 cm", "position-noise=0.1").costs(1.1).must(must::believed),
        Case::new("noise of positions", "30 cm", "position-noise=0.3")
            .costs(1.25)
            .must(must::share_believed)
            .expert_too(),
        Case::new("noise of velocities", "0.1 m/s", "velocity-noise=0.1").costs(1.1).must(must::believed),
        Case::new("noise of both", "10 cm, 0.1 m/s", "position-noise=0.1 velocity-noise=0.1")
            .costs(1.1)
            .must(must::believed),
        Case::new("positions off for good", "10 cm", "position-bias=0.1")
            .must(must::share_believed)
            .expert_too(),
        Case::new("velocities off for good", "0.1 m/s", "velocity-bias=0.1")
            .must(must::share_believed)
            .expert_too(),
        Case::new("headings off", "30° on 20 %", "heading-error=30:0.2").expert_too(),
        stops("sensors freeze", "sensor=frozen:0.1@50"),
        stops("sensors are lost", "sensor=lost:0.1@50"),
    ]
}

fn motors() -> Vec<Case> {
    vec![
        Case::new("motors stuck", "10 %", "motor=stuck:0.1").expert_too(),
        Case::new("motors dead", "20 % at 0.1 s", "motor=dead:0.2@10").expert_too(),
        Case::new("motors weak", "40 % thrust on 20 %", "motor=weak:0.2").expert_too(),
        Case::new("motors saturate", "3 m/s²", "saturation=3")
            .expert_too()
            .costs(5.0)
            .because("1.5 times 10/3: with 3 instead of 10 m/s², every maneuver takes that much longer"),
    ]
}

fn clocks(robots: usize) -> Vec<Case> {
    // Every tenth robot, with alternating signs.
    let jump = |(robot, ticks): (usize, i32)| format!("time-jump={robot}@50:{ticks}");
    let jumps = (0..robots).step_by(10).zip([100, -40].into_iter().cycle()).map(jump);
    vec![
        // 100 ppm cause this difference in 100 s.
        Case::new("clock skew", "±1 tick", "skew=1").must(must::within_guard),
        Case::new("clock drift", "0.5 %", "drift=5000"),
        Case::new("clocks jump", "10 % by 1 or −0.4 s at 0.5 s", jumps.collect::<Vec<_>>().join(" ")),
        Case::new("ticks skipped", "20 %", "missed-ticks=0.2").must(must::share_believed),
    ]
}

fn switching(robots: usize, ticks: u32) -> Vec<Case> {
    // One robot after the other; the last one has time to return.
    let each = |option: &str| {
        let turns = (1..).map(|n| (n as usize % robots, 10 * n)).take_while(|(_, tick)| tick + SOON < ticks);
        turns.map(|(robot, tick)| format!("{option}={robot}@{tick}")).collect::<Vec<_>>().join(" ")
    };
    let kills = (0..robots).step_by(5).map(|robot| format!("kill={robot}@50"));
    vec![
        Case::new("reboot in flight", "one robot per 100 ms", each("reboot")).must(must::back_soon),
        Case::new("brown-out in a write", "one robot per 100 ms", each("brown-out")).must(must::back_soon),
        Case::new("joining in flight", "20 % at 1 s", "join=0.2@100").must(must::back_soon),
        Case::new("death", "20 % at 0.5 s", kills.collect::<Vec<_>>().join(" "))
            .costs(1.15)
            .must(must::forgotten_soon),
    ]
}

fn separation() -> Vec<Case> {
    vec![
        Case::new("partition and re-merge", "1 s", "partition=50-150").must(must::agrees_again).lasts(400, 2),
        Case::new("isolation", "one robot, 3 s", "radio-outage=0@20-320")
            .must(must::comes_to_rest)
            .lasts(400, 2),
        Case {
            step: 1.0e6, ..Case::new("gradient blow-up", "loss × 10⁶", "").must(must::inside_the_ball)
        },
    ]
}

fn combinations() -> Vec<Case> {
    let noise = "position-noise=0.1 velocity-noise=0.1";
    vec![
        Case::new(
            "state liars among noisy robots",
            "20 %, 10 cm, 0.1 m/s",
            format!("{noise} liars=STATE:0.2"),
        )
        .against(noise)
        .costs(1.1)
        .must(must::believed),
        Case::new(
            "loss, noise, subtle liars",
            "30 %, 10 cm, 10 %",
            "drop-chance=0.3 position-noise=0.1 liars=SUBTLE:0.1",
        )
        .must(must::share_believed),
        Case::new("one-way, late, joining", "30 %, 50 % by 5, 20 %", "one-way=0.3 delay=0.5:5 join=0.2@100")
            .must(must::back_soon),
        Case::new(
            "interference, skips, noise, weak",
            "20 %, 10 %, 0.1 m/s, 20 %",
            "interference=0.2:5 missed-ticks=0.1 velocity-noise=0.1 motor=weak:0.2",
        )
        .expert_too(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medium::options::Faults;

    fn cases() -> Vec<Case> {
        all(&Circumstances { robots: 50, ticks: 200, heard_per_frame: 100_000 })
    }

    #[test]
    fn every_row_has_valid_faults() {
        for Case { fault, options, against, .. } in cases() {
            for options in [options, against] {
                let faults = Faults::parse(&options).unwrap();
                faults.check(50, u32::MAX).unwrap_or_else(|error| panic!("{fault}: {error}"));
                assert_eq!(Faults::parse(&faults.settings()).unwrap(), faults, "{fault}");
            }
        }
    }

    #[test]
    fn rows_are_unique() {
        let mut names: Vec<(&str, String)> =
            cases().into_iter().map(|case| (case.fault, case.level)).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn unusual_limits_have_a_reason() {
        for case in cases() {
            let unusual = case.limit.is_none_or(|limit| limit > USUAL);
            assert!(!unusual || !case.because.is_empty(), "{}", case.fault);
        }
    }
}
