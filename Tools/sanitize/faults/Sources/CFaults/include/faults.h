/// Adds one to the greatest number, which C leaves undefined.
int overflow(void);

/// Takes memory and forgets where it is.
void forget(void);
