# A header as the reference shows it. It hides protected members, and overloads that refuse a call. Such an overload stands
# behind a comment that begins with "Refused:", and before an empty line.
#
# The filter moves a class below "// A base class that the reference shows." out of heist::detail: then the pages of derived
# classes have its members. "// --- Title ---" among the members of a class is the title of those behind it.
#
#   awk -f docs_filter.awk HEADER     prints it; Doxygen calls it (FILTER_PATTERNS)
/^\/\/ A base class that the reference shows\.$/ { print "}"; base = 1; next }
/^(class|struct|template)/ { gsub(/public detail::/, "public ") }
hides == "members" && (/^ ?(public|protected|private):/ || /^};/) { hides = "" }
hides == "overload" && /^[ \t]*$/ { hides = "" }
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
