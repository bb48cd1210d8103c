# The cookbook as the reference shows it: the page, and on the page of each class the recipe whose marker names the class.
#
#   awk -f docs_examples.awk cookbook.md     prints it; Doxygen calls it (FILTER_PATTERNS)
/^<!-- example: / {
  $1 = $2 = $NF = ""
  names = $0
  next
}
{ print }
/^```cpp$/ && names != "" { inside = 1; code = ""; next }
/^```$/ && inside {
  count = split(names, each, " ")
  for (i = 1; i <= count; ++i)
    examples = examples "\n@class heist::" each[i] "\n@par Example\n@code{.cpp}\n" code "@endcode\n"
  names = ""; inside = 0
}
inside { code = code $0 "\n" }
END { print examples }
