/* Frame decoder of a ground station: reads one frame per line and prints its content.
 *
 *     listen PROFILE MODEL [KEY]
 *
 * MODEL is the checksum of the weight file and KEY the group key, both in hexadecimal. An input line is "TICK FRAME" with
 * the frame in hexadecimal. An output line is "sender boot_count sequence degree" and three lists: state, taps and wide
 * parameters. A list is the index of its first number and the numbers as 32 bits in hexadecimal. For a rejected frame, the
 * output line is "error CODE MESSAGE". */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wdgnn.h"

static const struct {
    const char *name;
    const wdgnn_robot_type *open, *sealed;
} profiles[] = {
    {"exact", &wdgnn_flocking_exact, &wdgnn_flocking_exact_sealed},
    {"dot154", &wdgnn_flocking_dot154, &wdgnn_flocking_dot154_sealed},
    {"espnow", &wdgnn_flocking_espnow, &wdgnn_flocking_espnow_sealed},
    {"esb32", &wdgnn_flocking_esb32, &wdgnn_flocking_esb32_sealed},
    {"p2p57", &wdgnn_flocking_p2p57, &wdgnn_flocking_p2p57_sealed},
};

static size_t parse_hex(const char *hex, uint8_t *bytes, size_t max) {
    size_t count = 0;
    unsigned byte;
    while (count < max && sscanf(hex + 2 * count, "%2x", &byte) == 1) {
        bytes[count++] = (uint8_t)byte;
    }
    return count;
}

static void print_list(size_t begin, const float *numbers, size_t count) {
    printf(" | %zu", begin);
    for (size_t index = 0; index < count; index++) {
        uint32_t bits;
        memcpy(&bits, &numbers[index], sizeof bits);
        printf(" %08x", (unsigned)bits);
    }
}

int main(int argc, char **argv) {
    static char line[4096];
    static uint8_t frame[2048];
    const wdgnn_robot_type *robot_type = NULL;
    for (size_t index = 0; argc > 2 && index < sizeof profiles / sizeof *profiles; index++) {
        if (strcmp(argv[1], profiles[index].name) == 0) {
            robot_type = argc > 3 ? profiles[index].sealed : profiles[index].open;
        }
    }
    if (robot_type == NULL) {
        fputs("usage: listen PROFILE MODEL [KEY]\n", stderr);
        return 2;
    }
    size_t bytes = wdgnn_listener_bytes(robot_type);
    void *memory = malloc(bytes); /* malloc aligns for any type */
    wdgnn_listener *listener;
    uint32_t model = (uint32_t)strtoul(argv[2], NULL, 16);
    const uint8_t *key = argc > 3 ? (const uint8_t *)argv[3] : NULL;
    size_t key_bytes = argc > 3 ? strlen(argv[3]) : 0;
    wdgnn_error error = wdgnn_listener_create(robot_type, memory, bytes, model, key, key_bytes, &listener);
    if (error != WDGNN_ERROR_NONE) {
        fprintf(stderr, "listen: %s\n", wdgnn_error_message(error));
        return 1;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *hex;
        uint32_t now = (uint32_t)strtoul(line, &hex, 10);
        size_t length = parse_hex(hex + strspn(hex, " "), frame, sizeof frame);
        wdgnn_message message;
        error = wdgnn_listener_read(listener, now, frame, length, &message);
        if (error != WDGNN_ERROR_NONE) {
            printf("error %d %s\n", (int)error, wdgnn_error_message(error));
            continue;
        }
        printf("%u %lu %lu %u", message.sender, (unsigned long)message.boot_count, (unsigned long)message.sequence, message.degree);
        print_list(0, message.state, wdgnn_state_len(robot_type));
        print_list(message.taps_begin, message.taps, (size_t)(message.taps_end - message.taps_begin));
        print_list(message.wide_begin, message.wide, (size_t)(message.wide_end - message.wide_begin));
        putchar('\n');
    }
    free(memory);
    return 0;
}
