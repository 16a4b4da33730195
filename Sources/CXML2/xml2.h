#include <libxml/xmlversion.h>
// libxml2 would include the headers of ICU, which define other versions of types that are in Foundation. Only a struct that is not
// used here depends on them.
#undef LIBXML_ICU_ENABLED

#include <libxml/HTMLparser.h>
#include <libxml/parser.h>
#include <libxml/xmlerror.h>

/// Replaces control characters, which XML does not allow, with spaces. In C because a test with a large file runs without
/// optimization.
static inline void xml2_replace_controls(unsigned char *bytes, long count) {
    for (long i = 0; i < count; i++)
        if (bytes[i] < 0x20 && bytes[i] != '\t' && bytes[i] != '\n' && bytes[i] != '\r') bytes[i] = ' ';
}

/// The value of `xmlSAXHandler.initialized` for handlers of version 2. In C because Swift does not import the macro.
static inline unsigned int xml2_handler_version(void) { return XML_SAX2_MAGIC; }
