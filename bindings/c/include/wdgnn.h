/* One robot of a swarm that flies a Wide and Deep Graph Neural Network, for firmware in C.
 *
 * A tick of 10 ms:   wdgnn_sense, wdgnn_speak until there is nothing more to say, wdgnn_hear for every frame, wdgnn_finish.
 *
 * Every function that returns wdgnn_error may be called with anything but pointers that lead to fewer bytes than they say: null,
 * misaligned or too little memory is an error like any other, and changes nothing. Nothing allocates, blocks, prints or panics.
 * A robot is for one thread at a time; different robots are independent of each other.
 *
 * Link with libwdgnn_c.a and -Wl,--gc-sections: kinds of robots that are not named are not linked. */


#ifndef WDGNN_H
#define WDGNN_H

/* Made by cbindgen from bindings/c/src. Change that, then: BLESS=1 cargo test -p system-tests --features c header */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Alignment in bytes of the memory for a robot or a listener.
#define WDGNN_ALIGNMENT 16

// Bytes that do for any robot in the plane on a processor of 32 bits, where memory is set aside when a program is compiled.
// wdgnn_robot_bytes tells how many a kind needs, anywhere.
#define WDGNN_PLANE_ROBOT_BYTES 10752

// The same for kinds whose key can change in flight.
#define WDGNN_REKEYABLE_ROBOT_BYTES 15360

// How many reasons to refuse a frame there are: from WDGNN_ERROR_REFUSED_TOO_SHORT on.
#define WDGNN_REFUSALS 19

// The most numbers that a command has.
#define WDGNN_MOST_COMMANDS 3

// The most numbers that a state has.
#define WDGNN_MOST_STATES 6

