#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

/// A locale with UTF-8 text; NULL if the system has none. In C because Swift does not import the macro LC_ALL_MASK.
static inline locale_t archives_utf8_locale(void) {
    locale_t locale = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
    return locale ? locale : newlocale(LC_ALL_MASK, "en_US.UTF-8", (locale_t)0);
}
