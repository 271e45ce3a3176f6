# SPDX-License-Identifier: Apache-2.0
# Installs the public headers: headrace/headrace.h and what it includes, at once or through others. Part of the install
# script; `source` is the tree, `include` the folder below the prefix.
set(wanted headrace/headrace.h)
while(wanted)
  list(POP_FRONT wanted header)
  list(APPEND headers ${header})
  cmake_path(GET header PARENT_PATH folder)
  file(INSTALL ${source}/${header} DESTINATION ${CMAKE_INSTALL_PREFIX}/${include}/${folder} MESSAGE_NEVER)
  file(STRINGS ${source}/${header} lines REGEX "^#include \"headrace/")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include \"(.*)\".*" "\\1" header "${line}")
    if(NOT header IN_LIST headers)
      list(APPEND wanted ${header})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES wanted)
endwhile()
