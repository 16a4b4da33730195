#include <libxml/HTMLparser.h>
#include <libxml/parser.h>
#include <libxml/xmlerror.h>

/// The value of `xmlSAXHandler.initialized` for handlers of version 2. In C because Swift does not import the macro.
static inline unsigned int xml2_handler_version(void) { return XML_SAX2_MAGIC; }
