// Where a NIC processor spends its cycles. Under Verilator they are counted in a C array
// (profile.cpp); elsewhere this does nothing.
`timescale 1ns/1ps
module nicbed_profile (
    input clk,
    input enable,
    input [7:0] node,
    input [31:0] pc,
    input awake
);
`ifdef VERILATOR
    import "DPI-C" function void nicbed_profile_count(
        input int unsigned node, input int unsigned pc);
    always @(posedge clk)
        if (enable && awake) nicbed_profile_count({24'd0, node}, pc);
`endif
endmodule
