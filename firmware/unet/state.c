/* What all files share: settings, counters, endpoints, channels, doorbells. */
#include "unet.h"

struct settings settings;
SHARED(struct counters, counters);
struct endpoint endpoints[ENDPOINTS];
struct channel channels[CHANNELS];
uint8_t channel_of[TAGS];
DOORBELL_WORDS(ENDPOINTS + 1);
