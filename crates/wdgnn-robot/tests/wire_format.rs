//! Golden bytes, both ways, and `docs/wire-format.md` against them: the document is normative, so it is tested.

use crate::common;

use common::{
    board::Flash,
    document::{document, example},
    golden::{EXACT, EXACT_UNFOLDED, RECORD, WEIGHTS},
    signal::{Regression, Signal},
};
use wdgnn_core::{
    Network,
    filter::{Chain, NoChain, Stacked, scale::Scale},
    message::Beacon,
    model::{
        Metric,
        activation::Activation,
        deep::{Layer, Top},
        folded::Folded,
    },
    online::{Learning, Mixing},
    tasks::flocking::{self, Motion},
    tensor::{Filter, Vector},
    weights::{self, Aligned, Header, LayerDimensions, TaskSettings, Weights},
};
use wdgnn_link::{
    encoding::{
        Codec,
        esb32::Esb32,
        exact::{self, Exact, HEADER_BYTES},
        half::{Dot154, EspNow},
        p2p57::P2p57,
    },
    error::Refusal,
    header::{Link, Profile},
};
use wdgnn_robot::{
    config::Behaviour,
    control_loop,
    node::{Node, Settings},
    persist::RESERVED_TICKS,
};

const MODEL: u32 = 0xdead_beef;

type Taps = Stacked<2, 1, NoChain>;
/// The dimensions for which the document tells lengths.
type PaperTaps = Stacked<4, 6, NoChain>;
type PaperWide = Filter<4, 6, 2>;

fn beacon<W>(wide: W) -> Beacon<Motion, Taps, W> {
    Beacon {
        sender: 0x0102,
        boot: 3,
        sequence: 0x0102_0304,
        degree: 5,
        state: Motion { position: [1.0, -2.0], velocity: [0.5, 0.25] },
        // The last tap stays at home: a receiver has zero there.
        chains: Stacked { chain: Chain([[1.5], [0.0]]), above: NoChain },
        wide,
    }
}

fn header() -> Header {
    let mut layers = [LayerDimensions::default(); weights::MOST_LAYERS];
    layers[0] = LayerDimensions { taps: 2, features: 2 };
    Header {
        activation: Activation::Relu,
        scale: Scale::Scaled(0.5),
        features: 1,
        hidden: 2,
        outputs: 1,
        layers,
        task: TaskSettings { task: flocking::TASK, numbers: [0.25, 0.5, 10.0, 0.125, 0.75, 0.0, 0.0, 0.0] },
        learning: Learning {
            step: 2.0,
            cooling: 50.0,
            ridge: 0.25,
            ball: 0.5,
            clip: 0.125,
            metric: Metric::Euclidean,
            mixing: Mixing::Metropolis,
            through_clamp: true,
            ..Learning::OFF
        },
        interval: 4,
    }
}

const NUMBERS: [f32; 18] = [
    2.0, 0.5, 1.0, // α_D, α_W, β
    1.0, 0.0, 0.0, 1.0, // A
    0.0, 0.0, // a
    1.0, 2.0, 3.0, 4.0, // B
    0.5, -0.5, // b
    1.0, -1.0, // R
    10.0, // ρ
];

#[test]
fn a_beacon_is_these_bytes_and_these_bytes_are_the_beacon() {
    let sent = beacon(Filter([[[1.0, 2.0]], [[3.0, 4.0]]]));
    let link = Link { profile: Profile::Exact, checksum: MODEL };
    let mut frame = [0; EXACT.len()];
    assert_eq!(exact::encode(&sent, &link, &mut frame), Some(EXACT.len()));
    assert_eq!(frame, EXACT);
    assert_eq!(exact::decode(&link, &EXACT), Ok(sent));
}

#[test]
fn an_unfolded_beacon_is_these_bytes_and_these_bytes_are_the_beacon() {
    let sent = beacon(Filter([[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]]));
    let link = Link { profile: Profile::ExactUnfolded, checksum: MODEL };
    let mut frame = [0; EXACT_UNFOLDED.len()];
    assert_eq!(exact::encode(&sent, &link, &mut frame), Some(EXACT_UNFOLDED.len()));
    assert_eq!(frame, EXACT_UNFOLDED);
    assert_eq!(exact::decode(&link, &EXACT_UNFOLDED), Ok(sent));
}

#[test]
fn a_buffer_too_small_for_a_beacon_is_no_frame() {
    let sent = beacon(Filter([[[1.0, 2.0]], [[3.0, 4.0]]]));
    let link = Link { profile: Profile::Exact, checksum: MODEL };
    for length in 0..EXACT.len() {
        assert_eq!(exact::encode(&sent, &link, &mut vec![0; length]), None);
    }
}

#[test]
fn a_weight_file_is_these_bytes_and_these_bytes_are_the_file() {
    let mut file = [0; WEIGHTS.len()];
    assert_eq!(weights::write(&header(), &NUMBERS, &mut file), Ok(WEIGHTS.len()));
    assert_eq!(file, WEIGHTS);
    let golden = Aligned(WEIGHTS);
    let opened = Weights::open(&golden.0).unwrap();
    assert_eq!(opened.header, header());
    assert_eq!(opened.numbers, NUMBERS);
    assert_eq!(opened.checksum.to_le_bytes(), WEIGHTS[WEIGHTS.len() - 4..]);
}

