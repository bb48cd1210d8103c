/* Who takes inter-squad tasks: locality/squads/README.md; CAB, Algorithms I and II. Here every step is visible at once;
 * what weak memory adds is proved by tests/model/squads.cpp.
 *
 * Two squads of a head and a member. Somebody outside adds a root task, pinned to squad HOME, at any time. It forks
 * TASKS inter-squad tasks and is suspended, which releases its squad; each task forks a leaf that any of its squad may
 * run, and ends on whichever of the two is the last; the last task's end brings the root back, pinned. Then the
 * executor stops.
 * Checked: only heads take, one subtree in a squad, everything ends (who sleeps on is an invalid end state).
 *
 * Smaller ones, since that is too large to search:
 *   EARLY       the root is there from the start
 *   SHORT       squad 1 has no member
 *   ALONE       squad 1 is busy with another subtree all the time: whoever releases squad 0 has to call its head
 *   HOME=1      with ALONE: the root belongs to the squad that is busy, so the other one has to be told
 *   HEADS_ONLY  no members and no leaves; with it, one of
 *   TOGETHER    no task ends before all have begun, so each squad has to take one: otherwise a head that sleeps on
 *               costs speed only, because the one that has forked searches next
 *   AWAY        head 0 may find other work, which lasts until the end: the other one has to take what is pinned to it
 *
 * Seeded bugs: NO_RECHECK, RECHECK_OWN_POOL, ASLEEP_SET_LATE, ADD_SILENT, PIN_SILENT, PINNED_TO_BUSY_WAITS,
 *              PINNED_TO_AWAY_WAITS, LEAVES_SILENT, RELEASE_SILENT, MEMBER_TAKES, BUSY_NOT_SET, RELEASED_WITH_LEAVES,
 *              NEVER_RELEASED, ONE_CALLED, STOP_SILENT
 * Rules whose absence is no error, so not seeded: a task does not call the heads of busy squads (who is called in vain
 * sleeps again: it saves wakes); release() tells all free heads of what is pinned to its squad while its head is away
 * (who pinned it to a busy squad has told them; who was not free then looks when it is released). */
#ifndef TASKS
#define TASKS 2
#endif
#ifndef HOME
#define HOME 0
#endif
#if defined(ALONE) || defined(HEADS_ONLY)
#define WORKERS 2
#elif defined(SHORT)
#define WORKERS 3
#else
#define WORKERS 4
#endif
#define other(s) (1 - (s))
#define id (2 * s + (1 - head))
#define anything (open[0] + open[1] + pinned[0] + pinned[1] > 0)

byte open[2], pinned[2]; /* tasks in the pools */
bool busy[2], head_asleep[2], away[2];
byte running[2];         /* subtrees: at most one */
byte leaves[2], left[2]; /* of the subtree: not begun, not ended */
byte children = TASKS;   /* of the root, not ended */
byte begun;
bool forked, stop;
byte ended;
byte prewaiters[2], signals[2];
bool asleep[4], woken[4], called[4]; /* called: all were, since it announced itself */

/* The event count of a squad: to one, or to all. Whom to wake is found out in one step, after the push. */
inline notify_one(q) {
  if
  :: signals[q] < prewaiters[q] -> signals[q]++
  :: else ->
     if
     :: asleep[2 * q + 1] -> asleep[2 * q + 1] = false; woken[2 * q + 1] = true
     :: else -> if :: asleep[2 * q] -> asleep[2 * q] = false; woken[2 * q] = true :: else fi
     fi
  fi
}
inline notify_all(q) {
#ifndef ONE_CALLED
  called[2 * q] = true;
  called[2 * q + 1] = true;
#endif
  signals[q] = prewaiters[q];
  if :: asleep[2 * q] -> asleep[2 * q] = false; woken[2 * q] = true :: else fi;
  if :: asleep[2 * q + 1] -> asleep[2 * q + 1] = false; woken[2 * q + 1] = true :: else fi
}
#ifdef ONE_CALLED
#define call(q) notify_one(q)
#else
#define call(q) notify_all(q)
#endif
inline wake_head(q) { if :: head_asleep[q] -> call(q) :: else fi }
inline wake_if_free(q) { if :: !busy[q] -> wake_head(q) :: else fi }
inline wake_free_heads() { wake_if_free(0); wake_if_free(1) }
#if defined(PINNED_TO_BUSY_WAITS)
#define not_coming(q) (away[q])
#elif defined(PINNED_TO_AWAY_WAITS)
#define not_coming(q) (busy[q])
#else
#define not_coming(q) (busy[q] || away[q])
#endif
inline wake_for_pinned(q) {
  if :: not_coming(q) -> wake_free_heads() :: else -> wake_head(q) fi
}