// What can go wrong. Zero is success.
enum wdgnn_error
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Nothing went wrong.
  WDGNN_ERROR_NONE = 0,
  // A pointer that is needed is null.
  WDGNN_ERROR_NULL = 1,
  // The memory does not begin on a multiple of WDGNN_ALIGNMENT.
  WDGNN_ERROR_MEMORY_MISALIGNED = 2,
  // The memory is smaller than asked for.
  WDGNN_ERROR_MEMORY_TOO_SMALL = 3,
  // There is no robot, or no listener, in this memory.
  WDGNN_ERROR_NOTHING_THERE = 4,
  // The buffer is too small.
  WDGNN_ERROR_BUFFER_TOO_SMALL = 5,
  // Another number of numbers than this kind has.
  WDGNN_ERROR_WRONG_COUNT = 6,
  // This kind is sealed and needs a key.
  WDGNN_ERROR_KEY_MISSING = 7,
  // This kind is not sealed, but a key was given.
  WDGNN_ERROR_KEY_UNUSED = 8,
  // The state was not finite, or far out of range: the last one was carried on.
  WDGNN_ERROR_STATE_REFUSED = 9,
  // The profile's short header cannot tell this address, boot or sequence.
  WDGNN_ERROR_UNSPEAKABLE = 10,
  // The record is damaged, or of another model: nothing was taken up but, if it was whole, the boot count.
  WDGNN_ERROR_RECORD_REFUSED = 11,
  // The network was trained for more exchanges than this link profile has.
  WDGNN_ERROR_EXCHANGE_RATE = 12,
  // The key is neither 16 bytes nor 32 hexadecimal digits.
  WDGNN_ERROR_KEY_MALFORMED = 13,
  // This kind changes its key in flight and needs a personal key.
  WDGNN_ERROR_PERSONAL_MISSING = 14,
  // This kind keeps its key, but a personal key or a roster was given.
  WDGNN_ERROR_PERSONAL_UNUSED = 15,
  // The roster is not of whole keys, or has more than 64.
  WDGNN_ERROR_ROSTER_MALFORMED = 16,
  // Not a weight file.
  WDGNN_ERROR_NOT_WEIGHTS = 20,
  // A weight file of an unknown version.
  WDGNN_ERROR_WEIGHTS_VERSION = 21,
  // The weight file is shorter or longer than it says.
  WDGNN_ERROR_WEIGHTS_TRUNCATED = 22,
  // The weight file is damaged.
  WDGNN_ERROR_WEIGHTS_CHECKSUM = 23,
  // The weight file holds a number that is not finite or out of range.
  WDGNN_ERROR_WEIGHTS_NOT_ADMISSIBLE = 24,
  // The weight file does not begin on a multiple of four bytes.
  WDGNN_ERROR_WEIGHTS_MISALIGNED = 25,
  // The weight file is refused for a reason that has no number yet.
  WDGNN_ERROR_WEIGHTS_OTHER = 29,
  // The weight file's network has another number of input features.
  WDGNN_ERROR_WEIGHTS_FEATURES = 30,
  // The weight file's network has another number of taps.
  WDGNN_ERROR_WEIGHTS_TAPS = 31,
  // The weight file's network has another number of hidden features.
  WDGNN_ERROR_WEIGHTS_HIDDEN = 32,
  // The weight file's network has another number of outputs.
  WDGNN_ERROR_WEIGHTS_OUTPUTS = 33,
  // The weight file's network has another number of layers.
  WDGNN_ERROR_WEIGHTS_LAYERS = 34,
  // The weight file is for another task.
  WDGNN_ERROR_WEIGHTS_TASK = 35,
  // The weight file has a code that this library does not know.
  WDGNN_ERROR_WEIGHTS_CODE = 36,
  // Frame refused: shorter than a header.
  WDGNN_ERROR_REFUSED_TOO_SHORT = 64,
  // Frame refused: another version of the protocol.
  WDGNN_ERROR_REFUSED_VERSION = 65,
  // Frame refused: another link profile.
  WDGNN_ERROR_REFUSED_PROFILE = 66,
  // Frame refused: another number of numbers.
  WDGNN_ERROR_REFUSED_DIMENSIONS = 67,
  // Frame refused: it ends before its content does.
  WDGNN_ERROR_REFUSED_TRUNCATED = 68,
  // Frame refused: bytes behind its content.
  WDGNN_ERROR_REFUSED_TRAILING = 69,
  // Frame refused: the sender flies another model.
  WDGNN_ERROR_REFUSED_MODEL = 70,
  // Frame refused: a number that is not finite or out of range.
  WDGNN_ERROR_REFUSED_NOT_ADMISSIBLE = 71,
  // Frame refused: one's own address.
  WDGNN_ERROR_REFUSED_ECHO = 72,
  // Frame refused: not newer than what was last heard of its sender.
  WDGNN_ERROR_REFUSED_OLD = 73,
  // Frame refused: a newcomer, and the table is full.
  WDGNN_ERROR_REFUSED_TABLE_FULL = 74,
  // Frame refused: more frames in one tick than are looked at.
  WDGNN_ERROR_REFUSED_FLOOD = 75,
  // Frame refused: not sealed with the swarm's key.
  WDGNN_ERROR_REFUSED_FORGED = 76,
  // Frame refused: a recording.
  WDGNN_ERROR_REFUSED_REPLAYED = 77,
  // Frame refused: sealed, but not of these ticks.
  WDGNN_ERROR_REFUSED_UNTIMELY = 78,
  // Frame refused: one more sealed sender than there is room for.
  WDGNN_ERROR_REFUSED_TOO_MANY_SENDERS = 79,
  // Frame refused: it contradicts what its sender said before, or what an honest robot can say.
  WDGNN_ERROR_REFUSED_IMPLAUSIBLE = 80,
  // Frame refused: sealed in the name of somebody who does not exist in this swarm.
  WDGNN_ERROR_REFUSED_UNLISTED = 81,
  // Frame refused: it brings a key, which was taken up or is handed on, and is no beacon. All is well.
  WDGNN_ERROR_REFUSED_NEW_KEY = 82,
  // Frame refused for a reason that has no number yet.
  WDGNN_ERROR_REFUSED_OTHER = 127,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum wdgnn_error wdgnn_error;
