/* Measures the peak use of the stack: fills it with a pattern before main and finds the overwritten part afterwards. The
 * linker script defines both ends. */
#include <stddef.h>
#include <stdint.h>

#define PAINT 0xdeadbeefu

extern uint32_t stack_end[], stack_begin[]; /* the stack grows toward stack_end */

/* Leaves out the uppermost words, which the caller uses. */
static inline void stack_paint(void) {
    for (uint32_t *word = stack_end; word + 64 < stack_begin; word++) {
        *(volatile uint32_t *)word = PAINT;
    }
}

static inline size_t stack_used(void) {
    uint32_t *word = stack_end;
    while (word < stack_begin && *word == PAINT) {
        word++;
    }
    return (size_t)((uint8_t *)stack_begin - (uint8_t *)word);
}
