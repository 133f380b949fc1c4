// Runs a board's top, whose serial line is the pseudo-terminal, or socket, NICBED_UART_FD: what is
// written to its other end comes in by rx, what goes out by tx is read there. NICBED_DIVISOR clocks a bit, 8N1.
//
// Ends when the other end is closed. While nothing is under way it waits instead of clocking: the
// board's own time is of no meaning to anyone.

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <unistd.h>

#include "Vtop.h"
#include "verilated.h"

namespace {

constexpr unsigned DIVISOR = NICBED_DIVISOR;
constexpr unsigned LOOK = 100 * DIVISOR;     // clocks between looks for bytes to send
constexpr unsigned PAUSE = 20 * DIVISOR;     // clocks without a byte after which to hand on
// Clocks without anything after which to wait: a command that forgets the 65,536 pages of each of
// eight nodes, or of two that share their logic, takes as long.
constexpr unsigned PATIENCE = 600000;
constexpr uint8_t IDLE = 1;

Vtop* top;
int line;

[[noreturn]] void closed() {
    top->final();
    std::exit(0);
}

// Bytes from the back end, a bit every DIVISOR clocks.
struct Sender {
    unsigned left = 0;   // bits of the frame on the line
    unsigned clocks = 0;
    unsigned bits = 0;
    uint8_t buffer[4096];
    size_t next = 0, end = 0;

    bool idle() const { return left == 0 && next == end; }

    void fill(int wait) {
        pollfd one{line, POLLIN, 0};
        if (poll(&one, 1, wait) <= 0) return;
        ssize_t count = read(line, buffer, sizeof buffer);
        if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) closed();
        next = 0;
        end = count > 0 ? count : 0;
    }

    uint8_t bit() {
        if (left == 0) {
            if (next == end) return IDLE;
            bits = 0x200u | static_cast<unsigned>(buffer[next++]) << 1;
            left = 10;
            clocks = 0;
        }
        uint8_t value = bits & 1;
        if (++clocks == DIVISOR) {
            clocks = 0;
            bits >>= 1;
            left--;
        }
        return value;
    }
};

// Bytes from the board, taken in the middle of their bits, and handed on together: each time the
// back end's process wakes up costs more than many clocks here.
struct Receiver {
    unsigned clocks = 0;
    unsigned pause = 0;  // clocks since the last byte
    uint8_t buffer[512];
    size_t held = 0;
    unsigned count = 0;  // bits of the frame so far; 0: none has begun
    unsigned bits = 0;

    bool idle() const { return count == 0; }

    void flush() {
        for (size_t done = 0; done < held;) {
            ssize_t count = write(line, buffer + done, held - done);
            if (count > 0) done += count;
            else if (errno != EINTR && errno != EAGAIN) closed();
        }
        held = 0;
    }

    void take(uint8_t value) {
        if (count == 0) {
            if (value) {
                if (held && ++pause == PAUSE) flush();
                return;
            }
            count = 1;
            clocks = DIVISOR / 2;
            bits = 0;
            if (DIVISOR / 2 == 0) return;
        }
        if (clocks != 0) {
            clocks--;
            return;
        }
        clocks = DIVISOR - 1;
        if (count >= 2) bits |= static_cast<unsigned>(value) << (count - 2);
        if (++count == 11) {
            count = 0;
            if (!value) {
                std::fprintf(stderr, "nicbed: the board's line has no stop bit\n");
                std::exit(1);
            }
            buffer[held++] = bits & 0xFF;
            pause = 0;
            if (held == sizeof buffer) flush();
        }
    }
};

}  // namespace

int main(int argc, char** argv) {
    const char* descriptor = std::getenv("NICBED_UART_FD");
    if (!descriptor) {
        std::fprintf(stderr, "nicbed: NICBED_UART_FD is not set\n");
        return 2;
    }
    line = std::atoi(descriptor);
    Verilated::commandArgs(argc, argv);
    top = new Vtop;
    Sender sender;
    Receiver receiver;
    top->rst = 1;
    top->rx = IDLE;
    unsigned quiet = 0, look = 0;
    for (uint64_t clock = 0;; clock++) {
        if (clock == 8) top->rst = 0;
        if (sender.idle() && ++look >= LOOK) {
            look = 0;
            bool rests = quiet >= PATIENCE && !top->running;
            sender.fill(rests ? 1000 : 0);
            if (!sender.idle()) quiet = 0;
        }
        top->rx = sender.bit();
        top->clk = 0;
        top->eval();
        top->clk = 1;
        top->eval();
        receiver.take(top->tx);
        quiet = sender.idle() && receiver.idle() ? quiet + 1 : 0;
    }
}
