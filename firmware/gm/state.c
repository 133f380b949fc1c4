/* What all files share: settings, counters, messages, doorbells. */
#include "gm.h"

struct settings settings;
SHARED(struct counters, counters);
struct message messages[(PORTS - 1) * SEND_TOKENS];
DOORBELL_WORDS(PORTS);
