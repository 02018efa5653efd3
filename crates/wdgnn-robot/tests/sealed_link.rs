//! A seal changes nothing about its profile but a tag: what it tells about itself, and where its room ends.

use crate::common;

use common::{
    beacons::{Full, Taps, Wide, encode, link, random_beacon},
    insider::Insider,
    seeded,
};
use wdgnn_core::{
    filter::{NoChain, Stacked},
    tasks::flocking::Motion,
    tensor::Filter,
};
use wdgnn_link::{
    encoding::{
        Codec,
        esb32::Esb32,
        exact::Exact,
        half::{Dot154, EspNow},
    },
    security::{
        aes::Aes,
        group_key::{Sealed, SealedEsb32, SealedWith},
        key::Key,
    },
};

const KEY: Key = *b"a swarm's secret";

/// Far more than a small radio's frame holds.
type HugeTaps = Stacked<16, 40, NoChain>;
type HugeWide = Filter<16, 40, 2>;

fn the_same_but_for_a_tag<C: Codec, const TAG: usize>(plain: &C, sealed: &SealedWith<C, Aes, TAG>) {
    fn told<P: Codec>(_: &P) -> (u32, usize, [usize; 2], [bool; 2]) {
        let bytes = [P::bytes::<Motion, Taps, Wide>(), P::bytes::<Motion, HugeTaps, HugeWide>()];
        let fits = [P::fits::<Motion, Taps, Wide>(), P::fits::<Motion, HugeTaps, HugeWide>()];
        (P::FRAMES, P::header_bytes(), bytes, fits)
    }
    let (frames, header, bytes, fits) = told(plain);
    assert_eq!(told(sealed), (frames, header, bytes.map(|bytes| bytes + TAG), fits));
    for folded in [true, false] {
        assert_eq!(SealedWith::<C, Aes, TAG>::profile(folded), C::profile(folded));
    }
    // Whose frame it is can be read by anybody.
    let beacon: Full = random_beacon(&mut seeded(1), 9, 7);
    let frame = encode(sealed, &beacon, 0, 0);
    let identity = SealedWith::<C, Aes, TAG>::identity(&frame, 7).unwrap();
    assert_eq!((identity.sender, identity.boot, identity.sequence), (9, 3, 7));
    assert_eq!(C::identity(&frame, 7), Some(identity));
    assert!(!format!("{sealed:?}").contains("97"), "it does not show its key");
    assert!(format!("{sealed:?}").starts_with("Sealed {"));
}

#[test]
fn a_sealed_profile_is_its_profile_and_a_tag() {
    the_same_but_for_a_tag(&Exact, &Sealed::new(Exact, &KEY));
    the_same_but_for_a_tag(&Dot154::default(), &Sealed::new(Dot154::default(), &KEY));
    the_same_but_for_a_tag(&EspNow::default(), &Sealed::new(EspNow::default(), &KEY));
    the_same_but_for_a_tag(&Esb32, &SealedEsb32::new(Esb32, &KEY));
    assert!(!Dot154::fits::<Motion, HugeTaps, HugeWide>(), "or nothing was asked");
}

#[test]
fn what_does_not_fit_is_not_sealed_and_what_just_fits_is() {
    fn sealed<const TAG: usize>(content: usize, room: usize) -> Option<usize> {
        let content = vec![7; content];
        let insider = Insider { codec: Dot154::default(), content: &content, flip: (0, 0) };
        let beacon: Full = random_beacon(&mut seeded(1), 9, 7);
        SealedWith::<_, Aes, TAG>::new(insider, &KEY).encode(
            &link::<Dot154>(),
            &beacon,
            0,
            0,
            &mut vec![0; room],
        )
    }
    let header = Dot154::header_bytes();
    // 640 bytes are the longest frame, tag included.
    for most in [640 - header - 8, 640 - header - 9, 100] {
        assert_eq!(sealed::<8>(most, 700), Some(header + most + 8));
    }
    for most in [640 - header - 4, 100] {
        assert_eq!(sealed::<4>(most, 700), Some(header + most + 4));
    }
    assert_eq!(sealed::<8>(640 - header - 7, 700), None);
    assert_eq!(sealed::<4>(640 - header - 3, 700), None);
    assert_eq!(sealed::<8>(660, 700), None);
    assert_eq!(sealed::<8>(100, header + 107), None, "a buffer that is a byte too short");
    assert_eq!(sealed::<8>(100, header + 108), Some(header + 108));
}
