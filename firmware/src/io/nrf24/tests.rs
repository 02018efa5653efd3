//! Tests of the driver on modeled radios.

extern crate std;

use std::{boxed::Box, vec, vec::Vec};

use super::{
    model::{SharedChannel, Wire},
    *,
};

const BYTES: usize = 28;
const TICK: u64 = 10_000;

type ModeledRadio = Nrf24<Wire, Wire, Box<dyn FnMut() -> u32>>;

fn radio(channel: &SharedChannel) -> ModeledRadio {
    let ((spi, enable), clock) = (channel.radio(), channel.clone());
    let now: Box<dyn FnMut() -> u32> = Box::new(move || clock.now());
    Nrf24::new(spi, enable, &mut channel.clone(), now, BYTES).unwrap()
}

fn frame(from: u8, number: u8) -> Vec<u8> {
    let mut frame = vec![from; BYTES];
    frame[1] = number;
    frame
}

fn heard(radio: &mut ModeledRadio) -> Vec<Vec<u8>> {
    let mut buffer = [0; BYTES];
    core::iter::from_fn(|| {
        radio.receive(&mut buffer).unwrap().map(|received| buffer[..received.length].to_vec())
    })
    .collect()
}

#[test]
fn a_frame_arrives_with_its_arrival_time() {
    let channel = SharedChannel::default();
    let (mut one, mut two) = (radio(&channel), radio(&channel));
    channel.wait(TICK);
    one.begin(0);
    one.send(&frame(1, 7)).unwrap();
    let sent = channel.now();
    // 130 µs to settle and 144 µs on the channel.
    channel.wait(290);
    two.poll().unwrap();
    let mut buffer = [0; BYTES];
    let received = two.receive(&mut buffer).unwrap().unwrap();
    assert_eq!(buffer, frame(1, 7)[..]);
    assert_eq!(received.length, BYTES);
    let began = received.arrived_us.wrapping_sub(sent);
    assert!((120..=180).contains(&began), "{began} µs after send()");
    assert_eq!(two.receive(&mut buffer), Ok(None));
}

#[test]
fn all_frames_of_five_robots_arrive_though_the_radio_holds_three() {
    let channel = SharedChannel::default();
    let mut radios: Vec<ModeledRadio> = (0..5).map(|_| radio(&channel)).collect();
    for (index, radio) in (0..).zip(&mut radios) {
        radio.set_send_offset(450 * index);
    }
    let mut from: Vec<Vec<u8>> = vec![vec![]; 5];
    for number in 0..20 {
        for (index, radio) in (0..).zip(&mut radios) {
            radio.begin(u32::from(number));
            from[usize::from(index)].extend(heard(radio).iter().map(|frame| frame[0]));
            // One exchange in five ticks, as in the profile; the radios listen in all ticks.
            if number % 5 == 0 {
                radio.send(&frame(index, number)).unwrap();
            }
        }
        for _ in 0..TICK / 200 {
            for radio in &mut radios {
                radio.poll().unwrap();
            }
            channel.wait(100);
        }
    }
    for (index, heard) in from.iter().enumerate() {
        let others: Vec<u8> = (0..5).filter(|other| usize::from(*other) != index).collect();
        let expected = others.repeat(4);
        assert_eq!(*heard, expected, "robot {index}");
        assert_eq!(channel.dropped(index), 0);
    }
}

#[test]
fn without_polling_only_three_frames_arrive() {
    let channel = SharedChannel::default();
    let mut radios: Vec<ModeledRadio> = (0..5).map(|_| radio(&channel)).collect();
    let (listener, senders) = radios.split_first_mut().unwrap();
    for (index, sender) in (1..).zip(senders) {
        sender.begin(0);
        sender.send(&frame(index, 0)).unwrap();
        channel.wait(500);
        sender.poll().unwrap();
    }
    listener.begin(1);
    assert_eq!(heard(listener).len(), 3);
    assert_eq!(channel.dropped(0), 1);
}

#[test]
fn frames_that_arrive_at_any_time_are_delivered_in_the_next_tick() {
    let channel = SharedChannel::default();
    let (mut one, mut two) = (radio(&channel), radio(&channel));
    for number in 0..100 {
        one.begin(0);
        one.send(&frame(1, number)).unwrap();
        channel.wait(700 + 97 * u64::from(number));
        one.poll().unwrap();
        two.begin(number.into());
        assert_eq!(heard(&mut two), [frame(1, number)], "frame {number}");
    }
}

