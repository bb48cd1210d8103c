// Linked with one object per header; that it links is the test.
int main() {}
