// Settings of SQLite for the whole process. Swift cannot call `sqlite3_config`, because it has a variable number of arguments.
#ifndef HESPER_SQLITE_CONFIGURATION_H
#define HESPER_SQLITE_CONFIGURATION_H

#include <sqlite3.h>

/// Turns off the statistics of allocated memory, which Hesper does not use. With them, SQLite locks a mutex of the whole process
/// for each allocation. The call has an effect only before SQLite is used for the first time; later it returns SQLITE_MISUSE.
static inline int sqlite_disable_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

#endif