#[test]
fn no_function_blocks() {
    let channel = SharedChannel::default();
    let (mut one, mut two) = (radio(&channel), radio(&channel));
    // On the modeled clock only SPI bytes take time, 1 µs each.
    let took = |action: &mut dyn FnMut()| {
        let before = channel.now();
        action();
        channel.now() - before
    };
    assert!(took(&mut || one.begin(0)) < 20);
    assert!(took(&mut || one.send(&frame(1, 0)).unwrap()) < 60);
    assert!(took(&mut || assert_eq!(one.receive(&mut [0; BYTES]), Ok(None))) < 1);
    channel.wait(300);
    assert!(took(&mut || two.begin(0)) < 60, "one packet");
    assert!(took(&mut || assert!(two.receive(&mut [0; BYTES]).unwrap().is_some())) < 1);
}

#[test]
fn simultaneous_packets_are_lost_and_both_radios_listen_again() {
    let channel = SharedChannel::default();
    let mut radios: Vec<ModeledRadio> = (0..3).map(|_| radio(&channel)).collect();
    for (index, radio) in (0..).zip(&mut radios[..2]) {
        radio.begin(0);
        radio.send(&frame(index, 0)).unwrap();
    }
    channel.wait(1_000);
    for radio in &mut radios {
        radio.poll().unwrap();
    }
    channel.wait(200);
    radios[2].begin(1);
    assert_eq!(heard(&mut radios[2]).len(), 0);
    radios[2].send(&frame(2, 1)).unwrap();
    channel.wait(1_000);
    for radio in &mut radios[..2] {
        radio.begin(2);
        assert_eq!(heard(radio), [frame(2, 1)]);
    }
}

#[test]
fn a_second_frame_before_the_first_was_sent_is_rejected() {
    let channel = SharedChannel::default();
    let mut one = radio(&channel);
    one.begin(0);
    one.send(&frame(1, 0)).unwrap();
    assert_eq!(one.send(&frame(1, 1)), Err(Nrf24Error::Timeout));
    channel.wait(500);
    assert_eq!(one.send(&frame(1, 2)), Ok(()));
}

#[test]
fn packets_dropped_from_a_full_queue_are_counted() {
    let channel = SharedChannel::default();
    let (mut one, mut two) = (radio(&channel), radio(&channel));
    for number in 0..40 {
        one.begin(0);
        one.send(&frame(1, number)).unwrap();
        channel.wait(500);
        one.poll().unwrap();
        two.poll().unwrap();
    }
    assert_eq!(two.lost, 40 - QUEUE_LEN as u32);
    assert_eq!(heard(&mut two).len(), QUEUE_LEN);
}

#[test]
fn a_disconnected_radio_recovers_after_it_is_connected_again() {
    let channel = SharedChannel::default();
    let (mut one, mut two) = (radio(&channel), radio(&channel));
    channel.set_loose(1, true);
    for tick in 0..3 {
        two.begin(tick);
        assert_eq!(two.receive(&mut [0; BYTES]), Err(Nrf24Error::Bus));
        assert_eq!(two.send(&frame(2, 0)), Err(Nrf24Error::Bus));
        channel.wait(TICK);
    }
    channel.set_loose(1, false);
    two.begin(3);
    assert_eq!(two.receive(&mut [0; BYTES]), Err(Nrf24Error::Bus), "it is configured");
    channel.wait(TICK);
    two.begin(4);
    assert_eq!(two.receive(&mut [0; BYTES]), Ok(None), "it listens");
    channel.wait(200);
    one.begin(4);
    one.send(&frame(1, 4)).unwrap();
    channel.wait(TICK);
    two.begin(5);
    assert_eq!(heard(&mut two), [frame(1, 4)]);
}

#[test]
fn a_missing_radio_and_invalid_frame_lengths_are_rejected() {
    let channel = SharedChannel::default();
    let (spi, enable) = channel.radio();
    channel.set_loose(0, true);
    let start = |length| Nrf24::new(spi.clone(), enable.clone(), &mut channel.clone(), || 0, length).err();
    assert_eq!(start(BYTES), Some(Nrf24Error::Bus));
    assert_eq!(start(33), Some(Nrf24Error::Length));
    assert_eq!(start(0), Some(Nrf24Error::Length));
    let mut one = radio(&channel);
    assert_eq!(one.send(&[0; BYTES - 1]), Err(Nrf24Error::Length));
}
