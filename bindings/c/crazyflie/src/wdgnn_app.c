/* A Crazyflie that flocks in the plane, at a fixed height: an app for the out-of-tree build of its firmware.
 *
 * Every 10 ms: position and velocity from the state estimator, two peer-to-peer packets when it is this robot's turn, everything that was
 * heard, and a velocity setpoint from the acceleration that the network asks for. A ground station sets the parameter wdgnn.fly to
 * 1 to take off and to 0 to land; what happens meanwhile is in the log group wdgnn.
 *
 * Never flown on hardware: see docs/crazyflie.md before you do. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "FreeRTOS.h"
#include "queue.h"
#include "task.h"

#include "app.h"
#include "commander.h"
#include "configblock.h"
#include "log.h"
#include "param.h"
#include "radiolink.h"
#include "static_mem.h"
#include "storage.h"

#define DEBUG_MODULE "WDGNN"
#include "debug.h"

#include "wdgnn.h"

/* From the object that the Makefile puts together: the weight file, and a sealed swarm's key. */
extern const uint8_t weights[], weights_end[], swarm_key[], swarm_key_end[];
#ifdef SEALED
#define KIND wdgnn_flocking_p2p57_sealed
#else
#define KIND wdgnn_flocking_p2p57
#endif

enum {
    PERIOD_MS = 10,
    /* Two packets take about 2 ms with the way over the serial line to the radio: four robots share a tick. */
    SLOT_MS = 2,
    SLOTS = 4,
    PORT = 7,
    PRIORITY = 3,
};
static const float PERIOD = 0.01f;
static const float CLIMB = 0.3f; /* m/s, up and down */
/* How far the commanded velocity may run ahead of the robot's own, in m/s. */
static const float AHEAD = 0.3f;
static const char RECORD[] = "wdgnn/record";

/* What a ground station sets. */
static uint8_t fly;
static float height = 0.6f; /* m */
static float fastest = 0.5f; /* m/s, on either axis */
static float fence = 1.5f; /* m from the place of take-off, on either axis */

/* What it sees. */
static uint8_t neighbours, verdict, lastError;
static uint32_t heard, refused;

NO_DMA_CCM_SAFE_ZERO_INIT static uint8_t memory[WDGNN_PLANE_ROBOT_BYTES] __attribute__((aligned(WDGNN_ALIGNMENT)));
static wdgnn_robot *robot;

static StaticQueue_t queueState;
static uint8_t queueStorage[16 * sizeof(P2PPacket)];
static QueueHandle_t packets;

/* In the radio's task: put aside, looked at later. */
static void received(P2PPacket *packet) {
    if (packet->port == PORT) {
        xQueueSend(packets, packet, 0);
    }
}

static bool good(wdgnn_error error) {
    if (error != WDGNN_ERROR_NONE) {
        lastError = (uint8_t)error;
    }
    return error == WDGNN_ERROR_NONE;
}

static float limited(float x, float low, float high) { return x < low ? low : x > high ? high : x; }

/* The robot, and what it learned before it was switched off. Its boot count is kept before it first speaks. */
static bool begin(void) {
    static uint8_t record[256];
    size_t length = 0;
    wdgnn_settings settings = {
        .address = (uint16_t)(configblockGetRadioAddress() & 0xff),
        .weights = weights,
        .weights_bytes = (size_t)(weights_end - weights),
        .key = swarm_key,
        .key_bytes = (size_t)(swarm_key_end - swarm_key),
    };
    wdgnn_error error = wdgnn_create(&KIND, memory, sizeof memory, &settings, &robot);
    if (!good(error)) {
        DEBUG_PRINT("%s\n", wdgnn_error_text(error));
        return false;
    }
    length = storageFetch(RECORD, record, sizeof record);
    if (length > 0) {
        good(wdgnn_restore(robot, record, length));
    }
    if (!good(wdgnn_store(robot, record, sizeof record, &length)) || !storageStore(RECORD, record, length)) {
        DEBUG_PRINT("the boot count cannot be kept\n");
#ifdef SEALED
        return false; /* a count that came twice would break the seal */
#endif
    }
    packets = xQueueCreateStatic(16, sizeof(P2PPacket), queueStorage, &queueState);
    p2pRegisterCB(received);
    return true;
}

static void speak(void) {
    static P2PPacket packet;
    size_t length = 0;
    packet.port = PORT;
    while (good(wdgnn_speak(robot, packet.data, sizeof packet.data, &length)) && length > 0) {
        packet.size = (uint8_t)length;
        radiolinkSendP2PPacketBroadcast(&packet);
    }
}

