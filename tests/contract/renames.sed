# Makes a program that was written for heist before its names were settled one for the names of today:
#   sed -i -f renames.sed PROGRAM.cpp
# The programs beside this script are what it made of older ones.
s/\bany_executor\b/executor_ref/g
s/\([.>]\)fulfil(/\1set_value(/g
s/\([.>]\)fail(\(std::\(make_exception_ptr\|current_exception\)\)/\1set_exception(\2/g
s/\([.>]\)sync_wait(/\1invoke(/g
s/\([.>]\)done()/\1is_ready()/g
s/\([.>]\)expedite()/\1raise_priority()/g
s/\([.>]\)note()/\1explain()/g
s/\([.>]\)verdict()/\1decision()/g
s/\bprofile_verdict\b/profile_decision/g
s/\([.>]\)follow_none()/\1unfollow()/g
s/\([.>]\)most()/\1max()/g
s/\([.>]\)designate(/\1assign_continuation(/g
s/\bidle::always_awake\b/idle::spinning/g
s/\bidle::balanced\b/idle::bws/g
s/\bidle::default_idle\b/idle::standard/g
s/\bjoin::wait\b/join::spin/g
s/\bholdback\b/wake_delay/g
s/\btiering\b/tier_mode/g
s/\bmetered_context\b/instrumented_context/g
s/\bpage_homes\b/page_node_map/g
s/\([.>]\)homes\b/\1node_map/g
# A stop token that is an argument of its own goes into heist::with. These lines see calls that begin and name their token on one
# line; the compiler's sentence names the others.
s/\([.>]\(submit\|invoke\|run_here\)( *\)\([A-Za-z_][A-Za-z0-9_.>-]*[.>]get_token()\|\([A-Za-z_.]*_\)\{0,1\}token\|[A-Za-z_][A-Za-z0-9_.>-]*[.>]stop_token()\|std::stop_token{}\) *, */\1heist::with{.stop = \3}, /g
s/\([.>]\(submit\|invoke\)(heist::after([^()]*), *\)\([A-Za-z_][A-Za-z0-9_.>-]*[.>]get_token()\|\([A-Za-z_.]*_\)\{0,1\}token\|[A-Za-z_][A-Za-z0-9_.>-]*[.>]stop_token()\|std::stop_token{}\) *, */\1heist::with{.stop = \3}, /g
s/\([.>]run(\([*A-Za-z_][A-Za-z0-9_.*]*\), *\)\([A-Za-z_][A-Za-z0-9_.>-]*[.>]get_token()\|\([A-Za-z_.]*_\)\{0,1\}token\|[A-Za-z_][A-Za-z0-9_.>-]*[.>]stop_token()\|std::stop_token{}\) *\([,)]\)/\1heist::with{.stop = \3}\5/g
s/\([.>]run_n(\([*A-Za-z_][A-Za-z0-9_.*]*\), *[^,()]*, *\)\([A-Za-z_][A-Za-z0-9_.>-]*[.>]get_token()\|\([A-Za-z_.]*_\)\{0,1\}token\|[A-Za-z_][A-Za-z0-9_.>-]*[.>]stop_token()\|std::stop_token{}\) *\([,)]\)/\1heist::with{.stop = \3}\5/g
s/\([.>]run_until(\([*A-Za-z_][A-Za-z0-9_.*]*\), *.*[})], *\)\([A-Za-z_][A-Za-z0-9_.>-]*[.>]get_token()\|\([A-Za-z_.]*_\)\{0,1\}token\|[A-Za-z_][A-Za-z0-9_.>-]*[.>]stop_token()\|std::stop_token{}\) *\([,)]\)/\1heist::with{.stop = \3}\5/g
