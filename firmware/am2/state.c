/* What all files share: routes, settings, counters, endpoints, doorbells. */
#include "am2.h"

PARAMETER(routes[NICS]);
struct settings settings;
SHARED(struct counters, counters);
struct endpoint endpoints[ENDPOINTS];
struct frame *frames, *frames_end, *frame_at[FRAMES];
struct arrival *arrivals;
DOORBELL_WORDS(FRAMES + 1);
