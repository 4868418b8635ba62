/* A library of the agent's name with one fault of each kind that `cargo xtask valgrind` must find. */
#include <stdlib.h>

volatile int sink;

void Init_hakaru_agent(void) {
    volatile int *block = malloc(4 * sizeof *block);
    if (!block) return;
    block[4] = 1;
    free((void *)block);
    sink = block[0];
    free((void *)block);
}
