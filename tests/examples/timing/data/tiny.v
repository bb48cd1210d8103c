// Small enough to time by hand: see analysis_test.cpp.
module tiny (a, z);
  input a;
  output z;
  wire n;
  INV_X1 first (.A(a), .ZN(n));
  INV_X2 second (.A(n), .ZN(z));
endmodule
