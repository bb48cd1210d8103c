/* One graph over two ranks, run RUNS times: distributed/README.md, "Protocol of a run". Every step is visible at once,
 * and what stands in one atomic is done under graph_core's lock.
 *
 * On each rank a task makes a value, which the other rank takes; the task may throw. Messages come in any order. Each
 * rank's program starts its runs, the next before or after the last has ended, waits for all, and lets the graph go.
 * Checked: everything ends (who waits on is an invalid end state); a run takes the value of that run, once; it ends on
 * both ranks alike, with an exception if and only if a task threw; nothing is left over; nobody touches a graph that is
 * gone.
 *
 *   GIVES_UP   any silence may be taken for a loss, also while the message is being taken, and a message may be lost: then
 *              runs may end differently, but they do
 *   AT_START   the last run cannot be started on rank 1
 *
 * Seeded bugs: NONE_UNSENT, IMPATIENT, NO_NUMBER, EARLY_RELEASED, JUDGED_EARLY, FAILURE_UNSAID, REPORTS_MIXED; with
 *              GIVES_UP: CLAIMED_LATE, TAKEN_ANYWAY, END_AWAITED; with AT_START: START_SENDS_NOTHING, START_OUT_OF_LINE
 * Rule whose absence is no error, so not seeded: an interrupt that comes before its run is kept (its tasks would run in
 * vain). */
#ifndef RUNS
#define RUNS 2
#endif
#define at(k, r) (2 * (k) + (r))
#define other(r) (1 - (r))
#define all (2 * (RUNS + 1))

/* A value's message, and its word. */
#define nothing 0
#define value 1
#define none 2
#define idle 0
#define armed 1
#define claimed 2
#define full 3

/* On their way, by run and the rank that they go to. */
byte values[all];
bool interrupts[all], reports[all], failed_there[all], verdicts[all], judged_failed[all];

/* Of each rank. */
byte started[2], ended_here[2], open_run[2];
byte word[2], came[2], came_for[2];
byte early[all];
bool interrupted[all], told[all], over[all], failed[all];
bool gone[2], given_up[2];
/* Of rank 0, by run and rank. */
bool part_ended[all], part_failed[all];

bool threw[RUNS + 1];
bool may_lose =
#ifdef GIVES_UP
    true;
#else
    false;
#endif

inline judge(r, k, how) {
  if
  :: !over[at(k, r)] -> failed[at(k, r)] = how; over[at(k, r)] = true
  :: else
  fi
}
/* graph_core::part_ended(), on rank 0. */
#ifdef JUDGED_EARLY
#define all_have_ended(k) true
#else
#define all_have_ended(k) (part_ended[at(k, 0)] && part_ended[at(k, 1)])
#endif
inline a_part_ended(k, from, how) {
  part_ended[at(k, from)] = true;
#ifdef REPORTS_MIXED
  part_failed[at(k, 0)] = how;
#else
  part_failed[at(k, from)] = how;
#endif
  if
  :: all_have_ended(k) ->
     verdicts[at(k, 1)] = true;
     judged_failed[at(k, 1)] = part_failed[at(k, 0)] || part_failed[at(k, 1)];
     judge(0, k, (part_failed[at(k, 0)] || part_failed[at(k, 1)]))
  :: else
  fi
}
inline tell_interrupt(r, k) {
  if
  :: !told[at(k, r)] -> told[at(k, r)] = true; interrupts[at(k, other(r))] = true
  :: else
  fi
}
/* graph_core::local_end() */
inline tell_end(r, k, how) {
  ended_here[r] = k;
  open_run[r] = 0;
  if
  :: r == 0 -> a_part_ended(k, 0, how)
  :: else -> failed_there[at(k, 0)] = how; reports[at(k, 0)] = true
  fi
}
/* incoming_part::bring(), after the claim. */
inline bring(r, k, what) {
  d_step {
    assert(!gone[r]);
    assert(word[r] == claimed);
    came[r] = what;
    came_for[r] = k;
    word[r] = full
  }
}

