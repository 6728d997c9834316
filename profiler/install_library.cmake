# cmake -DLIBRARY=FILE -DDIRECTORY=DIR [-DSTRIP=PROGRAM] -P install_library.cmake
#
# Puts the profiler library into DIR under the name of its content, libtracerd_profiler-HASH.so, and makes
# libtracerd_profiler.so a link to it. Traced processes keep the file mapped for as long as they live, and what is written
# over a mapped file is executed by them: so nothing is ever written under a name that may be mapped. The copy is made under
# another name and renamed, and so is the link; a process that looks meanwhile finds the old one or the new one, whole.
# Files of earlier versions stay; one that no process maps any more may be deleted.
cmake_minimum_required(VERSION 3.22)
string(RANDOM LENGTH 12 unique)
set(temporary "${DIRECTORY}/.libtracerd_profiler-${unique}")
file(MAKE_DIRECTORY "${DIRECTORY}")
configure_file("${LIBRARY}" "${temporary}" COPYONLY)
if(STRIP)
  execute_process(COMMAND "${STRIP}" --strip-unneeded "${temporary}" COMMAND_ERROR_IS_FATAL ANY)
endif()
file(CHMOD "${temporary}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)
file(SHA256 "${temporary}" hash)
string(SUBSTRING "${hash}" 0 16 hash)
set(name "libtracerd_profiler-${hash}.so")
if(EXISTS "${DIRECTORY}/${name}")
  file(REMOVE "${temporary}")
  message(STATUS "Up-to-date: ${DIRECTORY}/${name}")
else()
  file(RENAME "${temporary}" "${DIRECTORY}/${name}")
  message(STATUS "Installing: ${DIRECTORY}/${name}")
endif()
file(CREATE_LINK "${name}" "${temporary}" SYMBOLIC)
file(RENAME "${temporary}" "${DIRECTORY}/libtracerd_profiler.so")
