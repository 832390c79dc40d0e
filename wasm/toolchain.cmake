# Finds Emscripten's own toolchain file through its tools, wherever it is installed.
find_program(EM_CONFIG em-config REQUIRED NO_CMAKE_FIND_ROOT_PATH)
execute_process(COMMAND "${EM_CONFIG}" EMSCRIPTEN_ROOT OUTPUT_VARIABLE emscripten_root OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
include("${emscripten_root}/cmake/Modules/Platform/Emscripten.cmake")

# The default prefix is the compiler's own system root.
set(CMAKE_INSTALL_PREFIX "${CMAKE_BINARY_DIR}/install" CACHE PATH "")
# Node 20's own fetch makes Emscripten's start-up take files for addresses; older ones do not know the flag.
execute_process(COMMAND node --no-experimental-fetch -e 0 RESULT_VARIABLE node_fetch_flag_refused OUTPUT_QUIET ERROR_QUIET)
if(node_fetch_flag_refused)
  set(CMAKE_CROSSCOMPILING_EMULATOR node)
else()
  set(CMAKE_CROSSCOMPILING_EMULATOR "node;--no-experimental-fetch")
endif()

# Exception and SIMD encoding must be the same in every object and at the link.
set(CMAKE_CXX_FLAGS_INIT "-fwasm-exceptions")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-fwasm-exceptions")