#else
typedef int32_t wdgnn_error;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What the safety gate did to a command.
enum wdgnn_verdict
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Passed on as the network said.
  WDGNN_VERDICT_CLEAR = 0,
  // Limited to what the robot can do, or changed by the task's last look.
  WDGNN_VERDICT_LIMITED = 1,
  // The network's output was not finite: the task's fallback was taken.
  WDGNN_VERDICT_NOT_FINITE = 2,
  // Nobody around, just now: keep going.
  WDGNN_VERDICT_ALONE_HOLD = 3,
  // Nobody around for a while: slow down.
  WDGNN_VERDICT_ALONE_SLOW = 4,
  // Nobody around for long: come to rest.
  WDGNN_VERDICT_ALONE_STOP = 5,
  // The robot does not know where it is. There is no command: come to rest by means of your own.
  WDGNN_VERDICT_BLIND = 6,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum wdgnn_verdict wdgnn_verdict;
#else
typedef uint8_t wdgnn_verdict;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A kind of robots: a task on a link profile, sealed or not.
typedef struct wdgnn_kind wdgnn_kind;

// A listener, in the caller's memory.
typedef struct wdgnn_listener wdgnn_listener;

// A robot, in the caller's memory.
typedef struct wdgnn_robot wdgnn_robot;

// What a robot is made of.
typedef struct wdgnn_settings {
  // The robot's address, its own in the swarm.
  uint16_t address;
  // A weight file's bytes, on a multiple of four. They are read where they are, and must stay there unchanged: in flash.
  const uint8_t *weights;
  // How many.
  size_t weights_bytes;
  // The swarm's key, for a sealed kind: 16 bytes as they are or 32 hexadecimal digits. It is copied. Null, or no bytes, for others.
  const uint8_t *key;
  // How many bytes that is.
  size_t key_bytes;
  // How often the robot was started. On a sealed link no count may come twice: restore a record, or draw this by chance.
  uint32_t boot;
  // How many robots the swarm has, with addresses from 0 on: a sealed robot hears nobody else. 0 hears everybody.
  uint16_t robots;
  // For a rekeyable kind, the epoch of the swarm's key in `key`: 0 for the first.
  uint8_t epoch;
  // For a rekeyable kind, the robot's personal key, as `host-sim key robots` makes it: like `key`.
  const uint8_t *personal;
  // How many bytes that is.
  size_t personal_bytes;
  // Where names have to be proven, the keys by which others prove theirs to this robot, by address: 16 bytes each, as they are. They are
  // read where they are, and must stay there unchanged. Null where names are not proven.
  const uint8_t *roster;
  // How many bytes that is: at most 64 keys.
  size_t roster_bytes;
} wdgnn_settings;

// Whose frame it was.
typedef struct wdgnn_sender {
  // Whether it is a swarm member's: all else means something only then. On a sealed link its seal could be opened.
  bool member;
  // Its address.
  uint16_t address;
  // How often it was started.
  uint32_t boot;
  // The tick in which it spoke, by its own clock.
  uint32_t tick;
} wdgnn_sender;

// What came of a tick.
typedef struct wdgnn_report {
  // The tick's number.
  uint32_t tick;
  // Frames heard in it, refused ones included.
  uint32_t heard;
  // The command, in as many numbers as wdgnn_command_numbers says: for flocking an acceleration in m/s².
  float command[WDGNN_MOST_COMMANDS];
  // What the safety gate did to it.
  wdgnn_verdict verdict;
  // Neighbours known after hearing.
  uint8_t neighbours;
  // Neighbours forgotten.
  uint8_t forgotten;
  // Neighbours whose parameters were mixed in.
  uint8_t mixed;
  // The epoch of the swarm's key that the robot uses.
  uint8_t epoch;
  // A key has come, or come into use, that no record has yet: call wdgnn_store now, and keep what it writes.
  bool store;
} wdgnn_report;

// Counted since the robot was created. Counters stop at their largest number.
typedef struct wdgnn_counts {
  // Frames heard, refused ones included.
  uint32_t heard;
  // Frames refused: by error, less WDGNN_ERROR_REFUSED_TOO_SHORT.
  uint32_t refused[WDGNN_REFUSALS];
  // Ticks without a state that could be used.
  uint32_t unsensed;
  // Frames that could not be written.
  uint32_t unspoken;
  // Ticks in which the robot did not know where it is.
  uint32_t blind;
} wdgnn_counts;

