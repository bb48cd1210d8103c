// Flows by our own switch, on x86-64 (System V) and AArch64: to call a function on another stack costs little more than
// to call it on this one.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <utility>  // move

#include "heist/core/fiber/fiber_context_parts.hpp"

#if HEIST_NATIVE_SWITCH

namespace heist::detail {

/// A context of control: a stack, or the one that a thread was born with (default constructed). It is fresh,
/// running, or stopped in a switch or a call.
class native_fiber_context {
 public:
  /// leave() does not return: the frames on the stack are forgotten.
  static constexpr bool abandons = true;

  /// A thread's own stack; to be made on the thread that it stands for.
  native_fiber_context() noexcept = default;
  /// A fresh one. `color` moves the first frame (stack_colors).
  native_fiber_context(stack&& memory, unsigned color)
      : memory_{std::move(memory)}, top_{coloured_top(memory_, color)} {}
  native_fiber_context(native_fiber_context const&) = delete;
  native_fiber_context& operator=(native_fiber_context const&) = delete;

  /// Fresh only: the next switch to it calls function(a, b), which never returns.
  void start(flow_function function, void* a, void* b) noexcept {
    // As at the entry of a function, with a return address and a frame at which unwinders stop.
    auto** const sp = reinterpret_cast<void**>(top_) - 4;
    sp[0] = sp[1] = sp[2] = sp[3] = nullptr;
    where_ = {is_x86_64 ? sp + 1 : sp, reinterpret_cast<void*>(&begin), sp + 2};
    exceptions_ = {};
    control_ = {};
    function_ = function;
    a_ = a;
    b_ = b;
  }

  /// Leaves `from`, which the caller runs on, and resumes in `to`, where `then` is done first. Returns when a worker
  /// switches back to `from`, perhaps on another thread. `from_ends`: none ever will.
  HEIST_NOINLINE static void switch_to(native_fiber_context& from, native_fiber_context& to, after_switch then,
                                       [[maybe_unused]] bool from_ends = false) {
    crossing c{&to, then};
    from.exceptions_ = exchange_exception_state(to.exceptions_);
    to.exceptions_ = {};
    from.control_ = control_words::now();
    arrive(jump(from.where_, to.where_, &c));
  }

  /// Calls function(a, b) on the stack of `child`, which is fresh and is so again when the function has returned.
  /// Returns what the function returned, or call_continuation_stolen as soon as a worker has switched to `from`.
  /// Neither the exceptions being handled nor uncaught ones are moved: there must be none. Code that lets other threads
  /// switch to `from` calls keep_control() before, on this thread: to read the control words at each call would cost
  /// more than the rest of it.
  HEIST_ALWAYS_INLINE static int call(native_fiber_context& from, native_fiber_context& child, flow_function function,
                                      void* a, void* b) noexcept {
    outcome const o = call_on(from.where_, child.top_, function, a, b);
    if (HEIST_UNLIKELY(o.status == call_continuation_stolen)) arrive(static_cast<crossing*>(o.message));
    return o.status;
  }

  /// The function that `child` was called for will not return: the continuation of its caller has been stolen.
  /// Continues in `to`; `child` is fresh from `then` on.
  static void leave(native_fiber_context&, native_fiber_context& to, after_switch then) noexcept {
    place no_place;
    crossing c{&to, then};
    exchange_exception_state(std::exchange(to.exceptions_, {}));
    jump(no_place, to.where_, &c);
  }

  /// The thread's floating-point control words are those that this context, which is stopped in a call, resumes
  /// with.
  void keep_control() noexcept { control_ = control_words::now(); }

  stack const& memory() const noexcept { return memory_; }
  /// Of one that is fresh: nothing lies on its stack below this.
  char* unused_below() const noexcept { return top_; }

