module cut (a, z);
  input a;
  output z;
  wire n;
  INV_X1 first (.A(a), .ZN(n));
  INV_X1 second (.A(n),