// A neighbour that a robot knows.
typedef struct wdgnn_neighbour_state {
  // Its address.
  uint16_t address;
  // Whether what it says counts.
  bool counts;
  // The tick in which it was last heard.
  uint32_t heard;
  // Its state, carried on to this tick, in as many numbers as wdgnn_state_numbers says.
  float state[WDGNN_MOST_STATES];
} wdgnn_neighbour_state;

// What a frame says. Pointers lead into the listener, and hold until it reads the next frame.
typedef struct wdgnn_beacon {
  // Who sent it.
  uint16_t sender;
  // How many neighbours the sender has.
  uint8_t degree;
  // How often the sender was started.
  uint32_t boot;
  // Its count of frames.
  uint32_t sequence;
  // Its state: as many numbers as wdgnn_state_numbers says.
  const float *state;
  // The taps that the frame carries: the first of them,
  const float *taps;
  // its place among all taps,
  uint16_t taps_from;
  // and the place behind the last.
  uint16_t taps_to;
  // The wide parameters that the frame carries, likewise.
  const float *wide;
  // The first one's place.
  uint16_t wide_from;
  // The place behind the last.
  uint16_t wide_to;
} wdgnn_beacon;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Flocking in the plane; everything in single precision, an exchange in every tick. State: x, y, vx, vy. Command: ax, ay.
extern const struct wdgnn_kind wdgnn_flocking_exact;

// The same, sealed.
extern const struct wdgnn_kind wdgnn_flocking_exact_sealed;

// The same, with a key that can change in flight.
extern const struct wdgnn_kind wdgnn_flocking_exact_rekeyable;

// Flocking in the plane on IEEE 802.15.4.
extern const struct wdgnn_kind wdgnn_flocking_dot154;

// The same, sealed.
extern const struct wdgnn_kind wdgnn_flocking_dot154_sealed;

// The same, with a key that can change in flight.
extern const struct wdgnn_kind wdgnn_flocking_dot154_rekeyable;

// Flocking in the plane on ESP-NOW.
extern const struct wdgnn_kind wdgnn_flocking_espnow;

// The same, sealed.
extern const struct wdgnn_kind wdgnn_flocking_espnow_sealed;

// The same, with a key that can change in flight.
extern const struct wdgnn_kind wdgnn_flocking_espnow_rekeyable;

// Flocking in the plane on the nRF24's 32 bytes.
extern const struct wdgnn_kind wdgnn_flocking_esb32;

// The same, sealed.
extern const struct wdgnn_kind wdgnn_flocking_esb32_sealed;

// The same, with a key that can change in flight.
extern const struct wdgnn_kind wdgnn_flocking_esb32_rekeyable;

// Flocking in the plane on a Crazyflie's peer-to-peer packets.
extern const struct wdgnn_kind wdgnn_flocking_p2p57;

// The same, sealed.
extern const struct wdgnn_kind wdgnn_flocking_p2p57_sealed;

// The same, with a key that can change in flight.
extern const struct wdgnn_kind wdgnn_flocking_p2p57_rekeyable;

// Flocking in space; as wdgnn_flocking_exact. State: x, y, z, vx, vy, vz. Command: ax, ay, az.
extern const struct wdgnn_kind wdgnn_flocking_3d_exact;

// Coverage of the plane; as wdgnn_flocking_exact.
extern const struct wdgnn_kind wdgnn_coverage_exact;

// A sentence about an error. Never null.
const char *wdgnn_error_text(int32_t error);

// Bytes of memory that a robot of this kind needs, on a multiple of WDGNN_ALIGNMENT. Zero for null.
size_t wdgnn_robot_bytes(const struct wdgnn_kind *kind);

// Bytes of memory that a listener of this kind needs, likewise.
size_t wdgnn_listener_bytes(const struct wdgnn_kind *kind);

// Bytes of the longest frame of this kind: what a buffer to speak into must hold.
size_t wdgnn_frame_bytes(const struct wdgnn_kind *kind);

// Bytes of the longest record that a robot of this kind stores.
size_t wdgnn_record_bytes(const struct wdgnn_kind *kind);

// Frames that a robot of this kind speaks per exchange.
size_t wdgnn_frames(const struct wdgnn_kind *kind);

