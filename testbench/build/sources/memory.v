// Host memory of one node: one port, synchronous read, read data held until the next read.
// Under Verilator the words live in a C array (memory.cpp), elsewhere in a Verilog one.
`timescale 1ns/1ps
module nicbed_memory #(
    parameter NODE = 0,
    parameter WORDS = 1024
) (
    input clk,
    input en,
    input we,
    input [31:0] addr,
    input [63:0] wdata,
    input [7:0] strobe,
    output reg [63:0] rdata
);
    initial rdata = 64'd0;
`ifdef VERILATOR
    import "DPI-C" function chandle nicbed_memory_open(input int node, input int words);
    import "DPI-C" function longint unsigned nicbed_memory_read(input chandle memory,
                                                                input int unsigned addr);
    import "DPI-C" function void nicbed_memory_write(input chandle memory, input int unsigned addr,
                                                     input longint unsigned data,
                                                     input byte unsigned strobe);
    chandle memory;
    initial memory = nicbed_memory_open(NODE, WORDS);
    always @(posedge clk)
        if (en) begin
            if (we) nicbed_memory_write(memory, addr, wdata, strobe);
            else rdata <= nicbed_memory_read(memory, addr);
        end
`else
    reg [63:0] words [0:WORDS - 1];
    integer lane, index;
    initial for (index = 0; index < WORDS; index = index + 1) words[index] = 64'd0;
    always @(posedge clk)
        if (en) begin
            if (we) begin
                for (lane = 0; lane < 8; lane = lane + 1)
                    if (strobe[lane]) words[addr % WORDS][8 * lane +: 8] <= wdata[8 * lane +: 8];
            end else rdata <= words[addr % WORDS];
        end
`endif
endmodule
