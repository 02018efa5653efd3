//! Drivers on modelled radios.

extern crate std;

use std::{boxed::Box, vec, vec::Vec};

use super::{
    model::{Air, Wire},
    *,
};

const BYTES: usize = 28;
const TICK: u64 = 10_000;

type Modelled = Nrf24<Wire, Wire, Box<dyn FnMut() -> u32>>;

fn radio(air: &Air) -> Modelled {
    let ((spi, enable), clock) = (air.radio(), air.clone());
    let now: Box<dyn FnMut() -> u32> = Box::new(move || clock.now());
    Nrf24::new(spi, enable, &mut air.clone(), now, BYTES).unwrap()
}

fn frame(from: u8, number: u8) -> Vec<u8> {
    let mut frame = vec![from; BYTES];
    frame[1] = number;
    frame
}

fn heard(radio: &mut Modelled) -> Vec<Vec<u8>> {
    let mut buffer = [0; BYTES];
    core::iter::from_fn(|| {
        radio.receive(&mut buffer).unwrap().map(|received| buffer[..received.length].to_vec())
    })
    .collect()
}

#[test]
fn a_frame_goes_from_one_radio_to_another_and_tells_when_it_came() {
    let air = Air::default();
    let (mut one, mut two) = (radio(&air), radio(&air));
    air.wait(TICK);
    one.begin(0);
    one.send(&frame(1, 7)).unwrap();
    let sent = air.now();
    // Settling 130 µs and 144 µs on the air.
    air.wait(290);
    two.poll().unwrap();
    let mut buffer = [0; BYTES];
    let received = two.receive(&mut buffer).unwrap().unwrap();
    assert_eq!(buffer, frame(1, 7)[..]);
    assert_eq!(received.length, BYTES);
    let began = received.arrived.wrapping_sub(sent);
    assert!((120..=180).contains(&began), "{began} µs after it was handed over");
    assert_eq!(two.receive(&mut buffer), Ok(None));
}

#[test]
fn all_frames_of_five_robots_in_one_exchange_arrive_though_the_radio_keeps_three() {
    let air = Air::default();
    let mut radios: Vec<Modelled> = (0..5).map(|_| radio(&air)).collect();
    for (index, radio) in (0..).zip(&mut radios) {
        radio.speak_at(450 * index);
    }
    let mut from: Vec<Vec<u8>> = vec![vec![]; 5];
    for number in 0..20 {
        for (index, radio) in (0..).zip(&mut radios) {
            radio.begin(u32::from(number));
            from[usize::from(index)].extend(heard(radio).iter().map(|frame| frame[0]));
            // Once in five ticks, as the profile has it: they listen in the other four all the same.
            if number % 5 == 0 {
                radio.send(&frame(index, number)).unwrap();
            }
        }
        for _ in 0..TICK / 200 {
            for radio in &mut radios {
                radio.poll().unwrap();
            }
            air.wait(100);
        }
    }
    for (index, heard) in from.iter().enumerate() {
        let others: Vec<u8> = (0..5).filter(|other| usize::from(*other) != index).collect();
        let expected = others.repeat(4);
        assert_eq!(*heard, expected, "robot {index}");
        assert_eq!(air.discarded(index), 0);
    }
}

#[test]
fn who_does_not_poll_hears_three() {
    let air = Air::default();
    let mut radios: Vec<Modelled> = (0..5).map(|_| radio(&air)).collect();
    let (listener, speakers) = radios.split_first_mut().unwrap();
    for (index, speaker) in (1..).zip(speakers) {
        speaker.begin(0);
        speaker.send(&frame(index, 0)).unwrap();
        air.wait(500);
        speaker.poll().unwrap();
    }
    listener.begin(1);
    assert_eq!(heard(listener).len(), 3);
    assert_eq!(air.discarded(0), 1);
}

#[test]
fn whatever_comes_at_whatever_time_is_heard_in_the_next_tick() {
    let air = Air::default();
    let (mut one, mut two) = (radio(&air), radio(&air));
    for number in 0..100 {
        one.begin(0);
        one.send(&frame(1, number)).unwrap();
        air.wait(700 + 97 * u64::from(number));
        one.poll().unwrap();
        two.begin(number.into());
        assert_eq!(heard(&mut two), [frame(1, number)], "frame {number}");
    }
}

