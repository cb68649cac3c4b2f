# weir_add_plugin(NAME SOURCES file... [LIBRARIES library...])
#
# Builds NAME.so into ${CMAKE_BINARY_DIR}/plugins, as target weir_plugin_NAME: only the descriptor
# is visible (with templates of C++ the linker must see to it), nothing may stay undefined but libc,
# its own symbols win over those of others, and it carries no soname, since two versions of a plugin
# may be loaded side by side. Then `weir check --plugin` looks at it: inside Weir's own tree as a
# test. Elsewhere it is linked in a folder beside, looked at, and moved to its place in one step, so
# that a host which watches the folder sees only whole plugins, and a plugin that is refused leaves
# the former one there. Installing puts it where the host finds it by its bare name. Needs CMake
# 3.17.
function(weir_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 plugin "" "" "SOURCES;LIBRARIES")
  if(NOT plugin_SOURCES OR plugin_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weir_add_plugin(NAME SOURCES file... [LIBRARIES library...])")
  endif()
  if(NOT name MATCHES "^[A-Za-z][A-Za-z0-9_-]*$")
    message(FATAL_ERROR "weir_add_plugin: \"${name}\" is no name for a plugin: letters, digits, "
      "_ and -, a letter first")
  endif()

  set(target weir_plugin_${name})
  set(map ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/weir-plugin.map)
  add_library(${target} MODULE ${plugin_SOURCES})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name} PREFIX "" SUFFIX .so NO_SONAME ON
    C_STANDARD 11 C_STANDARD_REQUIRED ON
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/plugins)
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  target_link_libraries(${target} PRIVATE weir::sdk ${plugin_LIBRARIES})
  target_link_options(${target} PRIVATE LINKER:-Bsymbolic
    LINKER:--version-script=${map})
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})

  weir_uses_sanitizer(sanitizer)
  # Clang leaves the sanitizer's own symbols to the program.
  if(NOT (sanitizer AND "${CMAKE_C_COMPILER_ID}${CMAKE_CXX_COMPILER_ID}" MATCHES "Clang"))
    target_link_options(${target} PRIVATE LINKER:-z,defs)
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION ${WEIR_PLUGIN_DIR} COMPONENT plugins)
  weir_check_plugin(${name} ${target} "${sanitizer}")
endfunction()

# Sets `out` to whether the flags of this build ask for a sanitizer.
function(weir_uses_sanitizer out)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  set(flags "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}}")
  string(APPEND flags " ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
  if(flags MATCHES "-fsanitize=")
    set(${out} TRUE PARENT_SCOPE)
  else()
    set(${out} FALSE PARENT_SCOPE)
  endif()
endfunction()

# An installed program without the sanitizer cannot load a plugin that has it: then nothing is
# checked, and the build says so.
function(weir_check_plugin name target sanitizer)
  if(WEIR_EXECUTABLE)
    set(place ${CMAKE_BINARY_DIR}/plugins)
    set(look ${WEIR_EXECUTABLE} check --plugin $<TARGET_FILE:${target}>)
    if(sanitizer)
      set(look ${CMAKE_COMMAND} -E echo "${name}.so: not checked, as it has a sanitizer")
    endif()
    set_target_properties(${target} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/weir-linked)
    add_custom_command(TARGET ${target} POST_BUILD VERBATIM
      COMMAND ${look}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${place}
      COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:${target}> ${place}/${name}.so.new
      COMMAND ${CMAKE_COMMAND} -E rename ${place}/${name}.so.new ${place}/${name}.so
      BYPRODUCTS ${place}/${name}.so)
  elseif(WEIR_TESTS AND TARGET weir)
    add_test(NAME plugin.${name} COMMAND weir check --plugin $<TARGET_FILE:${target}>)
    set_tests_properties(plugin.${name} PROPERTIES LABELS plugin TIMEOUT 60)
  endif()
endfunction()