// Ticks of 10 ms from one exchange to the next. Robots take turns: the one with address i speaks in ticks i, i + this, ….
size_t wdgnn_interval(const struct wdgnn_kind *kind);

// Numbers in a state of this kind.
size_t wdgnn_state_numbers(const struct wdgnn_kind *kind);

// Numbers in a command of this kind.
size_t wdgnn_command_numbers(const struct wdgnn_kind *kind);

// Makes a robot in `memory` and tells where it is: there. The memory may be moved or given back at any time; nothing is to be undone.
wdgnn_error wdgnn_create(const struct wdgnn_kind *kind,
                         uint8_t *memory,
                         size_t bytes,
                         const struct wdgnn_settings *settings,
                         struct wdgnn_robot **robot);

// First in a tick: the robot's own state and its age in ticks. Null where there is none, and the last one is carried on: after
// 25 ticks the robot is blind. Ticks may be skipped, never repeated.
wdgnn_error wdgnn_sense(struct wdgnn_robot *robot,
                        uint32_t tick,
                        const float *state,
                        size_t numbers,
                        uint32_t age);

// Writes the next frame of this tick to `buffer` and tells its length: 0 when there is nothing more to say. To be called until then.
wdgnn_error wdgnn_speak(struct wdgnn_robot *robot,
                        uint8_t *frame,
                        size_t bytes,
                        size_t *length);

// Takes in a frame that was heard in this tick. A sealed one is opened where it lies. `sender`, unless it is null, is told whose it is, if a
// swarm member's: also of one that was refused because its sender's clock is another. A frame that brings the swarm's next key is taken
// like any other, from the radio or from the operator: WDGNN_ERROR_REFUSED_NEW_KEY says that it was.
wdgnn_error wdgnn_hear(struct wdgnn_robot *robot,
                       uint8_t *frame,
                       size_t bytes,
                       struct wdgnn_sender *sender);

// Last in a tick: what the robot is to do now, and what it did with what it heard. It learns in this call, too.
wdgnn_error wdgnn_finish(struct wdgnn_robot *robot,
                         struct wdgnn_report *report);

// What was counted since the robot was created.
wdgnn_error wdgnn_counters(const struct wdgnn_robot *robot, struct wdgnn_counts *counters);

// The neighbour in this place of the robot's table, by ascending address; WDGNN_ERROR_NOTHING_THERE behind the last.
wdgnn_error wdgnn_neighbour(const struct wdgnn_robot *robot,
                            size_t index,
                            struct wdgnn_neighbour_state *neighbour);

// The parameters that the robot learns in flight, and how many: they lie in the robot. Null if there is none.
const float *wdgnn_parameters(const struct wdgnn_robot *robot, size_t *count);

// Writes what the robot wants to know after its next start to `record` and tells its length. Once a second is often enough, because flash
// wears out; but at once when a report says so. There are keys in the record of a rekeyable kind.
wdgnn_error wdgnn_store(struct wdgnn_robot *robot,
                        uint8_t *record,
                        size_t bytes,
                        size_t *length);

// Takes up what was stored before a restart: parameters, if they are this model's, and the boot count, one more. Before the first tick;
// and before the first frame is sent the caller stores again and keeps that, so that no count comes twice.
wdgnn_error wdgnn_restore(struct wdgnn_robot *robot,
                          const uint8_t *record,
                          size_t bytes);

// Makes a listener in `memory`: it reads frames without being a robot. `model` is the checksum of the swarm's weight file, its last
// four bytes; the key as in the settings of a robot.
wdgnn_error wdgnn_listener_create(const struct wdgnn_kind *kind,
                                  uint8_t *memory,
                                  size_t bytes,
                                  uint32_t model,
                                  const uint8_t *key,
                                  size_t key_bytes,
                                  struct wdgnn_listener **listener);

// Reads a frame at tick `now`, which matters for sealed ones only. A sealed one is opened where it lies.
wdgnn_error wdgnn_frame_read(struct wdgnn_listener *listener,
                             uint32_t now,
                             uint8_t *frame,
                             size_t bytes,
                             struct wdgnn_beacon *beacon);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* WDGNN_H */
