/* A whole swarm in one program: robots of wdgnn.h, the air between them, and the world that they move in.
 *
 * It flies from the starting states in data.S and prints a digest of every command and every parameter of every robot in every
 * tick: the one that `host-sim swarm` prints for the same flight, on whatever it runs. Nothing but a C compiler is needed; what
 * differs from machine to machine is in boards/. Compile with -ffp-contract=off: a fused multiply-add rounds once where the
 * simulator rounds twice. */

#include "board.h"
#include "wdgnn.h"

#ifndef KIND
#define KIND wdgnn_flocking_exact
#endif

/* From data.S: the weight file, a sealed swarm's key, and the flight as the simulator begins it. */
extern const uint8_t weights[], weights_end[], swarm_key[], swarm_key_end[];
extern const struct {
    uint32_t robots, ticks;
    float radius, period;
    struct {
        float position[2], velocity[2];
    } start[];
} flight;

#ifdef OPERATOR
/* What a swarm's operator has told a rekeyable kind, and says in flight: in every exchange from a tick on until another, to robot 0. */
enum { KEY_BYTES = 16, NOTICE_BYTES = 40 };
extern const struct {
    uint32_t from, until, frames, frames_at;
    /* For every robot its personal key, then the keys by which others prove their names to it; then, from frames_at on, frames. */
    uint8_t keys[];
} operator;
static uint32_t brought;

static void told(wdgnn_settings *settings, size_t robot, size_t count) {
    const uint8_t *keys = operator.keys + robot * (1 + count) * KEY_BYTES;
    settings->robots = (uint16_t)count;
    settings->personal = keys;
    settings->personal_bytes = KEY_BYTES;
    settings->roster = keys + KEY_BYTES;
    settings->roster_bytes = count * KEY_BYTES;
}

static void bring_key(wdgnn_robot *robot, uint32_t now) {
    if (now % wdgnn_interval(&KIND) == 0 && now >= operator.from && now < operator.until) {
        uint8_t frame[NOTICE_BYTES];
        for (size_t at = 0; at < NOTICE_BYTES; at++) {
            frame[at] = operator.keys[operator.frames_at + brought % operator.frames * NOTICE_BYTES + at];
        }
        brought++;
        wdgnn_hear(robot, frame, NOTICE_BYTES, NULL);
    }
}
#endif

/* All the memory that there is: robots, then what they say. */
static _Alignas(WDGNN_ALIGNMENT) uint8_t memory[MEMORY_BYTES];
static size_t used;

enum { MOST_ROBOTS = 50 };
static wdgnn_robot *robots[MOST_ROBOTS];
static float states[MOST_ROBOTS][4];
static uint8_t *said[MOST_ROBOTS];
static size_t lengths[MOST_ROBOTS][4];
static float commands[MOST_ROBOTS][2];

static void *take(size_t bytes) {
    bytes = (bytes + WDGNN_ALIGNMENT - 1) / WDGNN_ALIGNMENT * WDGNN_ALIGNMENT;
    if (bytes > sizeof memory - used) {
        board_print("there is no memory left\n");
        board_exit(1);
    }
    used += bytes;
    return memory + used - bytes;
}

static void check(wdgnn_error error) {
    if (error != WDGNN_ERROR_NONE) {
        board_print(wdgnn_error_text(error));
        board_print("\n");
        board_exit(1);
    }
}

static void print_number(const char *name, uint64_t number, unsigned base, unsigned digits) {
    char text[24], *at = text + sizeof text;
    *--at = '\0';
    *--at = '\n';
    for (unsigned written = 0; written < digits || number != 0; written++) {
        *--at = "0123456789abcdef"[number % base];
        number /= base;
    }
    board_print(name);
    board_print(at);
}

/* CRC-64/XZ, bit by bit. */
static uint64_t digest;

static void digest_numbers(const float *numbers, size_t count) {
    for (size_t index = 0; index < count; index++) {
        union {
            float number;
            uint32_t bits;
        } word = {.number = numbers[index]};
        for (unsigned shift = 0; shift < 32; shift += 8) {
            digest ^= word.bits >> shift & 0xff;
            for (unsigned bit = 0; bit < 8; bit++) {
                digest = digest >> 1 ^ (0xc96c5795d7870f42u & -(digest & 1));
            }
        }
    }
}

