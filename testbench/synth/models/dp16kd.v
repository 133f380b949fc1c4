// An ECP5's block of RAM, as yosys' synth_ecp5 uses it: what its own models leave out.
//
// Both ports without output registers, of 1, 2, 4, 9 or 18 bits; or port A writes 36 bits and port
// B reads 1 to 36. Reset of the outputs, synchronous or not; the three modes of a write. The chip
// selects are not used. Where one port reads what the other writes at the same edge, a device
// promises nothing: the bits written are read inverted here, so that whatever relies on them fails.
// Both ports are taken to have the same clock for that.
//
// 16 kbit are 2,048 bytes of 9 bits, the ninth of which ports of 1, 2 and 4 bits do not see. A word
// of the array below has two of them.

`timescale 1ns/1ps
module DP16KD (
    input DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5,
        DIA4, DIA3, DIA2, DIA1, DIA0,
    input ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0,
    input CEA, OCEA, CLKA, WEA, RSTA, CSA2, CSA1, CSA0,
    output DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5,
        DOA4, DOA3, DOA2, DOA1, DOA0,
    input DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5,
        DIB4, DIB3, DIB2, DIB1, DIB0,
    input ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0,
    input CEB, OCEB, CLKB, WEB, RSTB, CSB2, CSB1, CSB0,
    output DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5,
        DOB4, DOB3, DOB2, DOB1, DOB0
);
    parameter DATA_WIDTH_A = 18;
    parameter DATA_WIDTH_B = 18;
    parameter REGMODE_A = "NOREG";
    parameter REGMODE_B = "NOREG";
    parameter RESETMODE = "SYNC";
    parameter ASYNC_RESET_RELEASE = "SYNC";
    parameter CSDECODE_A = "0b000";
    parameter CSDECODE_B = "0b000";
    parameter WRITEMODE_A = "NORMAL";
    parameter WRITEMODE_B = "NORMAL";
    parameter CLKAMUX = "CLKA";
    parameter CLKBMUX = "CLKB";
    parameter GSR = "ENABLED";
    parameter [319:0] INITVAL_00 = 320'h0;
    parameter [319:0] INITVAL_01 = 320'h0;
    parameter [319:0] INITVAL_02 = 320'h0;
    parameter [319:0] INITVAL_03 = 320'h0;
    parameter [319:0] INITVAL_04 = 320'h0;
    parameter [319:0] INITVAL_05 = 320'h0;
    parameter [319:0] INITVAL_06 = 320'h0;
    parameter [319:0] INITVAL_07 = 320'h0;
    parameter [319:0] INITVAL_08 = 320'h0;
    parameter [319:0] INITVAL_09 = 320'h0;
    parameter [319:0] INITVAL_0A = 320'h0;
    parameter [319:0] INITVAL_0B = 320'h0;
    parameter [319:0] INITVAL_0C = 320'h0;
    parameter [319:0] INITVAL_0D = 320'h0;
    parameter [319:0] INITVAL_0E = 320'h0;
    parameter [319:0] INITVAL_0F = 320'h0;
    parameter [319:0] INITVAL_10 = 320'h0;
    parameter [319:0] INITVAL_11 = 320'h0;
    parameter [319:0] INITVAL_12 = 320'h0;
    parameter [319:0] INITVAL_13 = 320'h0;
    parameter [319:0] INITVAL_14 = 320'h0;
    parameter [319:0] INITVAL_15 = 320'h0;
    parameter [319:0] INITVAL_16 = 320'h0;
    parameter [319:0] INITVAL_17 = 320'h0;
    parameter [319:0] INITVAL_18 = 320'h0;
    parameter [319:0] INITVAL_19 = 320'h0;
    parameter [319:0] INITVAL_1A = 320'h0;
    parameter [319:0] INITVAL_1B = 320'h0;
    parameter [319:0] INITVAL_1C = 320'h0;
    parameter [319:0] INITVAL_1D = 320'h0;
    parameter [319:0] INITVAL_1E = 320'h0;
    parameter [319:0] INITVAL_1F = 320'h0;
    parameter [319:0] INITVAL_20 = 320'h0;
    parameter [319:0] INITVAL_21 = 320'h0;
    parameter [319:0] INITVAL_22 = 320'h0;
    parameter [319:0] INITVAL_23 = 320'h0;
    parameter [319:0] INITVAL_24 = 320'h0;
    parameter [319:0] INITVAL_25 = 320'h0;
    parameter [319:0] INITVAL_26 = 320'h0;
    parameter [319:0] INITVAL_27 = 320'h0;
    parameter [319:0] INITVAL_28 = 320'h0;
    parameter [319:0] INITVAL_29 = 320'h0;
    parameter [319:0] INITVAL_2A = 320'h0;
    parameter [319:0] INITVAL_2B = 320'h0;
    parameter [319:0] INITVAL_2C = 320'h0;
    parameter [319:0] INITVAL_2D = 320'h0;
    parameter [319:0] INITVAL_2E = 320'h0;
    parameter [319:0] INITVAL_2F = 320'h0;
    parameter [319:0] INITVAL_30 = 320'h0;
    parameter [319:0] INITVAL_31 = 320'h0;
    parameter [319:0] INITVAL_32 = 320'h0;
    parameter [319:0] INITVAL_33 = 320'h0;
    parameter [319:0] INITVAL_34 = 320'h0;
    parameter [319:0] INITVAL_35 = 320'h0;
    parameter [319:0] INITVAL_36 = 320'h0;
    parameter [319:0] INITVAL_37 = 320'h0;
    parameter [319:0] INITVAL_38 = 320'h0;
    parameter [319:0] INITVAL_39 = 320'h0;
    parameter [319:0] INITVAL_3A = 320'h0;
    parameter [319:0] INITVAL_3B = 320'h0;
    parameter [319:0] INITVAL_3C = 320'h0;
    parameter [319:0] INITVAL_3D = 320'h0;
    parameter [319:0] INITVAL_3E = 320'h0;
    parameter [319:0] INITVAL_3F = 320'h0;

    localparam WIDE = DATA_WIDTH_A == 36;
    localparam ASYNC = RESETMODE == "ASYNC";

    reg [17:0] words [0:1023];

    // 16 words of a parameter, each in 20 bits.
    task fill(input integer row, input [319:0] value);
        integer at;
        for (at = 0; at < 16; at = at + 1) words[16 * row + at] = value[20 * at +: 18];
    endtask

    initial begin
        if (REGMODE_A != "NOREG" || REGMODE_B != "NOREG") $fatal(1, "DP16KD: output registers");
        if (CLKAMUX != "CLKA" || CLKBMUX != "CLKB") $fatal(1, "DP16KD: an inverted clock");
        if (CSDECODE_A != "0b000" || CSDECODE_B != "0b000") $fatal(1, "DP16KD: chip selects");
        fill(0, INITVAL_00);
        fill(1, INITVAL_01);
        fill(2, INITVAL_02);
        fill(3, INITVAL_03);
        fill(4, INITVAL_04);
        fill(5, INITVAL_05);
        fill(6, INITVAL_06);
        fill(7, INITVAL_07);
        fill(8, INITVAL_08);
        fill(9, INITVAL_09);
        fill(10, INITVAL_0A);
        fill(11, INITVAL_0B);
        fill(12, INITVAL_0C);
        fill(13, INITVAL_0D);
        fill(14, INITVAL_0E);
        fill(15, INITVAL_0F);
        fill(16, INITVAL_10);
        fill(17, INITVAL_11);
        fill(18, INITVAL_12);
        fill(19, INITVAL_13);
        fill(20, INITVAL_14);
        fill(21, INITVAL_15);
        fill(22, INITVAL_16);
        fill(23, INITVAL_17);
        fill(24, INITVAL_18);
        fill(25, INITVAL_19);
        fill(26, INITVAL_1A);
        fill(27, INITVAL_1B);
        fill(28, INITVAL_1C);
        fill(29, INITVAL_1D);
        fill(30, INITVAL_1E);
        fill(31, INITVAL_1F);
        fill(32, INITVAL_20);
        fill(33, INITVAL_21);
        fill(34, INITVAL_22);
        fill(35, INITVAL_23);
        fill(36, INITVAL_24);
        fill(37, INITVAL_25);
        fill(38, INITVAL_26);
        fill(39, INITVAL_27);
        fill(40, INITVAL_28);
        fill(41, INITVAL_29);
        fill(42, INITVAL_2A);
        fill(43, INITVAL_2B);
        fill(44, INITVAL_2C);
        fill(45, INITVAL_2D);
        fill(46, INITVAL_2E);
        fill(47, INITVAL_2F);
        fill(48, INITVAL_30);
        fill(49, INITVAL_31);
        fill(50, INITVAL_32);
        fill(51, INITVAL_33);
        fill(52, INITVAL_34);
        fill(53, INITVAL_35);
        fill(54, INITVAL_36);
        fill(55, INITVAL_37);
        fill(56, INITVAL_38);
        fill(57, INITVAL_39);
        fill(58, INITVAL_3A);
        fill(59, INITVAL_3B);
        fill(60, INITVAL_3C);
        fill(61, INITVAL_3D);
        fill(62, INITVAL_3E);
        fill(63, INITVAL_3F);
    end

    wire [13:0] ad_a = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7,
                        ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0};
    wire [17:0] di_a = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9,
                        DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2, DIA1, DIA0};
    wire [13:0] ad_b = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7,
                        ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0};
    wire [17:0] di_b = {DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9,
                        DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2, DIB1, DIB0};

    // Where the bits of a port of `width` are in their word.
    function [4:0] low(input integer width, input [13:0] address);
        case (width)
            1: low = 9 * address[3] + address[2:0];
            2: low = 9 * address[3] + 2 * address[2:1];
            4: low = 9 * address[3] + 4 * address[2];
            9: low = 9 * address[3];
            default: low = 0;
        endcase
    endfunction

    // Which bits of their word a port writes. Of 18 bits the address has the enables of the bytes.
    function [17:0] written(input integer width, input [13:0] address);
        case (width)
            1: written = 18'h1 << low(width, address);
            2: written = 18'h3 << low(width, address);
            4: written = 18'hf << low(width, address);
            9: written = 18'h1ff << low(width, address);
            default: written = {{9{address[1]}}, {9{address[0]}}};
        endcase
    endfunction

    function [17:0] only(input integer width, input [17:0] value);
        only = width >= 18 ? value : value & ((18'h1 << width) - 1);
    endfunction

    // What a port does at an edge; port A's second half is the upper word of 36 bits.
    wire [9:0] at_a = WIDE ? {ad_a[13:5], 1'b0} : ad_a[13:4];
    wire [9:0] at_b = ad_b[13:4];
    wire writes_a = CEA & WEA & ~(~ASYNC & RSTA);
    wire writes_b = ~WIDE & CEB & WEB & ~(~ASYNC & RSTB);
    wire [17:0] mask_a = writes_a ? written(DATA_WIDTH_A, ad_a) : 18'h0;
    wire [17:0] mask_b = writes_b ? written(DATA_WIDTH_B, ad_b) : 18'h0;
    wire [17:0] mask_upper = WIDE & writes_a ? {{9{ad_a[3]}}, {9{ad_a[2]}}} : 18'h0;
    wire [17:0] value_a = only(DATA_WIDTH_A, di_a) << low(DATA_WIDTH_A, ad_a);
    wire [17:0] value_b = only(DATA_WIDTH_B, di_b) << low(DATA_WIDTH_B, ad_b);
    wire [9:0] at_upper = at_a | 10'h1;

    // The words that ports read, with what the other port writes there inverted. Port B's lower
    // word is that of 36 bits.
    wire [9:0] lower = {ad_b[13:5], 1'b0};
    wire [9:0] from_b = DATA_WIDTH_B == 36 ? lower | 10'h1 : at_b;
    wire [17:0] old_a = words[at_a] ^ (at_a == at_b ? mask_b : 18'h0);
    wire [17:0] old_b = words[from_b] ^ (from_b == at_a ? mask_a : 18'h0)
                        ^ (from_b == at_upper ? mask_upper : 18'h0);
    wire [17:0] old_lower = words[lower] ^ (lower == at_a ? mask_a : 18'h0);

    reg [17:0] q_a = 0, q_b = 0, q_lower = 0;

    integer bit_a, bit_b;
    always @(posedge CLKA) begin
        for (bit_a = 0; bit_a < 18; bit_a = bit_a + 1) begin
            if (mask_a[bit_a]) words[at_a][bit_a] <= value_a[bit_a];
            if (mask_upper[bit_a]) words[at_upper][bit_a] <= di_b[bit_a];
        end
    end
    always @(posedge CLKB)
        for (bit_b = 0; bit_b < 18; bit_b = bit_b + 1)
            if (mask_b[bit_b]) words[at_b][bit_b] <= value_b[bit_b];

    wire [17:0] read_a = WRITEMODE_A == "WRITETHROUGH" ? old_a & ~mask_a | value_a & mask_a : old_a;
    wire [17:0] read_b = WRITEMODE_B == "WRITETHROUGH" ? old_b & ~mask_b | value_b & mask_b : old_b;
    wire [17:0] out_a = only(DATA_WIDTH_A, read_a >> low(DATA_WIDTH_A, ad_a));
    wire [17:0] out_b = only(DATA_WIDTH_B, read_b >> low(DATA_WIDTH_B, ad_b));
    wire reads_a = CEA & ~(WRITEMODE_A == "NORMAL" & WEA) & ~WIDE;
    wire reads_b = CEB & ~(WRITEMODE_B == "NORMAL" & WEB & ~WIDE);

    generate
        if (ASYNC) begin : asynchronous
            always @(posedge CLKA or posedge RSTA)
                if (RSTA) q_a <= 0;
                else if (reads_a) q_a <= out_a;
            always @(posedge CLKB or posedge RSTB)
                if (RSTB) {q_b, q_lower} <= 0;
                else if (reads_b) {q_b, q_lower} <= {out_b, old_lower};
        end else begin : synchronous
            always @(posedge CLKA)
                if (RSTA) q_a <= 0;
                else if (reads_a) q_a <= out_a;
            always @(posedge CLKB)
                if (RSTB) {q_b, q_lower} <= 0;
                else if (reads_b) {q_b, q_lower} <= {out_b, old_lower};
        end
    endgenerate

    assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9,
            DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1, DOA0} = DATA_WIDTH_B == 36 ? q_lower : q_a;
    assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9,
            DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1, DOB0} = q_b;
endmodule
