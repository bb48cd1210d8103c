module m (input a, output y); INV_X1 i (.A(a), .ZN(y)); INV_X1 j (.A(a), .ZN(y)); endmodule