/* Squares are compared: no square root is needed. */
static bool in_range(size_t a, size_t b) {
    float dx = states[a][0] - states[b][0], dy = states[a][1] - states[b][1];
    return dx * dx + dy * dy <= flight.radius * flight.radius;
}

static void tick(uint32_t now, size_t count, size_t frame_bytes) {
    /* Everybody senses and speaks, ... */
    for (size_t robot = 0; robot < count; robot++) {
        check(wdgnn_sense(robots[robot], now, states[robot], 4, 0));
        size_t index = 0;
        do {
            check(wdgnn_speak(robots[robot], said[robot] + index * frame_bytes, frame_bytes, &lengths[robot][index]));
        } while (lengths[robot][index] != 0 && ++index < wdgnn_frames(&KIND));
    }
    /* ... then everybody hears whoever is in range, and decides. */
    for (size_t robot = 0; robot < count; robot++) {
#ifdef OPERATOR
        if (robot == 0) {
            bring_key(robots[robot], now);
        }
#endif
        for (size_t other = 0; other < count; other++) {
            if (other == robot || !in_range(robot, other)) {
                continue;
            }
            for (size_t index = 0; index < wdgnn_frames(&KIND) && lengths[other][index] != 0; index++) {
                /* A copy: a sealed frame is opened where it lies, and others want to hear it, too. */
                static uint8_t heard[640];
                for (size_t at = 0; at < lengths[other][index]; at++) {
                    heard[at] = said[other][index * frame_bytes + at];
                }
                wdgnn_error error = wdgnn_hear(robots[robot], heard, lengths[other][index], NULL);
#ifdef OPERATOR
                /* Frames bring keys, and who was left out is not heard. */
                (void)error;
#else
                check(error);
#endif
            }
        }
        wdgnn_report report;
        check(wdgnn_finish(robots[robot], &report));
        commands[robot][0] = report.command[0];
        commands[robot][1] = report.command[1];
        size_t parameters;
        const float *wide = wdgnn_parameters(robots[robot], &parameters);
        digest_numbers(report.command, 2);
        digest_numbers(wide, parameters);
    }
    /* Uniformly accelerated motion, in the simulator's order of arithmetic. */
    for (size_t robot = 0; robot < count; robot++) {
        for (size_t axis = 0; axis < 2; axis++) {
            float period = flight.period, command = commands[robot][axis];
            float velocity = states[robot][2 + axis];
            states[robot][axis] += period * velocity + 0.5f * period * period * command;
            states[robot][2 + axis] += period * command;
        }
    }
}

int main(void) {
    size_t count = flight.robots, robot_bytes = wdgnn_robot_bytes(&KIND), frame_bytes = wdgnn_frame_bytes(&KIND);
    if (count > MOST_ROBOTS) {
        board_print("too many robots\n");
        board_exit(1);
    }
    for (size_t robot = 0; robot < count; robot++) {
        wdgnn_settings settings = {
            .address = (uint16_t)robot,
            .weights = weights,
            .weights_bytes = (size_t)(weights_end - weights),
            .key = swarm_key,
            .key_bytes = (size_t)(swarm_key_end - swarm_key),
        };
#ifdef OPERATOR
        told(&settings, robot, count);
#endif
        check(wdgnn_create(&KIND, take(robot_bytes), robot_bytes, &settings, &robots[robot]));
        said[robot] = take(wdgnn_frames(&KIND) * frame_bytes);
        for (size_t axis = 0; axis < 2; axis++) {
            states[robot][axis] = flight.start[robot].position[axis];
            states[robot][2 + axis] = flight.start[robot].velocity[axis];
        }
    }
    digest = UINT64_MAX;
    for (uint32_t now = 0; now < flight.ticks; now++) {
        tick(now, count, frame_bytes);
    }
    print_number("digest ", ~digest, 16, 16);
    print_number("robot_bytes ", robot_bytes, 10, 1);
    print_number("stack ", board_stack_bytes(), 10, 1);
    board_exit(0);
    return 0;
}
