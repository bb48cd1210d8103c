// A half adder from gates, with all that the reader takes: comments, several names, escaped names, constants, assign.
module half_adder (a, \b[0] , sum,
                   carry, always_one);
  input a, \b[0] ;
  output sum;
  output carry, always_one;
  wire n1, n2, n3;  /* inner
                       nets */
  NAND2_X1 g1 (.A1(a), .A2(\b[0] ), .ZN(n1));
  NAND2_X1 g2 (.A1(a), .A2(n1), .ZN(n2));
  NAND2_X1 g3 (.A2(\b[0] ), .A1(n1), .ZN(n3));
  NAND2_X2 \g4/last (.A1(n2), .A2(n3), .ZN(sum));
  INV_X1 g5 (.A(n1), .ZN(carry));
  assign always_one = 1'b1;
endmodule