#[test]
fn a_restart_reads_this_record_and_writes_it_with_the_next_boot() {
    // α_D, α_W, β; A, a; B, b; R, ρ of one feature, two taps, one hidden feature: C = B·[1 1].
    static WEIGHTS: [f32; 13] = [0.0; 13];
    type Net = Network<'static, 1, 2, 1, 2, Layer<'static, 2, 1, 1, Top>>;
    let network = Net::over(&WEIGHTS, Activation::Relu, Scale::Sum).unwrap();
    let model = Folded::new(network, Metric::Paper);
    let task = Regression::<1, 2>::new();
    let behaviour = Behaviour::new(Learning::OFF);
    let state = Signal(Vector([0.0]));
    let settings = Settings { id: 1, model, task, checksum: MODEL, behaviour, state, codec: Exact };
    let mut node: Node<_, _, 4> = Node::new(settings);
    let mut store = Flash { kept: Some(RECORD.to_vec()), ..Flash::default() };
    assert_eq!(control_loop::resume(&mut node, &mut store, &mut [0; 64]), Ok(true));
    assert_eq!(node.wide(), &Filter([[[1.0, 2.0]], [[3.0, 4.0]]]));
    assert_eq!(node.boot(), 4);
    let saved = store.kept.unwrap();
    assert_eq!(saved[..4], RECORD[..4]);
    assert_eq!(saved[4..8], 4_u32.to_le_bytes());
    // It has not lived for a tick, and may speak for another minute from where it begins.
    assert_eq!(saved[8..12], RECORD[8..12]);
    assert_eq!(node.first_tick(), 0x2770);
    assert_eq!(saved[12..16], (0x2770 + RESERVED_TICKS).to_le_bytes());
    assert_eq!(saved[20..], RECORD[20..]);
}

#[test]
fn the_document_s_examples_are_the_golden_bytes() {
    assert_eq!(example("beacon-exact"), EXACT);
    assert_eq!(example("beacon-exact-unfolded"), EXACT_UNFOLDED);
    assert_eq!(example("weights"), WEIGHTS);
    assert_eq!(example("restart"), RECORD);
}

#[test]
fn the_document_s_codes_are_those_in_the_bytes() {
    let document = document();
    let says = |field: &str, code: u8, meaning: &str| {
        let row = format!("| {field} | {code} | `{meaning}` |");
        assert!(document.contains(&row), "the document lacks {row}");
    };
    let byte_of = |header: &Header, offset: usize| {
        let mut file = [0; WEIGHTS.len()];
        weights::write(header, &NUMBERS, &mut file).unwrap();
        file[offset]
    };
    for activation in Activation::ALL {
        says(
            "activation",
            byte_of(&Header { activation: *activation, ..header() }, 5),
            &format!("{activation:?}"),
        );
    }
    for (scale, name) in [
        (Scale::Sum, "Sum"),
        (Scale::Mean, "Mean"),
        (Scale::Scaled(2.0), "Scaled"),
        (Scale::Closed, "Closed"),
        (Scale::Echo(0.5), "Echo"),
    ] {
        says("scale", byte_of(&Header { scale, ..header() }, 7), name);
    }
    let learning = header().learning;
    for metric in [Metric::Paper, Metric::Euclidean] {
        let learning = Learning { metric, ..learning };
        says("metric", byte_of(&Header { learning, ..header() }, 96), &format!("{metric:?}"));
    }
    for mixing in [Mixing::Alone, Mixing::Uniform, Mixing::Metropolis] {
        let learning = Learning { mixing, ..learning };
        says("mixing", byte_of(&Header { learning, ..header() }, 97), &format!("{mixing:?}"));
    }
}

#[test]
fn the_document_names_every_refusal_in_order_and_every_length() {
    let document = document();
    let rows: Vec<usize> = Refusal::ALL
        .iter()
        .map(|refusal| document.find(&format!("\n| {} |", refusal.name())).expect("a row per refusal"))
        .collect();
    assert!(rows.is_sorted());
    assert!(document.contains(&format!("A header of {} bytes", weights::HEADER_BYTES)));
    assert!(document.contains(&format!("fewer than {HEADER_BYTES} bytes")));
    let exact = exact::frame_bytes::<Motion, PaperTaps, PaperWide>();
    let unfolded = exact::frame_bytes::<Motion, PaperTaps, Filter<4, 6, 32>>();
    let compact = [
        Dot154::bytes::<Motion, PaperTaps, PaperWide>(),
        EspNow::bytes::<Motion, PaperTaps, PaperWide>(),
        Esb32::bytes::<Motion, PaperTaps, PaperWide>(),
        P2p57::bytes::<Motion, PaperTaps, PaperWide>(),
    ];
    // Long lines are broken at spaces.
    let text = document.split_whitespace().collect::<Vec<_>>().join(" ");
    for length in [exact, unfolded].into_iter().chain(compact) {
        assert!(text.contains(&format!("= {length} bytes")), "{length}");
    }
}
