/* A world for the app on the host: a Crazyflie that does what its setpoints say, and a second robot beside it that flies the same
 * network. It takes off, flocks, is driven against its fence and lands, and everything that must hold is checked on the way. */

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crazyflie.h"
#include "wdgnn.h"

extern const uint8_t weights[], weights_end[], swarm_key[], swarm_key_end[];
#ifdef SEALED
#define KIND wdgnn_flocking_p2p57_sealed
#else
#define KIND wdgnn_flocking_p2p57
#endif

extern const struct variable wdgnnParameters[], wdgnnLog[];

static const void *variable(const struct variable *group, const char *name) {
    while (group->name != NULL && strcmp(group->name, name) != 0) {
        group++;
    }
    return group->at;
}

static void check(bool holds, const char *what) {
    if (!holds) {
        printf("%s\n", what);
        exit(1);
    }
}

/* Position, velocity and height of the app's robot; position and velocity of the other, which is some ticks ahead in time. */
static float own[4] = {0.0f, 0.0f, 0.0f, 0.0f}, own_z, other[4] = {0.8f, 0.3f, 0.3f, 0.0f};
enum { AHEAD_TICKS = 1000 };

static P2PCallback callback;
static unsigned packets_sent, longest_packet, setpoints;
static uint32_t milliseconds;
static setpoint_t setpoint;
static uint8_t stored[256];
static size_t stored_bytes;

static _Alignas(WDGNN_ALIGNMENT) uint8_t memory[16384];
static wdgnn_robot *peer;

static void second_robot(void) {
    uint32_t tick = AHEAD_TICKS + milliseconds / 10;
    if (peer == NULL) {
        wdgnn_settings settings = {
            .address = 3,
            .weights = weights,
            .weights_bytes = (size_t)(weights_end - weights),
            .key = swarm_key,
            .key_bytes = (size_t)(swarm_key_end - swarm_key),
        };
        check(wdgnn_create(&KIND, memory, sizeof memory, &settings, &peer) == WDGNN_ERROR_NONE, "no second robot");
    }
    check(wdgnn_sense(peer, tick, other, 4, 0) == WDGNN_ERROR_NONE, "the second robot knows its state");
    P2PPacket packet = {.port = 7};
    size_t length;
    while (wdgnn_speak(peer, packet.data, sizeof packet.data, &length) == WDGNN_ERROR_NONE && length > 0) {
        packet.size = (uint8_t)length;
        if (callback != NULL) {
            callback(&packet);
        }
    }
    wdgnn_report report;
    check(wdgnn_finish(peer, &report) == WDGNN_ERROR_NONE, "the second robot decides");
    other[0] += 0.01f * other[2];
    other[1] += 0.01f * other[3];
}

/* What there is to see of a flight. */
static void judge(uint32_t seconds) {
    uint8_t *fly = (uint8_t *)variable(wdgnnParameters, "fly");
    const uint8_t *neighbours = variable(wdgnnLog, "neighbours"), *error = variable(wdgnnLog, "error");
    switch (seconds) {
    case 4:
        check(setpoints == 0, "it flies without having been told to");
        check(*neighbours == 1, "it does not know the other one");
        *fly = 1;
        break;
    case 8:
        check(own_z > 0.55f && own_z < 0.65f, "it is not at its height");
        check(fabsf(own[2] - other[2]) < 0.15f && fabsf(own[3] - other[3]) < 0.15f, "it does not fly along");
        break;
    case 20:
        check(own[0] < 1.6f, "it flies beyond its fence");
        check(own[0] > 1.3f, "it has not come to its fence");
        *fly = 0;
        break;
    case 24:
        check(own_z < 0.01f, "it has not landed");
        check(longest_packet <= 57 && packets_sent > 20 * 2 * 19, "it does not speak 20 times a second");
        check(*error == 0, wdgnn_error_text(*error));
        printf("landed after %u packets of at most %u bytes\n", packets_sent, longest_packet);
        exit(0);
    default:
        break;
    }
}

static void millisecond(void) {
    milliseconds++;
    if (setpoints > 0) {
        /* A velocity controller of 0.1 s, and a height that follows at once. */
        own[2] += 0.01f * (setpoint.velocity.x - own[2]);
        own[3] += 0.01f * (setpoint.velocity.y - own[3]);
        own_z = setpoint.position.z;
        own[0] += 0.001f * own[2];
        own[1] += 0.001f * own[3];
    }
    if (milliseconds % 10 == 5) {
        second_robot();
    }
    if (milliseconds % 1000 == 0) {
        judge(milliseconds / 1000);
    }
}

void vTaskDelay(TickType_t ticks) {
    while (ticks-- > 0) {
        millisecond();
    }
}

void vTaskDelayUntil(TickType_t *woken, TickType_t ticks) {
    *woken += ticks;
    check((int32_t)(*woken - milliseconds) >= 0, "a tick is not done in its time");
    vTaskDelay(*woken - milliseconds);
}

TickType_t xTaskGetTickCount(void) { return milliseconds; }

static uint8_t queue[64][sizeof(P2PPacket)];
static unsigned put, taken;

QueueHandle_t xQueueCreateStatic(uint32_t length, uint32_t size, uint8_t *storage, StaticQueue_t *state) {
    check(length <= 64 && size == sizeof(P2PPacket) && storage != NULL, "a queue that cannot be");
    return (QueueHandle_t)state;
}

BaseType_t xQueueSend(QueueHandle_t to, const void *item, TickType_t wait) {
    (void)to, (void)wait;
    memcpy(queue[put++ % 64], item, sizeof(P2PPacket));
    return pdTRUE;
}

BaseType_t xQueueReceive(QueueHandle_t from, void *item, TickType_t wait) {
    (void)from, (void)wait;
    if (taken == put) {
        return pdFALSE;
    }
    memcpy(item, queue[taken++ % 64], sizeof(P2PPacket));
    return pdTRUE;
}

void commanderSetSetpoint(setpoint_t *wanted, int priority) {
    check(priority == 3 && wanted->mode.x == modeVelocity && !wanted->velocity_body, "another setpoint");
    setpoint = *wanted;
    setpoints++;
}

uint64_t configblockGetRadioAddress(void) { return 0xE7E7E7E702; }

void p2pRegisterCB(P2PCallback wanted) { callback = wanted; }

bool radiolinkSendP2PPacketBroadcast(P2PPacket *packet) {
    check(stored_bytes > 0, "it speaks before its boot count is kept");
    packets_sent++;
    longest_packet = packet->size > longest_packet ? packet->size : longest_packet;
    P2PPacket heard = *packet;
    wdgnn_sender sender;
    if (peer != NULL) {
        wdgnn_hear(peer, heard.data, heard.size, &sender);
    }
    return true;
}

bool storageStore(const char *key, const void *buffer, size_t length) {
    check(key != NULL && length <= sizeof stored, "a record that has no room");
    memcpy(stored, buffer, length);
    stored_bytes = length;
    return true;
}

size_t storageFetch(const char *key, void *buffer, size_t length) {
    (void)key, (void)buffer, (void)length;
    return 0;
}

logVarId_t logGetVarId(const char *group, const char *name) {
    static const char *const names[4] = {"x", "y", "vx", "vy"};
    for (logVarId_t index = 0; index < 4; index++) {
        if (strcmp(group, "stateEstimate") == 0 && strcmp(name, names[index]) == 0) {
            return index;
        }
    }
    check(false, "no such variable");
    return 0;
}

float logGetFloat(logVarId_t wanted) { return own[wanted]; }

void debugPrint(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

int main(void) {
    appMain();
    return 1;
}