/* squad_set::add() */
inline add() {
  open[s]++;
#ifndef ADD_SILENT
  d_step { wake_free_heads() }
#endif
}
/* squad_set::add_pinned() */
inline add_root() {
  pinned[HOME]++;
#ifndef PIN_SILENT
  d_step { wake_for_pinned(HOME) }
#endif
}
/* squad_set::release() */
inline release(by_head) {
  d_step {
    running[s]--;
#ifndef NEVER_RELEASED
    busy[s] = false
#endif
  }
#ifndef RELEASE_SILENT
  d_step {
    if
    :: !by_head && anything -> wake_head(s); if :: pinned[s] > 0 -> wake_for_pinned(s) :: else fi
    :: else
    fi
  }
#endif
}
/* A head has something to do: squad_set::head_leaves(). */
inline leaves_search() {
  if
  :: atomic { head && !away[s] -> away[s] = true };
#ifndef LEAVES_SILENT
     d_step { if :: pinned[s] > 0 -> wake_free_heads() :: else fi }
#endif
  :: else
  fi
}
/* The running worker has done its part of the subtree. */
inline part_ends() {
  atomic { left[s]--; last = (left[s] == 0) }
  if
  :: last ->
     last = false;
     release(head);
     atomic { children--; last = (children == 0) }
     if :: last -> last = false; add_root() :: else fi
  :: else
  fi
}

proctype worker(byte s; bool head) {
  bool last, found, mine, from_pin, flat;
  byte n;

#ifdef AWAY
  flat = (head && s == 0);
#endif
search:
  atomic { if :: head -> away[s] = false :: else fi };
explore:
  if
  :: atomic { leaves[s] > 0 -> leaves[s]-- };
     leaves_search();
     part_ends();
     goto search
#ifdef AWAY
  :: flat ->
     flat = false;
     leaves_search();
     stop;
     goto search
#endif
#ifdef MEMBER_TAKES
  :: !busy[s] ->
#else
  :: head && !busy[s] ->
#endif
     if
     :: atomic { pinned[s] > 0 -> pinned[s]--; from_pin = true; found = true }
     :: atomic { pinned[s] == 0 && open[s] > 0 -> open[s]--; found = true }
     :: atomic { pinned[s] == 0 && open[s] == 0 && open[other(s)] > 0 -> open[other(s)]--; found = true }
     :: atomic { pinned[s] == 0 && open[0] + open[1] == 0 && pinned[other(s)] > 0 ->
                 pinned[other(s)]--; from_pin = true; found = true }
     :: !anything -> goto try_sleep
     fi;
     d_step {
       assert(head && found);
       found = false;
#ifndef BUSY_NOT_SET
       busy[s] = true;
#endif
       running[s]++;
       assert(running[s] == 1)
     };
     leaves_search();
     if
     :: atomic { from_pin && !forked -> from_pin = false; forked = true }; /* the root: forks, is suspended */
        do
        :: n < TASKS ->
           n++;
           add()
        :: else -> break
        od;
        n = 0;
        release(true);
        goto search
     :: atomic { from_pin && forked -> from_pin = false; assert(children == 0) }; /* the root: ends */
        release(true);
        stop = true;
#ifndef STOP_SILENT
        d_step { notify_all(0); notify_all(1) }
#endif
        ;
        goto over
     :: else -> /* a task: forks a leaf */
#ifdef TOGETHER
        begun++;
        begun == TASKS;
#endif
#ifdef HEADS_ONLY
        left[s] = 1;
#else
        d_step { left[s] = 2; leaves[s]++ };
        d_step { notify_one(s) };
#endif
#ifdef RELEASED_WITH_LEAVES
        busy[s] = false;
#endif
        part_ends();
        goto search
     fi
  :: leaves[s] == 0 -> goto try_sleep
  fi;

try_sleep:
#ifndef ASLEEP_SET_LATE
  atomic { if :: head -> head_asleep[s] = true :: else fi };
#endif
  atomic { called[id] = false; prewaiters[s]++ }
#if defined(NO_RECHECK)
  found = stop;
#elif defined(RECHECK_OWN_POOL)
  found = stop || leaves[s] > 0 || (head && !busy[s] && open[s] + pinned[s] > 0);
#else
  found = stop || leaves[s] > 0 || (head && !busy[s] && anything);
#endif
#ifdef ASLEEP_SET_LATE
  atomic { if :: head -> head_asleep[s] = true :: else fi };
#endif
  atomic {
    mine = (signals[s] == prewaiters[s]);
    if
    :: found || called[id] -> /* cancel */
       if :: mine -> signals[s]-- :: else fi;
       prewaiters[s]--
    :: else ->
       prewaiters[s]--;
       if
       :: signals[s] > 0 -> signals[s]--
       :: else -> asleep[id] = true
       fi
    fi;
    found = asleep[id];
    mine = false;
    called[id] = false
  }
  atomic {
    if
    :: found -> woken[id]; woken[id] = false
    :: else
    fi;
    found = false;
    if :: head -> head_asleep[s] = false :: else fi;
    if :: !stop -> goto explore :: else fi
  }
over:
  ended++
}

/* Somebody outside, who then waits for the end. */
proctype outside() {
#ifndef EARLY
  add_root();
#endif
  ended == WORKERS;
  assert(!anything && running[0] + running[1] == 0 && leaves[0] + leaves[1] == 0)
}

init {
  atomic {
#ifdef EARLY
    pinned[HOME]++;
#endif
    run worker(0, true);
#ifndef HEADS_ONLY
    run worker(0, false);
#endif
#ifdef ALONE
    busy[1] = true;
#else
    run worker(1, true);
#if !defined(HEADS_ONLY) && !defined(SHORT)
    run worker(1, false);
#endif
#endif
    run outside()
  }
}
