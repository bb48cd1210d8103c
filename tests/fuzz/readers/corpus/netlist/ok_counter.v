// Two flip-flops that count: a loop through them is no combinational loop.
module counter (clk, scan_in, scan_enable, q0, q1);
  input clk, scan_in, scan_enable;
  output q0, q1;
  wire n0, n1, clk_b;
  CLKBUF_X2 cb (.A(clk), .Z(clk_b));
  SDFF_X1 f0 (.D(n0), .SI(scan_in), .SE(scan_enable), .CK(clk_b), .Q(q0), .QN(n0));
  XOR2_X1 x (.A(q0), .B(q1), .Z(n1));
  DFF_X2 f1 (.D(n1), .CK(clk_b), .Q(q1), .QN());
endmodule