/* A rank's part of the graph, run after run. */
proctype part(byte r) {
  byte k = 1, first;
  bool throws;

  do
  :: k > RUNS -> break
  :: k <= RUNS && ended_here[r] >= k -> k++ /* it could not be started */
  :: k <= RUNS && started[r] >= k ->
     word[r] = armed;
     /* opened() */
     d_step { open_run[r] = k; first = early[at(k, r)]; early[at(k, r)] = nothing };
     if
     :: first != nothing ->
        if
        :: atomic { word[r] == armed -> word[r] = claimed }; bring(r, k, first)
        :: atomic { word[r] != armed -> assert(given_up[r]) }
        fi;
        first = nothing
     :: else
     fi;
     /* The task, and the one that sends its value. */
     throws = false;
     if
     :: atomic { !interrupted[at(k, r)] -> threw[k] = true; throws = true; interrupted[at(k, r)] = true };
        d_step { tell_interrupt(r, k) }
     :: true
     fi;
     d_step {
       if
       :: !interrupted[at(k, r)] -> values[at(k, other(r))] = value
       :: else ->
#ifndef NONE_UNSENT
          values[at(k, other(r))] = none
#endif
          skip
       fi
     };
     /* The value of the other rank. */
#ifdef IMPATIENT
     if
     :: word[r] == full
     :: atomic { word[r] == armed && interrupted[at(k, r)] -> came_for[r] = k; came[r] = none }
     fi;
#else
     word[r] == full;
#endif
     d_step { assert(came_for[r] == k); word[r] = idle };
     /* local_end(): "no value" interrupts, but is no failure of this part's own. */
#ifdef FAILURE_UNSAID
     throws = false;
#endif
     atomic {
       throws = throws || given_up[r];
       tell_end(r, k, throws)
     };
     k++
  od
}

/* The engine's thread, for messages of one run: so two of them may be taken at once, which is more than happens. */
proctype engine(byte r; byte k) {
  byte what;

end:
  do
  :: atomic { values[at(k, r)] != nothing && !gone[r] -> what = values[at(k, r)]; values[at(k, r)] = nothing };
     /* value_came() */
     if
#ifndef NO_NUMBER
     :: atomic { k > ended_here[r] && k != open_run[r] ->
#ifndef EARLY_RELEASED
                 early[at(k, r)] = what
#endif
                 skip }
#endif
#ifdef CLAIMED_LATE
     :: atomic { k > ended_here[r] && k == open_run[r] -> skip };
        if
        :: atomic { word[r] == armed -> assert(!gone[r]); word[r] = claimed }; bring(r, k, what)
        :: atomic { word[r] != armed -> assert(!gone[r]) }
        fi
#else
     :: atomic { k > ended_here[r] && (k == open_run[r]
#ifdef NO_NUMBER
                 || true
#endif
                 ) && word[r] == armed -> word[r] = claimed }; bring(r, k, what)
#ifdef TAKEN_ANYWAY
     :: atomic { k > ended_here[r] && k == open_run[r] && word[r] != armed -> word[r] = claimed }; bring(r, k, what)
#else
     :: atomic { k > ended_here[r] && (k == open_run[r]
#ifdef NO_NUMBER
                 || true
#endif
                 ) && word[r] != armed -> assert(given_up[r]) }
#endif
#endif
     :: atomic { k <= ended_here[r] -> assert(given_up[r]
#ifdef AT_START
                 || (r == 1 && k == RUNS)
#endif
                 ) }
     fi
  :: d_step { interrupts[at(k, r)] -> interrupts[at(k, r)] = false;
              if
              :: !gone[r] && k > ended_here[r] -> told[at(k, r)] = true; interrupted[at(k, r)] = true
              :: else
              fi }
  :: d_step { reports[at(k, r)] -> reports[at(k, r)] = false;
              if
              :: !gone[r] -> a_part_ended(k, 1, failed_there[at(k, r)])
              :: else
              fi }
  :: d_step { verdicts[at(k, r)] -> verdicts[at(k, r)] = false;
              if
              :: !gone[r] -> judge(r, k, judged_failed[at(k, r)])
              :: else
              fi }
  /* Messages to a graph that is gone. */
  :: d_step { gone[r] && values[at(k, r)] != nothing -> values[at(k, r)] = nothing; assert(given_up[0] || given_up[1]
#ifdef AT_START
              || k == RUNS
#endif
              ) }
  /* A message is lost. */
  :: d_step { may_lose && values[at(k, r)] != nothing -> may_lose = false; values[at(k, r)] = nothing }
  :: d_step { may_lose && reports[at(k, r)] -> may_lose = false; reports[at(k, r)] = false }
  :: d_step { may_lose && verdicts[at(k, r)] -> may_lose = false; verdicts[at(k, r)] = false }
  :: d_step { may_lose && interrupts[at(k, r)] -> may_lose = false; interrupts[at(k, r)] = false }
  od
}

