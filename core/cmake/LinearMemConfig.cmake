list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
include(CMakeFindDependencyMacro)
find_dependency(Highway 1.0.3)
include("${CMAKE_CURRENT_LIST_DIR}/LinearMemTargets.cmake")
