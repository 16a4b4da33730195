/// Overflows a signed integer, which is undefined behaviour.
int overflow(void);

/// Leaks memory.
void forget(void);
