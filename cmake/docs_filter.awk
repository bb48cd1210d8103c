# A header as the reference shows it: without protected members, those that only heist's own code uses, and without overloads that
# refuse a call. Members for heist's code stand behind a comment that says so, and before the next access label or the end of the class. An
# overload that refuses stands behind a comment that begins with "Refused:", and before an empty line.
#
# A class of heist::detail below "// A base class that the reference shows." stands outside of it, so that classes that derive from
# it have its members on their pages. A comment "// --- Title ---" among the members of a class becomes the title of the members behind it.
#
#   awk -f docs_filter.awk HEADER     prints it; Doxygen calls it (FILTER_PATTERNS)
/^\/\/ A base class that the reference shows\.$/ { print "}"; base = 1; next }
/^(class|struct|template)/ { gsub(/public detail::/, "public ") }
hides == "members" && (/^ ?(public|protected|private):/ || /^};/) { hides = "" }
hides == "overload" && /^[ \t]*$/ { hides = "" }
hides == "" && /^ *\/\/ (For the code of heist|How executors start runs)/ { hides = "members" }
hides == "" && /^ ?protected:/ { hides = "members" }
hides == "" && /^ *\/\/ Refused:/ { hides = "overload" }
hides == "" && /^(};| ?(public|protected|private):)/ && titled { print "/// @}"; titled = 0 }
hides == "" && /^ *\/\/ --- .* ---$/ {
  sub(/^ *\/\/ --- /, ""); sub(/ ---$/, "")
  printf "%s/// @name %s\n/// @{\n", titled ? "/// @}\n" : "", $0
  titled = 1
  next
}
{ print hides == "" ? $0 : "" }
base && /^};/ { print "namespace detail {"; base = 0 }
