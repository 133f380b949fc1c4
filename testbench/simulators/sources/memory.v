// Host memory of node `node`: one port, synchronous read. Under Verilator the words live in a C
// array (memory.cpp), elsewhere in a Verilog one.
`timescale 1ns/1ps
module nicbed_memory #(
    parameter WORDS = 1024
) (
    input clk,
    input [7:0] node,
    input en,
    input we,
    input [31:0] addr,
    input [63:0] wdata,
    input [7:0] strobe,
    output reg [63:0] rdata
);
    initial rdata = 64'd0;
`ifdef VERILATOR
    import "DPI-C" function longint unsigned nicbed_memory_read(
        input byte unsigned node, input int unsigned words, input int unsigned addr);
    import "DPI-C" function void nicbed_memory_write(
        input byte unsigned node, input int unsigned words, input int unsigned addr,
        input longint unsigned data, input byte unsigned strobe);
    always @(posedge clk)
        if (en) begin
            if (we) nicbed_memory_write(node, WORDS, addr, wdata, strobe);
            else rdata <= nicbed_memory_read(node, WORDS, addr);
        end
`else
    // A word never touched is X, and counts as 0: so nothing need be done at the start, and
    // clearing (the wrapper's `clear` changes) takes only as long as what was touched.
    reg [63:0] words [0:WORDS - 1];
    integer lane, index, low, high;
    wire [31:0] place = addr % WORDS;
    initial begin
        low = WORDS;
        high = -1;
    end
    always @(posedge clk)
        if (en) begin
            if (we && strobe != 0) begin
                if (words[place] === 64'bx) words[place] = 64'd0;
                for (lane = 0; lane < 8; lane = lane + 1)
                    if (strobe[lane]) words[place][8 * lane +: 8] = wdata[8 * lane +: 8];
                if ($signed(place) < low) low = place;
                if ($signed(place) > high) high = place;
            end
            if (!we) rdata <= words[place] === 64'bx ? 64'd0 : words[place];
        end
`ifdef NICBED_WRAPPER
    always @(nicbed_icarus.clear) begin
        for (index = low; index <= high; index = index + 1) words[index] = 64'bx;
        low = WORDS;
        high = -1;
    end
`endif
`endif
endmodule