#[test]
fn nothing_waits() {
    let air = Air::default();
    let (mut one, mut two) = (radio(&air), radio(&air));
    // On the modelled clock, nothing takes time but bytes over SPI, at a microsecond each.
    let took = |action: &mut dyn FnMut()| {
        let before = air.now();
        action();
        air.now() - before
    };
    assert!(took(&mut || one.begin(0)) < 20);
    assert!(took(&mut || one.send(&frame(1, 0)).unwrap()) < 60);
    assert!(took(&mut || assert_eq!(one.receive(&mut [0; BYTES]), Ok(None))) < 1);
    air.wait(300);
    assert!(took(&mut || two.begin(0)) < 60, "one packet");
    assert!(took(&mut || assert!(two.receive(&mut [0; BYTES]).unwrap().is_some())) < 1);
}

#[test]
fn two_at_once_spoil_each_other_and_both_listen_again() {
    let air = Air::default();
    let mut radios: Vec<Modelled> = (0..3).map(|_| radio(&air)).collect();
    for (index, radio) in (0..).zip(&mut radios[..2]) {
        radio.begin(0);
        radio.send(&frame(index, 0)).unwrap();
    }
    air.wait(1_000);
    for radio in &mut radios {
        radio.poll().unwrap();
    }
    air.wait(200);
    radios[2].begin(1);
    assert_eq!(heard(&mut radios[2]).len(), 0);
    radios[2].send(&frame(2, 1)).unwrap();
    air.wait(1_000);
    for radio in &mut radios[..2] {
        radio.begin(2);
        assert_eq!(heard(radio), [frame(2, 1)]);
    }
}

#[test]
fn a_second_frame_before_the_first_has_left_is_refused() {
    let air = Air::default();
    let mut one = radio(&air);
    one.begin(0);
    one.send(&frame(1, 0)).unwrap();
    assert_eq!(one.send(&frame(1, 1)), Err(Nrf24Failed::Stuck));
    air.wait(500);
    assert_eq!(one.send(&frame(1, 2)), Ok(()));
}

#[test]
fn frames_that_nobody_asks_for_are_counted() {
    let air = Air::default();
    let (mut one, mut two) = (radio(&air), radio(&air));
    for number in 0..40 {
        one.begin(0);
        one.send(&frame(1, number)).unwrap();
        air.wait(500);
        one.poll().unwrap();
        two.poll().unwrap();
    }
    assert_eq!(two.lost, 40 - KEPT as u32);
    assert_eq!(heard(&mut two).len(), KEPT);
}

#[test]
fn a_radio_that_comes_loose_costs_its_frames_and_comes_back() {
    let air = Air::default();
    let (mut one, mut two) = (radio(&air), radio(&air));
    air.loosen(1, true);
    for tick in 0..3 {
        two.begin(tick);
        assert_eq!(two.receive(&mut [0; BYTES]), Err(Nrf24Failed::Line));
        assert_eq!(two.send(&frame(2, 0)), Err(Nrf24Failed::Line));
        air.wait(TICK);
    }
    air.loosen(1, false);
    two.begin(3);
    assert_eq!(two.receive(&mut [0; BYTES]), Err(Nrf24Failed::Line), "it gets its settings");
    air.wait(TICK);
    two.begin(4);
    assert_eq!(two.receive(&mut [0; BYTES]), Ok(None), "it listens");
    air.wait(200);
    one.begin(4);
    one.send(&frame(1, 4)).unwrap();
    air.wait(TICK);
    two.begin(5);
    assert_eq!(heard(&mut two), [frame(1, 4)]);
}

#[test]
fn without_a_radio_and_with_frames_that_do_not_fit_there_is_no_start() {
    let air = Air::default();
    let (spi, enable) = air.radio();
    air.loosen(0, true);
    let start = |length| Nrf24::new(spi.clone(), enable.clone(), &mut air.clone(), || 0, length).err();
    assert_eq!(start(BYTES), Some(Nrf24Failed::Line));
    assert_eq!(start(33), Some(Nrf24Failed::Length));
    assert_eq!(start(0), Some(Nrf24Failed::Length));
    let mut one = radio(&air);
    assert_eq!(one.send(&[0; BYTES - 1]), Err(Nrf24Failed::Length));
}
