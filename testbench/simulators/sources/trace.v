// Collects the events of one source of the target. Under Verilator they are appended to a C vector
// (trace.cpp); elsewhere each is a line of the file that +nicbed_trace= names.
`timescale 1ns/1ps
module nicbed_trace (
    input clk,
    input enable,
    input valid,
    input [63:0] cycle,
    input [7:0] node,
    input [7:0] block,
    input [7:0] kind,
    input [23:0] number,
    input [31:0] arg
);
`ifdef VERILATOR
    import "DPI-C" function void nicbed_trace_event(
        input longint unsigned cycle, input int unsigned node, input int unsigned block,
        input int unsigned kind, input int unsigned number, input int unsigned arg);
    always @(posedge clk)
        if (enable && valid)
            nicbed_trace_event(cycle, {24'd0, node}, {24'd0, block}, {24'd0, kind},
                               {8'd0, number}, arg);
`else
    // Descriptor of the file, shared by all instances through nicbed_trace_file (trace_file.v).
    always @(posedge clk)
        if (enable && valid && nicbed_trace_file.file != 0)
            $fdisplay(nicbed_trace_file.file, "%0d %0d %0d %0d %0d %0d",
                      cycle, node, block, kind, number, arg);
`endif
endmodule

`ifndef VERILATOR
// A root module of its own: one file for all collectors.
module nicbed_trace_file;
    integer file;
    reg [8191:0] name;
    initial begin
        file = 0;
        if ($value$plusargs("nicbed_trace=%s", name)) file = $fopen(name, "w");
    end
endmodule
`endif
