//! Weight files, restart records and the tables of the normative document `docs/wire-format.md`.

use crate::common::prelude::*;
use wdgnn_core::weights::{self, Header, LayerDimensions, TaskSettings};
use wdgnn_link::encoding::exact::HEADER_LEN;
use wdgnn_robot::persist::RESERVED_TICKS;

/// Dimensions of the lengths in the document.
type PaperTaps = LayerTaps<4, 6, ()>;
type PaperWide = Filter<4, 6, 2>;

fn header() -> Header {
    let mut layers = [LayerDimensions::default(); weights::MAX_LAYERS];
    layers[0] = LayerDimensions { taps: 2, features: 2 };
    Header {
        activation: Activation::Relu,
        scale: Scale::Scaled(0.5),
        features: 1,
        hidden: 2,
        outputs: 1,
        layers,
        task: TaskSettings {
            task: Flocking::<2>::ID,
            numbers: [0.25, 0.5, 10.0, 0.125, 0.75, 0.0, 0.0, 0.0],
        },
        learning: Learning {
            step: 2.0,
            cooling: 50.0,
            ridge: 0.25,
            ball: 0.5,
            clip: 0.125,
            metric: GradientMetric::Euclidean,
            mixing: Mixing::Metropolis,
            through_clamp: true,
            ..Learning::OFF
        },
        interval: 4,
        lag: 0.06,
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
fn weight_files_are_the_bytes_in_the_document() {
    let golden = example("weights");
    let mut file = Aligned([0; 184]);
    assert_eq!(weights::write(&header(), &NUMBERS, &mut file.0), Ok(184));
    assert_eq!(file.0, *golden);
    let opened = Weights::open(&file.0).unwrap();
    assert_eq!(opened.header, header());
    assert_eq!(opened.numbers, NUMBERS);
    assert_eq!(opened.checksum.to_le_bytes(), golden[180..]);
}

#[test]
fn restarts_read_the_record_in_the_document_and_write_it_with_the_next_boot() {
    // α_D, α_W, β; A, a; B, b; R, ρ of one feature, two taps, one hidden feature: C = B·[1 1].
    static NUMBERS: [f32; 13] = [0.0; 13];
    type Net = Network<'static, 1, 2, 1, 2, Layer<'static, 2, 1, 1, EndOfStack>>;
    let network = Net::from_numbers(&NUMBERS, Activation::Relu, Scale::Sum).unwrap();
    let (model, state) = (Folded::new(network, GradientMetric::Paper), Signal([0.0]));
    let mut robot: Robot<_, _, 4> = node(1, model, Regression::<1, 2>::new(), Learning::OFF, state);
    let record = example("restart");
    let mut store = Flash { kept: Some(record.clone()), ..Flash::default() };
    assert_eq!(persist::restore(&mut robot, &mut store, &mut [0; 64]), Ok(true));
    assert_eq!(robot.agent().wide(), &Filter([[[1.0, 2.0]], [[3.0, 4.0]]]));
    assert_eq!(robot.link().boot_count(), 4);
    let saved = store.kept.unwrap();
    assert_eq!(saved[..4], record[..4]);
    assert_eq!(saved[4..8], 4_u32.to_le_bytes());
    // Zero ticks of uptime so far, and a minute of reserved ticks from the first one.
    assert_eq!(saved[8..12], record[8..12]);
    assert_eq!(robot.first_tick(), 0x2770);
    assert_eq!(saved[12..16], (0x2770 + RESERVED_TICKS).to_le_bytes());
    assert_eq!(saved[20..], record[20..]);
}

#[test]
fn the_document_lists_the_codes_in_the_bytes() {
    let document = document();
    let says = |field: &str, code: u8, meaning: &str| {
        let row = format!("| {field} | {code} | `{meaning}` |");
        assert!(document.contains(&row), "the document lacks {row}");
    };
    let byte_of = |header: &Header, offset: usize| {
        let mut file = [0; 184];
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
    ] {
        says("scale", byte_of(&Header { scale, ..header() }, 7), name);
    }
    let learning = header().learning;
    for metric in [GradientMetric::Paper, GradientMetric::Euclidean] {
        let learning = Learning { metric, ..learning };
        says("metric", byte_of(&Header { learning, ..header() }, 96), &format!("{metric:?}"));
    }
    for mixing in [Mixing::Alone, Mixing::Uniform, Mixing::Metropolis] {
        let learning = Learning { mixing, ..learning };
        says("mixing", byte_of(&Header { learning, ..header() }, 97), &format!("{mixing:?}"));
    }
}

#[test]
fn the_document_lists_every_error_and_length() {
    let document = document();
    let rows: Vec<usize> = FrameError::ALL
        .iter()
        .map(|refusal| document.find(&format!("\n| {} |", refusal.name())).expect("a row per refusal"))
        .collect();
    assert!(rows.is_sorted());
    assert!(document.contains(&format!("A header of {} bytes", weights::HEADER_BYTES)));
    assert!(document.contains(&format!("fewer than {HEADER_LEN} bytes")));
    let exact = exact::frame_len::<Motion, PaperTaps, PaperWide>();
    let unfolded = exact::frame_len::<Motion, PaperTaps, Filter<4, 6, 32>>();
    let compact = [
        Dot154::max_frame_len::<Motion, PaperTaps, PaperWide>(),
        EspNow::max_frame_len::<Motion, PaperTaps, PaperWide>(),
        Esb32::max_frame_len::<Motion, PaperTaps, PaperWide>(),
        P2p57::max_frame_len::<Motion, PaperTaps, PaperWide>(),
    ];
    // Lines wrap at spaces.
    let text = document.split_whitespace().collect::<Vec<_>>().join(" ");
    for length in [exact, unfolded].into_iter().chain(compact) {
        assert!(text.contains(&format!("= {length} bytes")), "{length}");
    }
}
