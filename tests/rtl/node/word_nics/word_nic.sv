// See in_amaranth.py: the same NIC.
module word_nic (
    input  logic        clock, reset,
    input  logic        pio_valid, pio_write,
    output logic        pio_ready,
    input  logic [24:0] pio_address,
    input  logic [63:0] pio_data,
    input  logic [23:0] pio_trace,
    output logic        pio_answer_valid,
    output logic [63:0] pio_answer_data,
    output logic        link_tx_valid, link_tx_first, link_tx_last,
    input  logic        link_tx_ready,
    output logic [63:0] link_tx_data,
    output logic [3:0]  link_tx_size,
    output logic [23:0] link_tx_trace,
    input  logic        link_rx_valid, link_rx_first, link_rx_last,
    output logic        link_rx_ready,
    input  logic [63:0] link_rx_data,
    input  logic [3:0]  link_rx_size,
    output logic        irq,
    output logic        events_0_valid,
    output logic [7:0]  events_0_kind,
    output logic [23:0] events_0_number,
    output logic        idle,
    input  logic        ce,
    input  logic [7:0]  node,
    input  logic [6:0]  own_wait
);
    logic [63:0] header, word, count, last;
    logic [1:0] sending;
    logic [6:0] left;
    logic reads;
    logic [24:0] address;
    logic [23:0] trace;
    wire taken = pio_valid && pio_ready;
    wire rings = taken && pio_write && pio_address[3];

    assign pio_ready = !reads && sending == 0;
    assign pio_answer_valid = reads && left == 0;
    assign pio_answer_data = address[4:3] == 0 ? count : address[4:3] == 1 ? last
                           : address[4:3] == 2 ? {57'd0, own_wait} : {56'd0, node};
    assign link_tx_valid = sending != 0;
    assign link_tx_first = sending == 2;
    assign link_tx_last = sending == 1;
    assign link_tx_data = link_tx_last ? word : header;
    assign link_tx_size = 8;
    assign link_tx_trace = trace;
    assign link_rx_ready = 1;
    assign irq = count != 0;
    assign events_0_valid = rings || (link_tx_valid && link_tx_ready && link_tx_last);
    assign events_0_kind = sending != 0;
    assign events_0_number = rings ? pio_trace : trace;
    assign idle = !reads && sending == 0;

    always_ff @(posedge clock)
        if (reset) begin
            sending <= 0;
            reads <= 0;
            count <= 0;
            last <= 0;
        end else if (ce) begin
            if (taken && !pio_write) begin
                reads <= 1;
                left <= own_wait;
                address <= pio_address;
            end else if (rings) begin
                word <= pio_data;
                trace <= pio_trace;
                sending <= 2;
            end else if (taken) header <= pio_data;
            if (reads) begin
                left <= left - 1;
                reads <= left != 0;
            end
            if (link_tx_valid && link_tx_ready) sending <= sending - 1;
            if (link_rx_valid && link_rx_last) begin
                count <= count + 1;
                last <= link_rx_data;
            end
        end
endmodule
