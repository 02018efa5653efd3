/* A ground station: reads frames, a line each, and tells what they say.
 *
 *     listen PROFILE MODEL [KEY]     lines "TICK HEX"; the model's checksum and the key are in hexadecimal
 *
 * A line is answered by "sender boot sequence degree" and three lists, each behind the place of its first number: state, taps, wide
 * parameters, every number as the 32 bits that it is; or by "refused" and the number and the sentence of the error. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wdgnn.h"

static const struct {
    const char *name;
    const wdgnn_kind *open, *sealed;
} profiles[] = {
    {"exact", &wdgnn_flocking_exact, &wdgnn_flocking_exact_sealed},
    {"dot154", &wdgnn_flocking_dot154, &wdgnn_flocking_dot154_sealed},
    {"espnow", &wdgnn_flocking_espnow, &wdgnn_flocking_espnow_sealed},
    {"esb32", &wdgnn_flocking_esb32, &wdgnn_flocking_esb32_sealed},
    {"p2p57", &wdgnn_flocking_p2p57, &wdgnn_flocking_p2p57_sealed},
};

static size_t bytes_of(const char *hex, uint8_t *bytes, size_t most) {
    size_t count = 0;
    unsigned byte;
    while (count < most && sscanf(hex + 2 * count, "%2x", &byte) == 1) {
        bytes[count++] = (uint8_t)byte;
    }
    return count;
}

static void print_list(size_t from, const float *numbers, size_t count) {
    printf(" | %zu", from);
    for (size_t index = 0; index < count; index++) {
        uint32_t bits;
        memcpy(&bits, &numbers[index], sizeof bits);
        printf(" %08x", (unsigned)bits);
    }
}

int main(int count, char **words) {
    static char line[4096];
    static uint8_t frame[2048];
    const wdgnn_kind *kind = NULL;
    for (size_t index = 0; count > 2 && index < sizeof profiles / sizeof *profiles; index++) {
        if (strcmp(words[1], profiles[index].name) == 0) {
            kind = count > 3 ? profiles[index].sealed : profiles[index].open;
        }
    }
    if (kind == NULL) {
        fputs("listen PROFILE MODEL [KEY]\n", stderr);
        return 2;
    }
    size_t bytes = wdgnn_listener_bytes(kind);
    void *memory = malloc(bytes); /* aligned for anything */
    wdgnn_listener *listener;
    uint32_t model = (uint32_t)strtoul(words[2], NULL, 16);
    const uint8_t *key = count > 3 ? (const uint8_t *)words[3] : NULL;
    size_t key_bytes = count > 3 ? strlen(words[3]) : 0;
    wdgnn_error error = wdgnn_listener_create(kind, memory, bytes, model, key, key_bytes, &listener);
    if (error != WDGNN_ERROR_NONE) {
        fprintf(stderr, "listen: %s\n", wdgnn_error_text(error));
        return 1;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *hex;
        uint32_t now = (uint32_t)strtoul(line, &hex, 10);
        size_t length = bytes_of(hex + strspn(hex, " "), frame, sizeof frame);
        wdgnn_beacon beacon;
        error = wdgnn_frame_read(listener, now, frame, length, &beacon);
        if (error != WDGNN_ERROR_NONE) {
            printf("refused %d %s\n", (int)error, wdgnn_error_text(error));
            continue;
        }
        printf("%u %lu %lu %u", beacon.sender, (unsigned long)beacon.boot, (unsigned long)beacon.sequence, beacon.degree);
        print_list(0, beacon.state, wdgnn_state_numbers(kind));
        print_list(beacon.taps_from, beacon.taps, (size_t)(beacon.taps_to - beacon.taps_from));
        print_list(beacon.wide_from, beacon.wide, (size_t)(beacon.wide_to - beacon.wide_from));
        putchar('\n');
    }
    free(memory);
    return 0;
}
