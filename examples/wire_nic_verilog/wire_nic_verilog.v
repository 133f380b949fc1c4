// A queue of frames to send, and a ring of slots to receive into: the logic of wire_nic_verilog.
// The registers are those of registers.py, the ports those of a NIC's socket, of which a module
// needs to have only what it uses (nicbed's docs/reference/nic-ports.md lists them).
module wire_nic_verilog #(
    parameter MTU = 1024,         // bytes of the longest frame
    parameter SLOTS = 32,         // slots of the ring, a power of two
    parameter SLOT_BYTES = 1088,  // from one slot to the next
    parameter DEPTH = 512         // flits of a queue, a power of two: two frames and more
) (
    input             clk, rst, ce,
    input             pio_valid, pio_write,
    output            pio_ready,
    input      [24:0] pio_address,
    input      [63:0] pio_data,
    input      [23:0] pio_trace,
    output reg        pio_answer_valid,
    output reg [63:0] pio_answer_data,

    output            dma_0_request_valid, dma_0_request_write,  // reads what is sent
    input             dma_0_request_ready,
    output     [31:0] dma_0_request_address,
    output     [9:0]  dma_0_request_beats,
    output     [23:0] dma_0_request_trace,
    output            dma_0_write_valid,
    input             dma_0_write_ready,
    output     [63:0] dma_0_write_data,
    output     [7:0]  dma_0_write_strobe,
    input             dma_0_read_valid,
    output            dma_0_read_ready,
    input      [63:0] dma_0_read_data,
    input             dma_0_done,

    output            dma_1_request_valid, dma_1_request_write,  // writes what comes
    input             dma_1_request_ready,
    output     [31:0] dma_1_request_address, dma_1_request_jump_address,
    output     [9:0]  dma_1_request_beats,
    output     [23:0] dma_1_request_trace,
    output            dma_1_write_valid, dma_1_write_jump,
    input             dma_1_write_ready,
    output     [63:0] dma_1_write_data,
    output     [7:0]  dma_1_write_strobe,
    input             dma_1_read_valid,
    output            dma_1_read_ready,
    input      [63:0] dma_1_read_data,
    input             dma_1_done,

    output            link_tx_valid, link_tx_first, link_tx_last,
    input             link_tx_ready,
    output     [63:0] link_tx_data,
    output     [3:0]  link_tx_size,
    output     [23:0] link_tx_trace,
    input             link_rx_valid, link_rx_first, link_rx_last,
    output            link_rx_ready,
    input      [63:0] link_rx_data,
    input      [3:0]  link_rx_size,
    input      [23:0] link_rx_trace,

    output            events_0_valid, events_1_valid,
    output     [7:0]  events_0_kind, events_1_kind,
    output     [23:0] events_0_number, events_1_number,
    output            idle,
    input      [7:0]  node,
    input      [12:0] timing_bus_max_burst,
    input      [15:0] own_gap
);
    localparam FRAME = 1 + (MTU + 7) / 8;  // flits
    localparam PLACE = $clog2(SLOTS);
    localparam IDLE = 0, REQUEST = 1, MOVE = 2, DONE = 3, DROP = 4;

    wire [9:0] max_beats = timing_bus_max_burst[12:3];

    // The CRC-32 of Ethernet, a word at a time.
    function [31:0] crc_of(input [31:0] crc, input [63:0] data);
        integer i;
        begin
            crc_of = crc;
            for (i = 0; i < 64; i = i + 1)
                crc_of = (crc_of >> 1) ^ ((crc_of[0] ^ data[i]) ? 32'hEDB88320 : 32'd0);
        end
    endfunction

    // Registers.
    reg        control;
    reg [63:0] send_header;
    reg [31:0] receive_base;
    reg [15:0] taken, sent, filled;
    reg [31:0] received, dropped, refused;
    wire access = pio_valid && pio_address[24:12] == 0;
    wire write = access && pio_write;
    wire ask = write && pio_address[11:3] == 4;
    wire ask_ready, was_sent, was_received, was_dropped;
    assign pio_ready = 1;
    always @(posedge clk)
        if (rst) begin
            pio_answer_valid <= 0; pio_answer_data <= 0;
            control <= 0; send_header <= 0; receive_base <= 0; taken <= 0;
            sent <= 0; filled <= 0; received <= 0; dropped <= 0; refused <= 0;
        end else if (ce) begin
            pio_answer_valid <= pio_valid && !pio_write;
            pio_answer_data <= 0;
            if (access && !pio_write)
                case (pio_address[11:3])
                    0: pio_answer_data <= 1;
                    1: pio_answer_data <= node;
                    2: pio_answer_data <= control;
                    3: pio_answer_data <= send_header;
                    5: pio_answer_data <= sent;
                    6: pio_answer_data <= receive_base;
                    7: pio_answer_data <= taken;
                    8: pio_answer_data <= filled;
                    9: pio_answer_data <= received;
                    10: pio_answer_data <= dropped;
                    11: pio_answer_data <= refused;
                    default: pio_answer_data <= 0;
                endcase
            if (write)
                case (pio_address[11:3])
                    2: control <= pio_data[0];
                    3: send_header <= pio_data;
                    6: receive_base <= pio_data[31:0];
                    7: taken <= pio_data[15:0];
                    default: ;
                endcase
            if (ask && !ask_ready) refused <= refused + 1;
            if (was_sent) sent <= sent + 1;
            if (was_received) begin received <= received + 1; filled <= filled + 1; end
            if (was_dropped) dropped <= dropped + 1;
        end

    // Send: a queue of frames, whose words go to a queue of flits.
    wire         asked, out_valid, out_ready, out_push, asks_empty, out_empty;
    wire [119:0] frame;  // trace, address, header
    wire [93:0]  out;    // trace, last, first, size, data
    wire [$clog2(DEPTH):0] out_level;
    reg  [2:0]   sends;
    reg  [31:0]  from;
    reg  [13:0]  left;   // bytes not yet read
    reg  [9:0]   beats;  // words to come in this burst
    reg  [15:0]  pause;
    wire [23:0]  number = frame[119:96];
    wire [13:0]  words = (left + 14'd7) >> 3;
    // All of the frame must find room: a burst that waits would hold the bus, and with it the
    // frames that come, until the other side takes ours.
    wire starts = sends == IDLE && asked && pause == 0 && out_level <= DEPTH - FRAME;
    wire came = sends == MOVE && dma_0_read_valid;
    wire over = dma_0_done && (sends == DONE || (came && beats == 1));
    assign was_sent = over && (sends == DONE ? left == 0 : left <= 8);
    wire_nic_verilog_fifo #(.WIDTH(120), .DEPTH(8)) asks (
        .clk(clk), .rst(rst), .ce(ce), .push(ask), .ready(ask_ready),
        .in({pio_trace, pio_data[31:0], send_header}),
        .valid(asked), .pop(was_sent), .out(frame), .empty(asks_empty));
    wire_nic_verilog_fifo #(.WIDTH(94), .DEPTH(DEPTH)) outs (
        .clk(clk), .rst(rst), .ce(ce), .push(starts || came), .level(out_level),
        .in(starts ? {number, 1'b0, 1'b1, 4'd8, frame[63:0]}
                   : {number, left <= 8, 1'b0, left < 8 ? left[3:0] : 4'd8, dma_0_read_data}),
        .valid(out_valid), .pop(out_valid && out_ready), .out(out), .empty(out_empty));
    assign dma_0_request_valid = sends == REQUEST;
    assign dma_0_request_write = 0;
    assign dma_0_request_address = from;
    assign dma_0_request_beats = words < max_beats ? words[9:0] : max_beats;
    assign dma_0_request_trace = number;
    assign dma_0_read_ready = sends == MOVE;
    assign dma_0_write_valid = 0;
    assign dma_0_write_data = 0;
    assign dma_0_write_strobe = 0;
    assign events_0_valid = starts || was_sent;
    assign events_0_kind = was_sent;
    assign events_0_number = number;
    always @(posedge clk)
        if (rst) begin
            sends <= IDLE; from <= 0; left <= 0; beats <= 0; pause <= 0;
        end else if (ce) begin
            if (was_sent) pause <= own_gap;
            else if (pause != 0) pause <= pause - 1;
            if (starts) begin
                from <= frame[95:64]; left <= frame[31:16]; sends <= REQUEST;
            end
            if (sends == REQUEST) begin
                beats <= dma_0_request_beats;
                if (dma_0_request_ready) sends <= MOVE;
            end
            if (came) begin
                from <= from + 8; beats <= beats - 1;
                left <= left < 8 ? 14'd0 : left - 14'd8;
                if (beats == 1) sends <= DONE;
            end
            if (over) sends <= was_sent ? IDLE : REQUEST;
        end

    // A CRC behind each frame.
    reg         trailer;
    reg  [31:0] tx_crc;
    reg  [23:0] tx_trace;
    wire [63:0] full = out[63:0] & (out[67] ? ~64'd0 : ~(~64'd0 << {out[66:64], 3'b0}));
    assign out_ready = link_tx_ready && !trailer;
    assign link_tx_valid = trailer || out_valid;
    assign link_tx_data = trailer ? {32'd0, ~tx_crc} : full;
    assign link_tx_size = trailer ? 4'd4 : out[67:64];
    assign link_tx_first = !trailer && out[68];
    assign link_tx_last = trailer;
    assign link_tx_trace = trailer ? tx_trace : out[93:70];
    always @(posedge clk)
        if (rst) begin
            trailer <= 0; tx_crc <= 0; tx_trace <= 0;
        end else if (ce && link_tx_valid && link_tx_ready) begin
            trailer <= !trailer && out[69];
            tx_trace <= out[93:70];
            if (!trailer)  // switches change the route, the lowest 16 bits of the header
                tx_crc <= crc_of(out[68] ? ~32'd0 : tx_crc, out[68] ? full & ~64'hFFFF : full);
        end

    // Receive: a flit is held until its successor tells whether it is the last one.
    reg         held;
    reg  [93:0] flit;
    reg  [31:0] rx_crc;
    reg  [63:0] header;
    reg  [15:0] count;
    wire        in_ready, in_empty, word_valid, here, frames_ready;
    wire        word_pop, frame_pop;
    wire [93:0] word;
    wire [16:0] about;  // words, bad
    wire room = in_ready && frames_ready;
    wire push = held && link_rx_valid && room;
    wire [63:0] first = flit[68] ? flit[63:0] : header;
    wire [16:0] bytes = ({1'b0, count} - 17'd1) * 8 + flit[67:64];
    wire bad = link_rx_data[31:0] != ~rx_crc || first[31:16] != bytes || first[47:40] != node;
    assign link_rx_ready = !held || room;
    wire_nic_verilog_fifo #(.WIDTH(94), .DEPTH(DEPTH)) ins (
        .clk(clk), .rst(rst), .ce(ce), .push(push), .ready(in_ready), .in(flit),
        .valid(word_valid), .pop(word_pop), .out(word), .empty(in_empty));
    wire_nic_verilog_fifo #(.WIDTH(17), .DEPTH(16)) frames (
        .clk(clk), .rst(rst), .ce(ce), .push(push && link_rx_last), .ready(frames_ready),
        .in({count + 16'd1, bad}), .valid(here), .pop(frame_pop), .out(about));
    always @(posedge clk)
        if (rst) begin
            held <= 0; flit <= 0; rx_crc <= 0; header <= 0; count <= 0;
        end else if (ce && link_rx_valid && link_rx_ready) begin
            held <= !link_rx_last;
            flit <= {link_rx_trace, link_rx_last, link_rx_first, link_rx_size, link_rx_data};
            if (!link_rx_last)
                rx_crc <= crc_of(link_rx_first ? ~32'd0 : rx_crc,
                                 link_rx_first ? link_rx_data & ~64'hFFFF : link_rx_data);
            if (held) begin
                count <= link_rx_last ? 16'd0 : count + 16'd1;
                if (flit[68]) header <= flit[63:0];
            end
        end

    // A good frame goes into a slot: word 0 is the completion word, written last.
    reg  [2:0]  receives;
    reg  [31:0] slot, to;
    reg  [PLACE - 1:0] place;
    reg  [15:0] rest, length;
    reg  [9:0]  rx_beats;
    reg  [23:0] rx_number;
    reg         phase;
    wire [15:0] waiting = filled - taken;
    wire [31:0] next = receive_base + place * SLOT_BYTES;
    wire takes = receives == IDLE && here && word_valid && !about[0] && control && waiting < SLOTS;
    wire gone = receives == DROP && word_valid;
    wire moved = dma_1_write_valid && dma_1_write_ready;
    wire landed = dma_1_done && (receives == DONE || (moved && rx_beats == 1));
    assign was_received = landed && (receives == DONE ? rest == 0 : rest == 1);
    assign was_dropped = gone && rest == 1;
    assign frame_pop = was_received || was_dropped;
    assign word_pop = gone || (moved && !dma_1_write_jump);
    assign dma_1_request_valid = receives == REQUEST;
    assign dma_1_request_write = 1;
    assign dma_1_request_address = to;
    assign dma_1_request_jump_address = slot;
    assign dma_1_request_beats = rest < max_beats ? rest[9:0] : max_beats;
    assign dma_1_request_trace = rx_number;
    assign dma_1_write_jump = rest == 1;
    assign dma_1_write_valid = receives == MOVE && (word_valid || dma_1_write_jump);
    assign dma_1_write_data = dma_1_write_jump
                              ? {16'd0, rx_number, length, 7'd0, phase} : word[63:0];
    assign dma_1_write_strobe = 8'hFF;
    assign dma_1_read_ready = 0;
    assign events_1_valid = takes || was_received;
    assign events_1_kind = was_received;
    assign events_1_number = takes ? word[93:70] : rx_number;
    always @(posedge clk)
        if (rst) begin
            receives <= IDLE; slot <= 0; to <= 0; place <= 0; rest <= 0; length <= 0;
            rx_beats <= 0; rx_number <= 0; phase <= 1;
        end else if (ce) begin
            if (takes) begin
                slot <= next; to <= next + 8; rest <= about[16:1] + 16'd1;
                rx_number <= word[93:70]; length <= word[31:16]; receives <= REQUEST;
            end else if (receives == IDLE && here && word_valid && about[0]) begin
                rest <= about[16:1]; receives <= DROP;
            end
            if (receives == REQUEST) begin
                rx_beats <= dma_1_request_beats;
                if (dma_1_request_ready) receives <= MOVE;
            end
            if (gone) begin
                rest <= rest - 1;
                if (rest == 1) receives <= IDLE;
            end
            if (moved) begin
                to <= to + 8; rest <= rest - 1; rx_beats <= rx_beats - 1;
                if (rx_beats == 1) receives <= DONE;
            end
            if (landed) receives <= was_received ? IDLE : REQUEST;
            if (was_received) begin
                place <= place + 1;
                if (place == SLOTS - 1) phase <= !phase;
            end
        end

    assign idle = sends == IDLE && asks_empty && out_empty && pause == 0 && !trailer && !held
                  && receives == IDLE && in_empty && !link_rx_valid && !pio_answer_valid;
endmodule

// First in, first out; an item can be taken in the cycle after it was put.
module wire_nic_verilog_fifo #(parameter WIDTH = 8, parameter DEPTH = 16) (
    input                clk, rst, ce, push, pop,
    input  [WIDTH - 1:0] in,
    output               ready, valid, empty,
    output [WIDTH - 1:0] out,
    output [$clog2(DEPTH):0] level
);
    localparam BITS = $clog2(DEPTH);
    reg [WIDTH - 1:0] items [0:DEPTH - 1];
    reg [BITS:0] head, tail;
    assign level = tail - head;
    assign ready = !level[BITS];
    assign empty = level == 0;
    assign valid = !empty;
    assign out = items[head[BITS - 1:0]];
    always @(posedge clk)
        if (rst) begin
            head <= 0; tail <= 0;
        end else if (ce) begin
            if (push && ready) begin
                items[tail[BITS - 1:0]] <= in;
                tail <= tail + 1;
            end
            if (pop) head <= head + 1;
        end
endmodule
