module m (a, y); input a; output y; wire n;
NAND2_X1 g (.A1(a), .A2(n), .ZN(y)); INV_X1 i (.A(y), .ZN(n));
endmodule