 private:
  /// Where a context has stopped.
  struct place {
    void* sp = nullptr;
    void* ip = nullptr;
    void* bp = nullptr;
    void* base = nullptr;  // rbx or x19, by which clang reaches the locals of a realigned frame of no fixed size
  };
  /// Lives on the stack that is left; read before `then` gives that away.
  struct crossing {
    native_fiber_context* to;
    after_switch then;
  };
  struct outcome {
    int status;
    void* message;
  };

  static void arrive(crossing* message) noexcept {
    crossing const c = *message;
    c.to->control_.install();
    if (c.then.act != nullptr) c.then.act(c.then.argument);
  }

  static void begin(void* message) {
    native_fiber_context& self = *static_cast<crossing*>(message)->to;
    arrive(static_cast<crossing*>(message));
    self.function_(self.a_, self.b_);
    __builtin_unreachable();
  }

// For unwinders, which a profiler's signal may start at any instruction: this frame has no caller while the stack pointer
// is another stack's. On that stack the caller would not be found, and may be gone.
#if !defined(__GCC_HAVE_DWARF2_CFI_ASM)
#define HEIST_NO_CALLER
#define HEIST_CALLER
#elif HEIST_X86_64
#define HEIST_NO_CALLER ".cfi_undefined 16\n\t"
#define HEIST_CALLER " .cfi_offset 16, -8"
#else
#define HEIST_NO_CALLER ".cfi_record_state\n\t.cfi_undefined 30\n\t"
#define HEIST_CALLER " .cfi_restore_state"
#endif

// Registers that other code may have changed when a stopped place is entered again: all but the stack, frame and
// base pointers, which the place keeps. The compiler saves those that it needs.
#if HEIST_X86_64
#if defined(__AVX512F__)
#define HEIST_AVX512_REGISTERS                                                                                  \
  , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", \
      "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define HEIST_AVX512_REGISTERS
#endif
#define HEIST_OTHER_REGISTERS                                                                                         \
  "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",     \
      "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)", \
      "st(5)", "st(6)", "st(7)", "memory", "cc" HEIST_AVX512_REGISTERS

  /// Enters `to` with a message; returns the message with which `from` is entered again.
  HEIST_ALWAYS_INLINE static crossing* jump(place& from, place const& to, crossing* message) noexcept {
    place* f = &from;
    place const* t = &to;
    void* m = message;
    asm volatile("leaq 1f(%%rip), %%rax\n\t" HEIST_NO_CALLER
                 "movq %%rsp, (%[f])\n\t"
                 "movq %%rax, 8(%[f])\n\t"
                 "movq %%rbp, 16(%[f])\n\t"
                 "movq %%rbx, 24(%[f])\n\t"
                 "movq (%[t]), %%rsp\n\t"
                 "movq 16(%[t]), %%rbp\n\t"
                 "movq 24(%[t]), %%rbx\n\t"
                 "xorl %%eax, %%eax\n\t"
                 "jmpq *8(%[t])\n"
                 "1:" HEIST_CALLER
                 : "+D"(m), [f] "+S"(f), [t] "+d"(t)
                 :
                 : "rax", "rcx", "r8", HEIST_OTHER_REGISTERS);
    return static_cast<crossing*>(m);
  }

