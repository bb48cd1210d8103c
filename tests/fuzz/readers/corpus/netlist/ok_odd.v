module \odd-one (input a, input b, output y, output \z[0] );
  wire w, \w.x , unused; /* a comment
  of two lines */
  NAND2_X4 g1 (.A1(a), .A2(b), .ZN(w));
  assign y = w;
  AOI21_X1 \g/2 (.A(1'b0), .B1(\w.x ), .B2(1'b1), .ZN(\z[0] ));
  FA_X1 f (.A(a), .B(1'b1), .CI(b), .CO(), .S(\w.x ));
endmodule // the end
