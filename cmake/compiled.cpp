// The one file of heist::compiled.
#include <heist/src.hpp>

#if defined(HEIST_GDB_SCRIPT) && defined(__ELF__)
// gdb loads the script where its auto-load safe-path allows it (docs/debugging.md). The first byte: a file in Python.
asm(".pushsection \".debug_gdb_scripts\", \"MS\", %progbits, 1\n"
    ".byte 1\n"
    ".asciz \"" HEIST_GDB_SCRIPT
    "\"\n"
    ".popsection");
#endif
