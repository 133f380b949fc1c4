/* What all files share: settings, counters, the VIs. */
#include "via_fw.h"

struct settings set;
struct counter_word counters[COUNTERS] __attribute__((used, aligned(8)));
struct vi *vis;
