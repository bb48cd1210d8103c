/* How workers fall asleep and are woken under standard: core/sync/README.md, "Sleep", S1 and S2.
 *
 * BUSY     A task keeps its worker busy for ever, and there are as many tasks as workers: who sleeps on has been
 *          forgotten (an invalid end state). Without it workers go on until a stop.
 * WORKERS, TASKS (from outside), CHILDREN (the first tasks to run push so many together)
 *
 * Memory: whoever pushes has a buffer in which pushes wait until they become visible, at any time later; a full fence
 * empties one's own buffer, a heavy fence everybody's, one after the other. A light fence keeps the look behind the
 * push, and no more. Changes of the counters do not empty the buffer: an RMW is no fence for other variables.
 * The EventCount's word changes in one step; who is woken is open, which includes "the youngest".
 * COARSE   A heavy fence, and a look at all sources, is one step: for the larger configurations.
 *
 * Seeded bugs: NO_RECHECK, NO_LIGHT_FENCE, FULL_FOR_HEAVY, NO_FENCE_BEFORE_THIEVES, PUSH_SILENT, SUBMIT_SILENT,
 *              SUBMIT_NO_FENCE, LAST_THIEF_SILENT, NOT_ANNOUNCED, CANCEL_LEAVES, STOP_SILENT,
 *              STOP_NOT_RECHECKED, NOTIFY_BEFORE_PUSH
 * That a cancelled wait takes the signal of another is no bug here: who cancels has seen work and is a thief again.
 * It is one for users of the EventCount alone (tests/model/event_count.cpp). */
#ifndef WORKERS
#define WORKERS 3
#endif
#ifndef TASKS
#define TASKS 1
#endif
#ifndef CHILDREN
#define CHILDREN 2
#endif
#define OUTSIDE WORKERS /* place WORKERS: the master queue, and the buffer of who submits */
#define PLACES (WORKERS + 1)

byte queue[PLACES];  /* visible tasks */
byte buffer[PLACES]; /* pushed, not yet visible */
byte thieves, prewaiters, signals, sleepers;
bool asleep[WORKERS], woken[WORKERS];
byte children = CHILDREN, ran, ended;
bool stop;

inline flush(p) { d_step { queue[p] = queue[p] + buffer[p]; buffer[p] = 0 } }

#define anybody_waiting (prewaiters + sleepers > 0)

inline notify_one(self) {
  flush(self);
  atomic {
    if
    :: signals < prewaiters -> signals++
    :: signals >= prewaiters && sleepers > 0 ->
       if
       :: asleep[0] -> k = 0
       :: asleep[1] -> k = 1
#if WORKERS > 2
       :: asleep[2] -> k = 2
#endif
       fi;
       asleep[k] = false; sleepers--; woken[k] = true; k = 0
    :: else -> k = 0
    fi
  }
}
inline notify_all() {
  d_step {
    signals = prewaiters;
    k = 0;
    do
    :: k < WORKERS -> if :: asleep[k] -> asleep[k] = false; woken[k] = true :: else fi; k++
    :: else -> break
    od;
    sleepers = 0; k = 0
  }
}
inline wake_unless_searching(self) {
#ifndef NO_FENCE_BEFORE_THIEVES
  flush(self);
#endif
  if :: thieves == 0 -> notify_one(self) :: else fi
}
/* All sources, one after the other. */
inline look(found) {
#ifdef COARSE
  d_step {
    found = false;
    k = 0;
    do
    :: k < PLACES -> found = found || queue[k] > 0; k++
    :: else -> break
    od;
    k = 0
  }
#else
  found = false;
  do
  :: atomic { k < PLACES -> found = found || queue[k] > 0; k++ }
  :: atomic { k == PLACES -> k = 0; break }
  od
#endif
}
inline push(self) {
#ifdef PUSH_SILENT
  buffer[self]++
#else
#ifdef NO_LIGHT_FENCE
  seen = anybody_waiting;
  buffer[self]++;
#else
#ifdef NOTIFY_BEFORE_PUSH
  seen = false;
  if :: anybody_waiting -> wake_unless_searching(self) :: else fi;
  buffer[self]++;
#else
  buffer[self]++;
  seen = anybody_waiting;
#endif
#endif
  if :: seen -> seen = false; wake_unless_searching(self) :: else fi
#endif
}

