/* Simulation of the app on the host: a Crazyflie that follows its setpoints, and a second robot with the same network. The
 * Crazyflie takes off, flocks, reaches its fence and lands. Failed checks end the program with a message. */

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crazyflie.h"
#include "wdgnn.h"

extern const uint8_t weights[], weights_end[], swarm_key[], swarm_key_end[];
#ifdef SEALED
#define ROBOT_TYPE wdgnn_flocking_p2p57_sealed
#else
#define ROBOT_TYPE wdgnn_flocking_p2p57
#endif

extern const struct variable wdgnnParameters[], wdgnnLog[];

static const void *variable(const struct variable *group, const char *name) {
    while (group->name != NULL && strcmp(group->name, name) != 0) {
        group++;
    }
    return group->at;
}

static void check(bool holds, const char *failure) {
    if (!holds) {
        printf("%s\n", failure);
        exit(1);
    }
}

/* Position, velocity and height of the app's robot. Position and velocity of the second robot, whose clock is AHEAD_TICKS
 * ahead. */
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
        wdgnn_robot_config config = {
            .address = 3,
            .weights = weights,
            .weights_bytes = (size_t)(weights_end - weights),
            .group_key = swarm_key,
            .group_key_bytes = (size_t)(swarm_key_end - swarm_key),
        };
        check(wdgnn_robot_create(&ROBOT_TYPE, memory, sizeof memory, &config, &peer) == WDGNN_ERROR_NONE, "the second robot is not created");
    }
    check(wdgnn_begin_tick(peer, tick, other, 4, 0) == WDGNN_ERROR_NONE, "the second robot rejects its state");
    P2PPacket packet = {.port = 7};
    size_t length;
    while (wdgnn_next_frame(peer, packet.data, sizeof packet.data, &length) == WDGNN_ERROR_NONE && length > 0) {
        packet.size = (uint8_t)length;
        if (callback != NULL) {
            callback(&packet);
        }
    }
    wdgnn_report report;
    check(wdgnn_end_tick(peer, &report) == WDGNN_ERROR_NONE, "the second robot has no command");
    other[0] += 0.01f * other[2];
    other[1] += 0.01f * other[3];
}

/* Checks the flight once per second. */
static void check_flight(uint32_t seconds) {
    uint8_t *fly = (uint8_t *)variable(wdgnnParameters, "fly");
    const uint8_t *neighbors = variable(wdgnnLog, "neighbors"), *error = variable(wdgnnLog, "error");
    switch (seconds) {
    case 4:
        check(setpoints == 0, "the robot flies before wdgnn.fly is set");
        check(*neighbors == 1, "the robot has no neighbor");
        *fly = 1;
        break;
    case 8:
        check(own_z > 0.55f && own_z < 0.65f, "the robot is not at its height");
        check(fabsf(own[2] - other[2]) < 0.15f && fabsf(own[3] - other[3]) < 0.15f, "the robot does not match the velocity of its neighbor");
        break;
    case 20:
        check(own[0] < 1.6f, "the robot is beyond its fence");
        check(own[0] > 1.3f, "the robot has not reached its fence");
        *fly = 0;
        break;
    case 24:
        check(own_z < 0.01f, "the robot has not landed");
        check(longest_packet <= 57 && packets_sent > 20 * 2 * 19, "the robot does not send 20 times per second");
        check(*error == 0, wdgnn_error_message(*error));
        printf("landed after %u packets of at most %u bytes\n", packets_sent, longest_packet);
        exit(0);
    default:
        break;
    }
}

static void millisecond(void) {
    milliseconds++;
    if (setpoints > 0) {
        /* A velocity controller with a time constant of 0.1 s. The height follows without delay. */
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
        check_flight(milliseconds / 1000);
    }
}

void vTaskDelay(TickType_t ticks) {
    while (ticks-- > 0) {
        millisecond();
    }
}

void vTaskDelayUntil(TickType_t *woken, TickType_t ticks) {
    *woken += ticks;
    check((int32_t)(*woken - milliseconds) >= 0, "a tick takes longer than its period");
    vTaskDelay(*woken - milliseconds);
}

TickType_t xTaskGetTickCount(void) { return milliseconds; }

static uint8_t queue[64][sizeof(P2PPacket)];
static unsigned put, taken;

QueueHandle_t xQueueCreateStatic(uint32_t length, uint32_t size, uint8_t *storage, StaticQueue_t *state) {
    check(length <= 64 && size == sizeof(P2PPacket) && storage != NULL, "invalid queue");
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
    check(priority == 3 && wanted->mode.x == modeVelocity && !wanted->velocity_body, "unexpected setpoint");
    setpoint = *wanted;
    setpoints++;
}

uint64_t configblockGetRadioAddress(void) { return 0xE7E7E7E702; }

void p2pRegisterCB(P2PCallback wanted) { callback = wanted; }

bool radiolinkSendP2PPacketBroadcast(P2PPacket *packet) {
    check(stored_bytes > 0, "the robot sends before its boot count is saved");
    packets_sent++;
    longest_packet = packet->size > longest_packet ? packet->size : longest_packet;
    P2PPacket received = *packet;
    wdgnn_sender sender;
    if (peer != NULL) {
        wdgnn_receive(peer, received.data, received.size, &sender);
    }
    return true;
}

bool storageStore(const char *key, const void *buffer, size_t length) {
    check(key != NULL && length <= sizeof stored, "the record is too long");
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
    check(false, "unknown log variable");
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
