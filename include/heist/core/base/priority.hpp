// How urgent a task is.
#pragma once

namespace heist {

/// Of tasks that wait for a worker the urgent ones come first; nothing that runs is interrupted for them. Any number from
/// -128 to 127 is a priority, the larger the more urgent: heist::priority(5). For submitted tasks those above `high` are
/// as `high`, those below `low` as `low`; tasks of graphs know them all.
enum class priority : signed char { low = -1, normal = 0, high = 1 };

}  // namespace heist