#ifdef GIVES_UP
/* awaited(give_up), now and then. */
proctype watch(byte r; byte k) {
end:
  do
#ifdef CLAIMED_LATE
  :: atomic { !gone[r] && open_run[r] == k && word[r] == armed -> given_up[r] = true };
     if
     :: atomic { word[r] == armed -> assert(!gone[r]); word[r] = claimed }; bring(r, k, none)
     :: atomic { word[r] != armed -> assert(!gone[r]) }
     fi
#else
  :: atomic { !gone[r] && open_run[r] == k && word[r] == armed -> given_up[r] = true; word[r] = claimed };
     bring(r, k, none)
#endif
#ifndef END_AWAITED
  :: d_step { !gone[r] && ended_here[r] >= k && !over[at(k, r)] ->
              given_up[r] = true;
              judge(r, k, true) }
#endif
  od
}
#endif

proctype program(byte r) {
  byte k = 1;

  do
  :: k > RUNS -> break
  :: k <= RUNS ->
#ifdef AT_START
     if
     :: r == 1 && k == RUNS ->
        /* fail_at_start() */
#ifndef START_OUT_OF_LINE
        if :: k > 1 -> over[at(k - 1, r)] :: else fi;
#endif
#ifndef START_SENDS_NOTHING
        values[at(k, other(r))] = none;
#endif
        atomic { threw[k] = true; tell_interrupt(r, k); tell_end(r, k, true) }
     :: else -> started[r]++
     fi;
#else
     started[r]++;
#endif
     if
     :: over[at(k, r)]
     :: true /* the next one, in line */
     fi;
     k++
  od;
  k = 1;
  do
  :: k <= RUNS -> over[at(k, r)]; k++
  :: else -> break
  od;
  gone[r] = true
}

/* When both have ended. */
proctype checks() {
  byte k = 1;

  gone[0] && gone[1];
  do
  :: k <= RUNS ->
     d_step {
       assert(given_up[0] || given_up[1] || failed[at(k, 0)] == failed[at(k, 1)]);
       assert(given_up[0] || given_up[1] || failed[at(k, 0)] == threw[k]);
       assert(!threw[k] || failed[at(k, 0)] || failed[at(k, 1)] || given_up[0] || given_up[1]);
       k++
     }
  :: else -> break
  od
}

init {
  atomic {
    run part(0);
    run part(1);
    run engine(0, 1);
    run engine(1, 1);
#if RUNS > 1
    run engine(0, 2);
    run engine(1, 2);
#endif
#ifdef GIVES_UP
    run watch(0, 1);
    run watch(1, 1);
#if RUNS > 1
    run watch(0, 2);
    run watch(1, 2);
#endif
#endif
    run program(0);
    run program(1);
    run checks()
  }
}
