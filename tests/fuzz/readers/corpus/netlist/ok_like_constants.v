module m (input a, output y);
  wire \1'b0 , \1'b0_ ;
  INV_X1 i (.A(a), .ZN(\1'b0 ));
  BUF_X1 b (.A(a), .Z(\1'b0_ ));
  NAND3_X1 n (.A1(\1'b0 ), .A2(1'b0), .A3(\1'b0_ ), .ZN(y));
endmodule
