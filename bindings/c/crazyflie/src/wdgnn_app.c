/* Crazyflie app for 2D flocking at a fixed height, for the firmware's out-of-tree build.
 *
 * Every 10 ms, the app reads position and velocity from the state estimator, sends two peer-to-peer packets if it is the
 * robot's turn, processes the received packets, and integrates the commanded acceleration to a velocity setpoint. A ground
 * station sets the parameter wdgnn.fly to 1 to take off and to 0 to land. The log group wdgnn has the state of the app.
 *
 * Not tried on hardware: read docs/crazyflie.md before a flight. */

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

/* From data.S: the weight file, and the group key of a sealed swarm. */
extern const uint8_t weights[], weights_end[], swarm_key[], swarm_key_end[];
#ifdef SEALED
#define ROBOT_TYPE wdgnn_flocking_p2p57_sealed
#else
#define ROBOT_TYPE wdgnn_flocking_p2p57
#endif

enum {
    PERIOD_MS = 10,
    /* Two packets take about 2 ms, including the serial line to the radio. So four robots share a tick. */
    SLOT_MS = 2,
    SLOTS = 4,
    PORT = 7,
    PRIORITY = 3,
};
static const float PERIOD = 0.01f;
static const float CLIMB = 0.3f; /* m/s, up and down */
static const float MAX_VELOCITY_LEAD = 0.3f; /* m/s, of the setpoint over the estimated velocity */
static const char RECORD[] = "wdgnn/record";

/* Parameters. */
static uint8_t fly;
static float height = 0.6f; /* m */
static float maxSpeed = 0.5f; /* m/s, per axis */
static float fence = 1.5f; /* m from the takeoff position, per axis */

/* Log variables. */
static uint8_t neighbors, verdict, lastError;
static uint32_t received, rejected;

NO_DMA_CCM_SAFE_ZERO_INIT static uint8_t memory[WDGNN_MAX_2D_ROBOT_BYTES] __attribute__((aligned(WDGNN_ALIGNMENT)));
static wdgnn_robot *robot;

static StaticQueue_t queueState;
static uint8_t queueStorage[16 * sizeof(P2PPacket)];
static QueueHandle_t packets;

/* Queues a packet. The radio's task calls this function. */
static void onPacket(P2PPacket *packet) {
    if (packet->port == PORT) {
        xQueueSend(packets, packet, 0);
    }
}

static bool succeeded(wdgnn_error error) {
    if (error != WDGNN_ERROR_NONE) {
        lastError = (uint8_t)error;
    }
    return error == WDGNN_ERROR_NONE;
}

static float clamp(float x, float low, float high) { return x < low ? low : x > high ? high : x; }

/* Creates the robot, restores its record and saves the new boot count before the first packet. */
static bool start(void) {
    static uint8_t record[256];
    size_t length = 0;
    wdgnn_robot_config config = {
        .address = (uint16_t)(configblockGetRadioAddress() & 0xff),
        .weights = weights,
        .weights_bytes = (size_t)(weights_end - weights),
        .group_key = swarm_key,
        .group_key_bytes = (size_t)(swarm_key_end - swarm_key),
    };
    wdgnn_error error = wdgnn_robot_create(&ROBOT_TYPE, memory, sizeof memory, &config, &robot);
    if (!succeeded(error)) {
        DEBUG_PRINT("%s\n", wdgnn_error_message(error));
        return false;
    }
    length = storageFetch(RECORD, record, sizeof record);
    if (length > 0) {
        succeeded(wdgnn_restore(robot, record, length));
    }
    if (!succeeded(wdgnn_store(robot, record, sizeof record, &length)) || !storageStore(RECORD, record, length)) {
        DEBUG_PRINT("cannot save the boot count\n");
#ifdef SEALED
        return false; /* a repeated boot count would repeat nonces */
#endif
    }
    packets = xQueueCreateStatic(16, sizeof(P2PPacket), queueStorage, &queueState);
    p2pRegisterCB(onPacket);
    return true;
}

