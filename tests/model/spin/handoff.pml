/* How fibers are parked, go on and are freed: core/scheduler/README.md, "Parking". Here every step is visible at once; what
 * weak memory adds is proved by tests/model/fibers.cpp.
 *
 * TASKS tasks wait ROUNDS times each, for something that a thread outside completes, on WORKERS workers.
 * Checked: a fiber has one runner at a time, is resumed once for each time that it parks, and is alive; all tasks end.
 *
 * Seeded bugs: PUBLISH_BEFORE_SWITCH, ERROR_TEXT_IGNORED, RESUMED_TWICE, CACHED_WHILE_PARKED, FREED_WHILE_PARKED,
 *              RESUMED_ALTHOUGH_ENLISTED, NOT_NOTIFIED */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef TASKS
#define TASKS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define FIBERS 8
#define NOBODY 255
#define COMPLETIONS (TASKS * ROUNDS)

chan items = [8] of { bool, byte }; /* true: go on with a fiber; false: start a task */

byte runner[FIBERS];
bool parked[FIBERS], freed[FIBERS];
byte task[FIBERS] = NOBODY; /* on this fiber */
byte stage[FIBERS];         /* how often it has waited */
byte made;
bool spare[WORKERS * FIBERS];
bool done[COMPLETIONS];
byte enlisted[COMPLETIONS] = NOBODY;
byte over, ended;

#define is_cached(f) spare[me * FIBERS + (f)]
#define completion (task[f] * ROUNDS + stage[f])

inline leave(f) { assert(!freed[f] && runner[f] == me); runner[f] = NOBODY }
inline enter(f) { assert(!freed[f] && runner[f] == NOBODY); runner[f] = me }

inline publish(f, c) {
  atomic {
    if
    :: done[c] -> refused = true
    :: else -> enlisted[c] = f
    fi
  }
#ifdef RESUMED_ALTHOUGH_ENLISTED
  refused = true;
#endif
#ifndef ERROR_TEXT_IGNORED
  if :: refused -> refused = false; items!true,f :: else fi
#endif
}

proctype worker(byte me; byte f) {
  byte to, c, t;
  bool refused, resumes;
  runner[f] = me;
  do
  :: task[f] != NOBODY && stage[f] == ROUNDS -> atomic { task[f] = NOBODY; stage[f] = 0; over++ }
  :: task[f] != NOBODY && stage[f] < ROUNDS ->
     c = completion;
     stage[f] = stage[f] + 1;
     if
     :: done[c] /* nothing to wait for */
     :: else ->
        atomic { /* a spare fiber, or a new one */
          to = 0;
          do
          :: to < FIBERS && !is_cached(to) -> to++
          :: else -> break
          od;
          if
          :: to == FIBERS -> to = made; made++
          :: else -> is_cached(to) = false
          fi;
          assert(to < FIBERS)
        }
        parked[f] = true;
#ifdef PUBLISH_BEFORE_SWITCH
        publish(f, c);
#endif
        leave(f);
        enter(to);
#ifdef FREED_WHILE_PARKED
        freed[f] = true;
#endif
#ifdef CACHED_WHILE_PARKED
        is_cached(f) = true;
#endif
#ifndef PUBLISH_BEFORE_SWITCH
        publish(f, c);
#endif
        f = to;
        to = 0
     fi;
     c = 0
  :: task[f] == NOBODY && over < TASKS ->
     if
     :: items?resumes,to ->
        if
        :: resumes ->
           resumes = false;
           leave(f);
           enter(to);
           assert(parked[to]);
           parked[to] = false;
           is_cached(f) = true;
           f = to
        :: else -> task[f] = to; stage[f] = 0
        fi;
        to = 0
     :: over == TASKS -> break
     fi
  :: task[f] == NOBODY && over == TASKS -> break
  od;
  ended++
}

proctype completer() {
  byte c, w;
  do
  :: c < COMPLETIONS ->
     d_step { done[c] = true; w = enlisted[c] }
#ifndef NOT_NOTIFIED
     if
     :: w != NOBODY ->
        items!true,w
#ifdef RESUMED_TWICE
        ;
        items!true,w
#endif
     :: else
     fi;
#endif
     c++
  :: else -> break
  od;
  c = 0;
  w = 0
}

/* The executor frees all fibers after the last worker has ended. */
proctype owner() {
  byte f;
  ended == WORKERS;
  assert(len(items) == 0);
  do
  :: f < made -> assert(!parked[f] && task[f] == NOBODY && !freed[f]); freed[f] = true; f++
  :: else -> break
  od
}

init {
  byte i;
  atomic {
    do
    :: i < FIBERS -> runner[i] = NOBODY; i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < TASKS -> items!false,i; i++
    :: else -> break
    od;
    i = 0;
    made = WORKERS;
    do
    :: i < WORKERS -> run worker(i, i); i++
    :: else -> break
    od;
    run completer();
    run owner()
  }
}
