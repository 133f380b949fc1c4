/* What all files share: settings, counters, tables. */
#include "vmmc.h"

struct settings settings;
SHARED(struct counters, counters);
struct port ports[PORTS];
struct export exports[EXPORTS];
struct outgoing_page *outgoing_pages;
struct incoming_page *incoming_pages;
struct stream *streams;
PAGED_ARRAY(struct port_page, port_pages, PORTS);
