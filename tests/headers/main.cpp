// Linked with two units that include all of heist; that it links is the test.
int main() {}