static void sendFrames(void) {
    static P2PPacket packet;
    size_t length = 0;
    packet.port = PORT;
    while (succeeded(wdgnn_next_frame(robot, packet.data, sizeof packet.data, &length)) && length > 0) {
        packet.size = (uint8_t)length;
        radiolinkSendP2PPacketBroadcast(&packet);
    }
}

/* Processes the packets since the last tick. Returns the latest tick of a swarm member. */
static uint32_t receiveFrames(void) {
    static P2PPacket packet;
    uint32_t latest = 0;
    while (xQueueReceive(packets, &packet, 0) == pdTRUE) {
        wdgnn_sender sender = {0};
        received++;
        if (wdgnn_receive(robot, packet.data, packet.size, &sender) != WDGNN_ERROR_NONE) {
            rejected++;
        }
        if (sender.is_member && sender.tick > latest) {
            latest = sender.tick;
        }
    }
    return latest;
}

/* Sets the velocity in world axes in m/s and the height in m, without rotation. */
static void setSetpoint(const float velocity[2], float z) {
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

    vTaskDelay(M2T(2000)); /* the estimator must converge */
    while (!start()) {
        vTaskDelay(M2T(1000));
    }
    const uint32_t interval = wdgnn_exchange_interval_ticks(&ROBOT_TYPE);
    const uint32_t slot = (uint32_t)(configblockGetRadioAddress() & 0xff) / interval % SLOTS;
    TickType_t woken = xTaskGetTickCount();
    for (;;) {
        vTaskDelayUntil(&woken, M2T(PERIOD_MS));
        float state[4];
        for (int index = 0; index < 4; index++) {
            state[index] = logGetFloat(sources[index]);
        }
        succeeded(wdgnn_begin_tick(robot, tick, state, 4, 0));
        vTaskDelay(M2T(SLOT_MS * slot));
        sendFrames();
        uint32_t latest = receiveFrames();
        wdgnn_report report;
        if (!succeeded(wdgnn_end_tick(robot, &report))) {
            continue;
        }
        neighbors = report.neighbors;
        verdict = report.verdict;
        /* A robot that is behind adopts the latest tick of the swarm. Ticks never go back. */
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
        z = clamp(z + climb * PERIOD, 0.0f, height);
        bool up = z >= height;
        for (int axis = 0; axis < 2; axis++) {
            float own = state[2 + axis], away = state[axis] - home[axis];
            velocity[axis] = clamp(velocity[axis] + report.command[axis] * PERIOD, own - MAX_VELOCITY_LEAD, own + MAX_VELOCITY_LEAD);
            velocity[axis] = clamp(velocity[axis], -maxSpeed, maxSpeed);
            bool outwards = (away > fence && velocity[axis] > 0.0f) || (away < -fence && velocity[axis] < 0.0f);
            /* The robot stops at the fence, during takeoff and landing, and without a valid position. */
            if (outwards || !up || report.verdict == WDGNN_VERDICT_BLIND) {
                velocity[axis] = 0.0f;
            }
        }
        setSetpoint(velocity, z);
        flying = fly != 0 || z > 0.0f;
    }
}

PARAM_GROUP_START(wdgnn)
PARAM_ADD(PARAM_UINT8, fly, &fly)
PARAM_ADD(PARAM_FLOAT, height, &height)
PARAM_ADD(PARAM_FLOAT, maxSpeed, &maxSpeed)
PARAM_ADD(PARAM_FLOAT, fence, &fence)
PARAM_GROUP_STOP(wdgnn)

LOG_GROUP_START(wdgnn)
LOG_ADD(LOG_UINT8, neighbors, &neighbors)
LOG_ADD(LOG_UINT8, verdict, &verdict)
LOG_ADD(LOG_UINT8, error, &lastError)
LOG_ADD(LOG_UINT32, received, &received)
LOG_ADD(LOG_UINT32, rejected, &rejected)
LOG_GROUP_STOP(wdgnn)
