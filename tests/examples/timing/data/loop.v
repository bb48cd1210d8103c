module latch (set, reset, q);
  input set, reset;
  output q;
  wire other, last;
  NOR2_X1 upper (.A1(set), .A2(q), .ZN(other));
  NOR2_X1 lower (.A1(reset), .A2(other), .ZN(q));
  INV_X1 behind (.A(q), .ZN(last));
endmodule
