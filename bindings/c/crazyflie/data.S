/* The weight file, and the group key of a sealed swarm. */
    .section .rodata.wdgnn, "a"
    .balign 8
    .global weights
weights:
    .incbin WEIGHTS
    .global weights_end
weights_end:
    .global swarm_key
swarm_key:
#ifdef KEY
    .incbin KEY
#endif
    .global swarm_key_end
swarm_key_end:
    .section .note.GNU-stack, "", %progbits
