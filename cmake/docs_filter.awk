# A header as the reference shows it: without the public members that only heist's own code uses, and without overloads that
# refuse a call. The former stand behind a comment that says so, and before the next access label or the end of the class. An
# overload that refuses stands behind a comment that begins with "Refused:", and before an empty line.
#
#   awk -f docs_filter.awk HEADER     prints it; Doxygen calls it (FILTER_PATTERNS)
hides == "members" && (/^ ?(public|protected|private):/ || /^};/) { hides = "" }
hides == "overload" && /^[ \t]*$/ { hides = "" }
hides == "" && /^ *\/\/ (For the code of heist|How executors start runs)/ { hides = "members" }
hides == "" && /^ *\/\/ Refused:/ { hides = "overload" }
{ print hides == "" ? $0 : "" }
