/* Doorbell pages: who may write to them, and those that are words. */
#include "via_fw.h"

DOORBELL_WORDS(130); /* the mailbox's, and 64 VIs with as many completion queues */

enum { WORD_PAGES = sizeof doorbell_words / 16 };

uint32_t (*seen)[2];
uint16_t *open_pages;
uint32_t open_count;

/* As words there are no more VIs than pages for them. */
void doorbells_open(void)
{
    if (!set.words)
        return;
    seen = take_memory(WORD_PAGES * sizeof *seen, 4);
    open_pages = take_memory(WORD_PAGES * sizeof *open_pages, 2);
    if (set.vis > WORD_PAGES - CQ_PAGE - set.cqs)
        set.vis = WORD_PAGES - CQ_PAGE - set.cqs;
}

void page_open(uint32_t page, uint32_t owner)
{
    doorbell_allow(page, owner);
    if (!set.words)
        return;
    *doorbell_word(page, 0) = *doorbell_word(page, 8) = 0;
    seen[page][0] = seen[page][1] = 0;
    open_pages[open_count++] = (uint16_t)page;
}

void page_close(uint32_t page)
{
    doorbell_forbid(page);
    for (uint32_t i = 0; i < open_count; i++)
        if (open_pages[i] == page)
            open_pages[i--] = open_pages[--open_count];
}