  /// Nothing is pushed on the stack that is left, so its red zone is safe.
  HEIST_ALWAYS_INLINE static outcome call_on(place& from, char* top, flow_function function, void* a,
                                             void* b) noexcept {
    place* f = &from;
    char* t = top;
    void* message = a;
    register flow_function called asm("r8") = function;
    int status;
    asm volatile("leaq 1f(%%rip), %%rax\n\t" HEIST_NO_CALLER
                 "movq %%rsp, (%[f])\n\t"
                 "movq %%rax, 8(%[f])\n\t"
                 "movq %%rbp, 16(%[f])\n\t"
                 "movq %%rbx, 24(%[f])\n\t"
                 "movq %%rsp, %%r12\n\t"
                 "movq %[t], %%rsp\n\t"
                 "callq *%[called]\n\t"
                 "movq %%r12, %%rsp\n"
                 "1:" HEIST_CALLER
                 : "=&a"(status), "+D"(message), "+S"(b), [f] "+d"(f), [t] "+c"(t), [called] "+r"(called)
                 :
                 : HEIST_OTHER_REGISTERS);
    return {status, message};
  }
#else
#if defined(__ARM_FEATURE_SVE)
#define HEIST_SVE_REGISTERS                                                                                           \
  , "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", "p14", "p15", "z0", "z1", \
      "z2", "z3", "z4", "z5", "z6", "z7", "z8", "z9", "z10", "z11", "z12", "z13", "z14", "z15", "z16", "z17", "z18",  \
      "z19", "z20", "z21", "z22", "z23", "z24", "z25", "z26", "z27", "z28", "z29", "z30", "z31"
#else
#define HEIST_SVE_REGISTERS
#endif
#define HEIST_OTHER_REGISTERS                                                                                         \
  "x5", "x6", "x7", "x8", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x20", "x21", "x22", "x23",  \
      "x24", "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10",    \
      "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", \
      "v27", "v28", "v29", "v30", "v31", "memory", "cc" HEIST_SVE_REGISTERS

  // With branch target identification an indirect jump must end at a landing pad: `hint #36` is `bti j`, which older
  // processors and assemblers take for nothing. A jump by x16 may also end at the `bti c` of begin().
  HEIST_ALWAYS_INLINE static crossing* jump(place& from, place const& to, crossing* message) noexcept {
    register void* m asm("x0") = message;
    register place* f asm("x1") = &from;
    register place const* t asm("x2") = &to;
    asm volatile("adr x3, 1f\n\t" HEIST_NO_CALLER
                 "mov x4, sp\n\t"
                 "stp x4, x3, [x1]\n\t"
                 "stp x29, x19, [x1, #16]\n\t"
                 "ldp x4, x16, [x2]\n\t"
                 "ldp x29, x19, [x2, #16]\n\t"
                 "mov sp, x4\n\t"
                 "mov x30, xzr\n\t"
                 "mov x1, xzr\n\t"  // call_continuation_stolen, for call_on
                 "br x16\n"
                 "1:" HEIST_CALLER
                 "\n\t"
                 "hint #36"
                 : "+r"(m), "+r"(f), "+r"(t)
                 :
                 : "x3", "x4", "x9", HEIST_OTHER_REGISTERS);
    return static_cast<crossing*>(m);
  }

  HEIST_ALWAYS_INLINE static outcome call_on(place& from, char* top, flow_function function, void* a,
                                             void* b) noexcept {
    register void* message asm("x0") = a;
    register void* second asm("x1") = b;
    register place* f asm("x2") = &from;
    register char* t asm("x3") = top;
    register flow_function called asm("x9") = function;
    asm volatile("adr x4, 1f\n\t" HEIST_NO_CALLER
                 "mov x20, sp\n\t"
                 "stp x20, x4, [x2]\n\t"
                 "stp x29, x19, [x2, #16]\n\t"
                 "mov sp, x3\n\t"
                 "blr x9\n\t"
                 "mov sp, x20\n\t"
                 "mov x1, x0\n"
                 "1:" HEIST_CALLER
                 "\n\t"
                 "hint #36"
                 : "+r"(message), "+r"(second), "+r"(f), "+r"(t), "+r"(called)
                 :
                 : "x4", HEIST_OTHER_REGISTERS);
    return {static_cast<int>(reinterpret_cast<std::uintptr_t>(second)), message};
  }
#endif
#undef HEIST_NO_CALLER
#undef HEIST_CALLER
#undef HEIST_OTHER_REGISTERS
#undef HEIST_AVX512_REGISTERS
#undef HEIST_SVE_REGISTERS

  place where_;
  control_words control_;
  exception_state exceptions_;
  stack memory_;
  char* top_ = nullptr;
  flow_function function_ = nullptr;
  void* a_ = nullptr;
  void* b_ = nullptr;
};

}  // namespace heist::detail

#endif