/* Everything that came since the last tick. Returns the latest tick that a swarm member told. */
static uint32_t hear(void) {
    static P2PPacket packet;
    uint32_t latest = 0;
    while (xQueueReceive(packets, &packet, 0) == pdTRUE) {
        wdgnn_sender sender = {0};
        heard++;
        if (wdgnn_hear(robot, packet.data, packet.size, &sender) != WDGNN_ERROR_NONE) {
            refused++;
        }
        if (sender.member && sender.tick > latest) {
            latest = sender.tick;
        }
    }
    return latest;
}

/* Velocities in the world's axes, a height, no turn. */
static void go(const float velocity[2], float z) {
    static setpoint_t setpoint;
    memset(&setpoint, 0, sizeof setpoint);
    setpoint.mode.x = setpoint.mode.y = modeVelocity;
    setpoint.velocity.x = velocity[0];
    setpoint.velocity.y = velocity[1];
    setpoint.velocity_body = false;
    setpoint.mode.z = modeAbs;
    setpoint.position.z = z;
    setpoint.mode.yaw = modeVelocity;
    commanderSetSetpoint(&setpoint, PRIORITY);
}

void appMain(void) {
    const logVarId_t sources[4] = {
        logGetVarId("stateEstimate", "x"),
        logGetVarId("stateEstimate", "y"),
        logGetVarId("stateEstimate", "vx"),
        logGetVarId("stateEstimate", "vy"),
    };
    float home[2] = {0.0f, 0.0f}, velocity[2] = {0.0f, 0.0f}, z = 0.0f;
    bool flying = false;
    uint32_t tick = 0;

    vTaskDelay(M2T(2000)); /* the estimator needs its time */
    while (!begin()) {
        vTaskDelay(M2T(1000));
    }
    const uint32_t interval = wdgnn_interval(&KIND);
    const uint32_t slot = (uint32_t)(configblockGetRadioAddress() & 0xff) / interval % SLOTS;
    TickType_t woken = xTaskGetTickCount();
    for (;;) {
        vTaskDelayUntil(&woken, M2T(PERIOD_MS));
        float state[4];
        for (int index = 0; index < 4; index++) {
            state[index] = logGetFloat(sources[index]);
        }
        good(wdgnn_sense(robot, tick, state, 4, 0));
        vTaskDelay(M2T(SLOT_MS * slot));
        speak();
        uint32_t latest = hear();
        wdgnn_report report;
        if (!good(wdgnn_finish(robot, &report))) {
            continue;
        }
        neighbours = report.neighbours;
        verdict = report.verdict;
        /* One time for all: whoever is behind catches up, and nobody ever goes back. */
        tick = latest > tick ? latest + 1 : tick + 1;

        if (fly != 0 && !flying) {
            memcpy(home, state, sizeof home);
            memset(velocity, 0, sizeof velocity);
            flying = true;
        }
        if (!flying) {
            continue;
        }
        float climb = fly != 0 ? CLIMB : -CLIMB;
        z = limited(z + climb * PERIOD, 0.0f, height);
        bool up = z >= height;
        for (int axis = 0; axis < 2; axis++) {
            float own = state[2 + axis], away = state[axis] - home[axis];
            velocity[axis] = limited(velocity[axis] + report.command[axis] * PERIOD, own - AHEAD, own + AHEAD);
            velocity[axis] = limited(velocity[axis], -fastest, fastest);
            bool outwards = (away > fence && velocity[axis] > 0.0f) || (away < -fence && velocity[axis] < 0.0f);
            /* At the fence, on the way up or down, and where it does not know where it is, it stays where it is. */
            if (outwards || !up || report.verdict == WDGNN_VERDICT_BLIND) {
                velocity[axis] = 0.0f;
            }
        }
        go(velocity, z);
        flying = fly != 0 || z > 0.0f;
    }
}

PARAM_GROUP_START(wdgnn)
PARAM_ADD(PARAM_UINT8, fly, &fly)
PARAM_ADD(PARAM_FLOAT, height, &height)
PARAM_ADD(PARAM_FLOAT, fastest, &fastest)
PARAM_ADD(PARAM_FLOAT, fence, &fence)
PARAM_GROUP_STOP(wdgnn)

LOG_GROUP_START(wdgnn)
LOG_ADD(LOG_UINT8, neighbours, &neighbours)
LOG_ADD(LOG_UINT8, verdict, &verdict)
LOG_ADD(LOG_UINT8, error, &lastError)
LOG_ADD(LOG_UINT32, heard, &heard)
LOG_ADD(LOG_UINT32, refused, &refused)
LOG_GROUP_STOP(wdgnn)
