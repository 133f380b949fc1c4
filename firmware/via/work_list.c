/* The list of VIs with work, in the order of their turns. */
#include "via_fw.h"

uint32_t vis_with_work;
static uint16_t first = NO_VI, last;

void wake_vi(struct vi *vi)
{
    if (vi->listed)
        return;
    vi->listed = true;
    vi->next = NO_VI;
    if (first == NO_VI)
        first = vi->number;
    else
        vis[last].next = vi->number;
    last = vi->number;
    vis_with_work++;
}

struct vi *next_vi(void)
{
    struct vi *vi = &vis[first];
    first = vi->next;
    vi->listed = false;
    vis_with_work--;
    return vi;
}