proctype worker(byte me) {
  byte k;
  bool found, last, seen;

start_stealing:
  thieves++;
explore:
  if
  :: atomic { queue[0] > 0 -> queue[0]-- }
  :: atomic { queue[1] > 0 -> queue[1]-- }
  :: atomic { queue[2] > 0 -> queue[2]-- }
#if WORKERS > 2
  :: atomic { queue[3] > 0 -> queue[3]-- }
#endif
  :: true -> goto try_sleep
  fi;
  /* found work */
  atomic { thieves--; last = (thieves == 0) }
#ifndef LAST_THIEF_SILENT
  if
  :: last ->
     last = false;
     flush(me);
     if
     :: anybody_waiting -> look(found); if :: found -> found = false; notify_one(me) :: else fi
     :: else
     fi
  :: else
  fi;
#endif
work:
  do
  :: atomic { children > 0 -> children-- };
     push(me)
  :: children == 0 -> break
  od;
  ran++;
#ifdef BUSY
  goto over;
#else
  flush(me); /* pop: the fence */
  if
  :: atomic { queue[me] > 0 -> queue[me]--; goto work }
  :: else -> goto start_stealing
  fi;
#endif

try_sleep:
#ifndef BUSY
  if :: stop -> notify_all(); goto over :: else fi;
#endif
#ifndef NOT_ANNOUNCED
  prewaiters++;
#endif
  thieves--;
#ifdef FULL_FOR_HEAVY
  flush(me);
#else
#ifdef COARSE
  d_step {
    do
    :: k < PLACES -> queue[k] = queue[k] + buffer[k]; buffer[k] = 0; k++
    :: else -> break
    od;
    k = 0
  }
#else
  do
  :: atomic { k < PLACES -> flush(k); k++ }
  :: atomic { k == PLACES -> k = 0; break }
  od;
#endif
#endif
#ifdef NO_RECHECK
  found = false;
#else
  look(found);
#endif
#ifndef STOP_NOT_RECHECKED
  found = found || stop;
#endif
#ifdef NOT_ANNOUNCED
  prewaiters++;
#endif
  if
  :: found ->
     found = false;
     d_step {
#ifndef CANCEL_LEAVES
       if :: signals == prewaiters -> signals-- :: else fi;
#endif
       prewaiters--;
       assert(signals <= prewaiters)
     }
     thieves++;
     goto explore
  :: else
  fi;
  atomic {
    prewaiters--;
    if
    :: signals > 0 -> signals--; goto start_stealing
    :: else -> asleep[me] = true; sleepers++
    fi
  }
  atomic { woken[me] -> woken[me] = false }
  goto start_stealing;
over:
  ended++
}

proctype submitter() {
  byte k, n;
  do
  :: n < TASKS ->
     n++;
     buffer[OUTSIDE]++;
#ifndef SUBMIT_NO_FENCE
     flush(OUTSIDE);
#endif
#ifndef SUBMIT_SILENT
     if :: thieves == 0 -> notify_one(OUTSIDE) :: else fi
#endif
  :: else -> break
  od;
  n = 0
}

/* Stores arrive in the end. */
proctype drain() {
end:
  do
  :: atomic { buffer[0] > 0 -> buffer[0]--; queue[0]++ }
  :: atomic { buffer[1] > 0 -> buffer[1]--; queue[1]++ }
  :: atomic { buffer[2] > 0 -> buffer[2]--; queue[2]++ }
#if WORKERS > 2
  :: atomic { buffer[3] > 0 -> buffer[3]--; queue[3]++ }
#endif
  od
}

#ifndef BUSY
proctype closer() {
  byte k;
  ran == TASKS + CHILDREN;
  stop = true;
#ifndef STOP_SILENT
  notify_all()
#endif
}
#endif

proctype judge() {
  byte i;
  ended == WORKERS;
  assert(ran == TASKS + CHILDREN);
  do
  :: i < PLACES -> assert(queue[i] == 0 && buffer[i] == 0); i++
  :: else -> break
  od
}

init {
  byte i;
  atomic {
    do
    :: i < WORKERS -> run worker(i); i++
    :: else -> break
    od;
    run submitter();
    run drain();
#ifndef BUSY
    run closer();
#endif
    run judge()
  }
}
