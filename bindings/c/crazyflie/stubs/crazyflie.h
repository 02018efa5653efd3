/* Stubs of the Crazyflie headers that the app includes, to compile and run it on the host. Names and signatures are those of
 * the firmware (commit 2a18fc2, August 2026). All headers in this folder include this one. */
#ifndef CRAZYFLIE_H
#define CRAZYFLIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* FreeRTOS.h, task.h, queue.h: one system tick is a millisecond. */
typedef uint32_t TickType_t;
typedef long BaseType_t;
typedef struct queue *QueueHandle_t;
typedef struct {
    uint8_t space[80];
} StaticQueue_t;
#define pdTRUE ((BaseType_t)1)
#define pdFALSE ((BaseType_t)0)
#define M2T(milliseconds) ((TickType_t)(milliseconds))
void vTaskDelay(TickType_t ticks);
void vTaskDelayUntil(TickType_t *woken, TickType_t ticks);
TickType_t xTaskGetTickCount(void);
QueueHandle_t xQueueCreateStatic(uint32_t length, uint32_t size, uint8_t *storage, StaticQueue_t *queue);
BaseType_t xQueueSend(QueueHandle_t queue, const void *item, TickType_t wait);
BaseType_t xQueueReceive(QueueHandle_t queue, void *item, TickType_t wait);

/* app.h */
void appMain(void);

/* stabilizer_types.h, commander.h */
typedef enum mode_e { modeDisable = 0, modeAbs, modeVelocity } stab_mode_t;
typedef struct {
    uint32_t timestamp;
    float x, y, z;
} vector_t;
typedef struct {
    uint32_t timestamp;
    float roll, pitch, yaw;
} attitude_t;
typedef struct setpoint_s {
    uint32_t timestamp;
    attitude_t attitude, attitudeRate;
    float thrust;
    vector_t position, velocity, acceleration;
    bool velocity_body;
    struct {
        stab_mode_t x, y, z, roll, pitch, yaw, quat;
    } mode;
} setpoint_t;
void commanderSetSetpoint(setpoint_t *setpoint, int priority);

/* configblock.h */
uint64_t configblockGetRadioAddress(void);

/* radiolink.h */
#define P2P_MAX_DATA_SIZE 60
typedef struct _P2PPacket {
    uint8_t size;
    uint8_t rssi;
    union {
        struct {
            uint8_t port;
            uint8_t data[P2P_MAX_DATA_SIZE];
        };
        uint8_t raw[P2P_MAX_DATA_SIZE + 1];
    };
} __attribute__((packed)) P2PPacket;
typedef void (*P2PCallback)(P2PPacket *);
void p2pRegisterCB(P2PCallback callback);
bool radiolinkSendP2PPacketBroadcast(P2PPacket *packet);

/* storage.h */
bool storageStore(const char *key, const void *buffer, size_t length);
size_t storageFetch(const char *key, void *buffer, size_t length);

/* static_mem.h */
#define NO_DMA_CCM_SAFE_ZERO_INIT

/* log.h, param.h: a group is a table in which world.c finds a variable by its name. */
typedef uint16_t logVarId_t;
logVarId_t logGetVarId(const char *group, const char *name);
float logGetFloat(logVarId_t variable);
struct variable {
    const char *name;
    const void *at;
};
#define PARAM_GROUP_START(group) extern const struct variable group##Parameters[]; const struct variable group##Parameters[] = {
#define PARAM_ADD(type, name, at) {#name, at},
#define PARAM_GROUP_STOP(group) {NULL, NULL}};
#define LOG_GROUP_START(group) extern const struct variable group##Log[]; const struct variable group##Log[] = {
#define LOG_ADD(type, name, at) {#name, at},
#define LOG_GROUP_STOP(group) {NULL, NULL}};

/* debug.h */
void debugPrint(const char *format, ...);
#define DEBUG_PRINT(...) debugPrint(DEBUG_MODULE ": " __VA_ARGS__)

#endif
