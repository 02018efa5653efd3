/* A swarm in one program: the robots, the radio between them and their motion.
 *
 * The program starts from the states in data.S. It prints a digest over every command and every parameter of every robot at
 * every tick, which equals that of `host-sim run` for this flight on every machine. boards/ has the machine-dependent
 * functions. Compile with -ffp-contract=off: a fused multiply-add rounds once where the simulator rounds twice. */

#include "board.h"
#include "wdgnn.h"

#ifndef ROBOT_TYPE
#define ROBOT_TYPE wdgnn_flocking_exact
#endif

/* From data.S: the weight file, the group key of a sealed swarm, and the start of the flight. */
extern const uint8_t weights[], weights_end[], swarm_key[], swarm_key_end[];
extern const struct {
    uint32_t robots, ticks;
    float radius, period;
    struct {
        float position[2], velocity[2];
    } start[];
} flight;

#ifdef OPERATOR
/* Keys of a swarm with key rotation, and key updates. The operator sends one update to robot 0 at every exchange from tick
 * `from` until tick `until`. */
enum { KEY_BYTES = 16, KEY_UPDATE_BYTES = 40 };
extern const struct {
    uint32_t from, until, frames, frames_at;
    /* For each robot its personal key and its peer keys. Then, from frames_at on, the key updates. */
    uint8_t keys[];
} operator;
static uint32_t sent_updates;

static void set_keys(wdgnn_robot_config *config, size_t robot, size_t count) {
    const uint8_t *keys = operator.keys + robot * (1 + count) * KEY_BYTES;
    config->swarm_size = (uint16_t)count;
    config->personal_key = keys;
    config->personal_key_bytes = KEY_BYTES;
    config->peer_keys = keys + KEY_BYTES;
    config->peer_keys_bytes = count * KEY_BYTES;
}

static void send_key_update(wdgnn_robot *robot, uint32_t now) {
    if (now % wdgnn_exchange_interval_ticks(&ROBOT_TYPE) == 0 && now >= operator.from && now < operator.until) {
        uint8_t frame[KEY_UPDATE_BYTES];
        for (size_t at = 0; at < KEY_UPDATE_BYTES; at++) {
            frame[at] = operator.keys[operator.frames_at + sent_updates % operator.frames * KEY_UPDATE_BYTES + at];
        }
        sent_updates++;
        wdgnn_receive(robot, frame, KEY_UPDATE_BYTES, NULL);
    }
}
#endif

/* Memory of all robots and their frames. */
static _Alignas(WDGNN_ALIGNMENT) uint8_t memory[MEMORY_BYTES];
static size_t used;

enum { MAX_ROBOTS = 50 };
static wdgnn_robot *robots[MAX_ROBOTS];
static float states[MAX_ROBOTS][4];
static uint8_t *frames[MAX_ROBOTS];
static size_t lengths[MAX_ROBOTS][4];
static float commands[MAX_ROBOTS][2];

static void *allocate(size_t bytes) {
    bytes = (bytes + WDGNN_ALIGNMENT - 1) / WDGNN_ALIGNMENT * WDGNN_ALIGNMENT;
    if (bytes > sizeof memory - used) {
        board_print("MEMORY_BYTES is too small\n");
        board_exit(1);
    }
    used += bytes;
    return memory + used - bytes;
}

static void check(wdgnn_error error) {
    if (error != WDGNN_ERROR_NONE) {
        board_print(wdgnn_error_message(error));
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

/* CRC-64/XZ. */
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

/* Compares squares, which needs no square root. */
static bool in_range(size_t a, size_t b) {
    float dx = states[a][0] - states[b][0], dy = states[a][1] - states[b][1];
    return dx * dx + dy * dy <= flight.radius * flight.radius;
}

static void tick(uint32_t now, size_t count, size_t frame_bytes) {
    /* All robots start the tick and send. */
    for (size_t robot = 0; robot < count; robot++) {
        check(wdgnn_begin_tick(robots[robot], now, states[robot], 4, 0));
        size_t index = 0;
        do {
            check(wdgnn_next_frame(robots[robot], frames[robot] + index * frame_bytes, frame_bytes, &lengths[robot][index]));
        } while (lengths[robot][index] != 0 && ++index < wdgnn_frames_per_exchange(&ROBOT_TYPE));
    }
    /* All robots receive the frames of the robots in range, and decide. */
    for (size_t robot = 0; robot < count; robot++) {
#ifdef OPERATOR
        if (robot == 0) {
            send_key_update(robots[robot], now);
        }
#endif
        for (size_t other = 0; other < count; other++) {
            if (other == robot || !in_range(robot, other)) {
                continue;
            }
            for (size_t index = 0; index < wdgnn_frames_per_exchange(&ROBOT_TYPE) && lengths[other][index] != 0; index++) {
                /* A copy, because wdgnn_receive decrypts in place. */
                static uint8_t received[640];
                for (size_t at = 0; at < lengths[other][index]; at++) {
                    received[at] = frames[other][index * frame_bytes + at];
                }
                wdgnn_error error = wdgnn_receive(robots[robot], received, lengths[other][index], NULL);
#ifdef OPERATOR
                /* Key updates and frames of the excluded robot return errors. */
                (void)error;
#else
                check(error);
#endif
            }
        }
        wdgnn_report report;
        check(wdgnn_end_tick(robots[robot], &report));
        commands[robot][0] = report.command[0];
        commands[robot][1] = report.command[1];
        size_t parameters;
        const float *wide = wdgnn_get_parameters(robots[robot], &parameters);
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
    size_t count = flight.robots, robot_bytes = wdgnn_robot_bytes(&ROBOT_TYPE), frame_bytes = wdgnn_max_frame_bytes(&ROBOT_TYPE);
    if (count > MAX_ROBOTS) {
        board_print("more than MAX_ROBOTS robots\n");
        board_exit(1);
    }
    for (size_t robot = 0; robot < count; robot++) {
        wdgnn_robot_config config = {
            .address = (uint16_t)robot,
            .weights = weights,
            .weights_bytes = (size_t)(weights_end - weights),
            .group_key = swarm_key,
            .group_key_bytes = (size_t)(swarm_key_end - swarm_key),
        };
#ifdef OPERATOR
        set_keys(&config, robot, count);
#endif
        check(wdgnn_robot_create(&ROBOT_TYPE, allocate(robot_bytes), robot_bytes, &config, &robots[robot]));
        frames[robot] = allocate(wdgnn_frames_per_exchange(&ROBOT_TYPE) * frame_bytes);
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
