/* A VI's states, and the commands that change them. */
#include "via_fw.h"

static uint32_t page_of(uint32_t number) { return CQ_PAGE + set.cqs + number; }

static void configure(struct vi *vi, uint64_t attributes, uint64_t peer)
{
    uint32_t level = FIELD(attributes, VI_ATTRIBUTES_RELIABILITY);
    vi->tag = (uint16_t)FIELD(attributes, VI_ATTRIBUTES_TAG);
    vi->owner = (uint8_t)FIELD(attributes, VI_ATTRIBUTES_OWNER);
    vi->reliable = level != NICBED_RELIABILITY_UNRELIABLE_DELIVERY;
    vi->rdma_write = FIELD(attributes, VI_ATTRIBUTES_RDMA_WRITE);
    vi->cq[SEND_QUEUE] = (uint8_t)FIELD(attributes, VI_ATTRIBUTES_SEND_CQ);
    vi->cq[RECEIVE_QUEUE] = (uint8_t)FIELD(attributes, VI_ATTRIBUTES_RECEIVE_CQ);
    vi->on_cq[SEND_QUEUE] = FIELD(attributes, VI_ATTRIBUTES_SEND_ON_CQ);
    vi->on_cq[RECEIVE_QUEUE] = FIELD(attributes, VI_ATTRIBUTES_RECEIVE_ON_CQ);
    vi->node = (uint8_t)FIELD(peer, VI_PEER_NODE);
    vi->peer = (uint16_t)FIELD(peer, VI_PEER_VI);
    vi->max_transfer = FIELD(peer, VI_PEER_MAX_TRANSFER);
    vi->route = FIELD(peer, VI_PEER_ROUTE);
    vi->header = (uint32_t)(PLACE(node(), HEADER_SOURCE) >> 32
                            | PLACE(vi->node, HEADER_DESTINATION) >> 32
                            | PLACE(NICBED_PROTOCOL_VIA, HEADER_PROTOCOL) >> 32);
}

static void create(struct vi *vi, uint32_t number, uint64_t tokens)
{
    uint16_t next = vi->next;
    bool listed = vi->listed;
    memset(vi, 0, sizeof *vi);
    vi->number = (uint16_t)number;
    vi->next = next;
    vi->listed = listed;
    vi->oldest = vi->again = NO_SLOT;
    vi->kind = NO_KIND;
    vi->queue[SEND_QUEUE].tokens = low(tokens);
    vi->queue[RECEIVE_QUEUE].tokens = high(tokens);
    vi->state = NICBED_VI_STATE_IDLE;
}

/* A command in a state that it is not for does nothing. False: later, once what was owed and given to
 * the link before is on its way; a packet of the connection before is none of the next one's. */
bool vi_command(uint32_t number, uint32_t command, uint64_t attributes, uint64_t peer,
                uint64_t tokens)
{
    static ticket_t quiet;
    static bool waiting;
    if (number >= set.vis)
        return true;
    struct vi *vi = &vis[number];
    uint32_t state = vi->state;
    if (vi->debtor && (command == NICBED_VI_COMMAND_CREATE || command == NICBED_VI_COMMAND_CONNECT
                       || command == NICBED_VI_COMMAND_ATTRIBUTES))
        return false;
    if (command == NICBED_VI_COMMAND_CREATE && state == NICBED_VI_STATE_CLOSED) {
        create(vi, number, tokens);
        page_open(page_of(number), FIELD(attributes, VI_ATTRIBUTES_OWNER));
    } else if (command == NICBED_VI_COMMAND_CONNECT && state == NICBED_VI_STATE_IDLE) {
        if (!waiting)
            quiet = engine_given[ENGINE_SEND];
        waiting = !link_sent(quiet);
        if (waiting)
            return false;
        vi->sequence = vi->unasked = vi->outstanding = vi->timeouts = vi->expected = 0;
        vi->oldest = vi->again = NO_SLOT;
        vi->kind = NO_KIND;
        vi->told = vi->watched = vi->probing = false;
        vi->patience = 0;
        vi->state = NICBED_VI_STATE_CONNECTED;
    } else if (command == NICBED_VI_COMMAND_DISCONNECT) {
        if (state != NICBED_VI_STATE_CLOSED)
            vi_error(vi);
        return true;
    } else if (command == NICBED_VI_COMMAND_IDLE) {
        if (state == NICBED_VI_STATE_ERROR)
            vi->state = NICBED_VI_STATE_IDLE;
        return true;
    } else if (command == NICBED_VI_COMMAND_DESTROY) {
        if (state != NICBED_VI_STATE_CLOSED) {
            vi_error(vi);
            page_close(page_of(number));
            vi->state = NICBED_VI_STATE_CLOSED;
        }
        return true;
    } else if (command != NICBED_VI_COMMAND_ATTRIBUTES) {
        return true;
    }
    configure(vi, attributes, peer);
    wake_vi(vi);
    return true;
}
