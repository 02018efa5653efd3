/* Machine-dependent functions of the example. */
#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>

void board_print(const char *text);
_Noreturn void board_exit(int status);
/* Peak stack use in bytes, or 0 if it is not measured. */
size_t board_stack_bytes(void);

#endif
