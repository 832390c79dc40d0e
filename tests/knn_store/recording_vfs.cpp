#include "knn_store/recording_vfs.hpp"

#include <sqlite3.h>

#include <cstring>
#include <new>

namespace linearmem::test {
namespace {

sqlite3_vfs* plain() {
  static sqlite3_vfs* const vfs = sqlite3_vfs_find("unix");
  return vfs;
}

// The plain layer's file follows directly behind.
struct File {
  sqlite3_file base;
  std::string* name;
  sqlite3_file* inner() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
sqlite3_file* inner(sqlite3_file* file) { return of(file).inner(); }
const sqlite3_io_methods& methods(sqlite3_file* file) { return *inner(file)->pMethods; }

int close_file(sqlite3_file* file) {
  const int code = methods(file).xClose(inner(file));
  delete of(file).name;
  return code;
}
int read_file(sqlite3_file* file, void* to, int size, sqlite3_int64 at) { return methods(file).xRead(inner(file), to, size, at); }
int write_file(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
  const int code = RecordingVfs::instance().take(
      {StepKind::write, *of(file).name, at, std::string(static_cast<const char*>(from), static_cast<std::size_t>(size))});
  return code != SQLITE_OK ? code : methods(file).xWrite(inner(file), from, size, at);
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  const int code = RecordingVfs::instance().take({StepKind::truncate, *of(file).name, size});
  return code != SQLITE_OK ? code : methods(file).xTruncate(inner(file), size);
}
int sync_file(sqlite3_file* file, int) { return RecordingVfs::instance().take({StepKind::sync, *of(file).name}); }
int size_of_file(sqlite3_file* file, sqlite3_int64* size) { return methods(file).xFileSize(inner(file), size); }
int lock_file(sqlite3_file* file, int level) { return methods(file).xLock(inner(file), level); }
int unlock_file(sqlite3_file* file, int level) { return methods(file).xUnlock(inner(file), level); }
int is_reserved(sqlite3_file* file, int* out) { return methods(file).xCheckReservedLock(inner(file), out); }
int control_file(sqlite3_file* file, int what, void* with) {
  if (what == SQLITE_FCNTL_SIZE_HINT || what == SQLITE_FCNTL_CHUNK_SIZE) return SQLITE_OK;  // they would write past this layer
  return methods(file).xFileControl(inner(file), what, with);
}
int sector_of(sqlite3_file* file) { return methods(file).xSectorSize(inner(file)); }
int traits_of(sqlite3_file* file) { return methods(file).xDeviceCharacteristics(inner(file)); }
int map_shared(sqlite3_file* file, int page, int size, int extend, void volatile** to) {
  return methods(file).xShmMap(inner(file), page, size, extend, to);
}
int lock_shared(sqlite3_file* file, int first, int count, int flags) { return methods(file).xShmLock(inner(file), first, count, flags); }
void fence_shared(sqlite3_file* file) { methods(file).xShmBarrier(inner(file)); }
int unmap_shared(sqlite3_file* file, int remove) { return methods(file).xShmUnmap(inner(file), remove); }

const sqlite3_io_methods kMethods = {2,           close_file,   read_file,    write_file,   truncate_file, sync_file, size_of_file,
                                     lock_file,   unlock_file,  is_reserved,  control_file, sector_of,     traits_of, map_shared,
                                     lock_shared, fence_shared, unmap_shared, nullptr,      nullptr};

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
  File& made = of(file);
  made.base.pMethods = nullptr;
  const int code = plain()->xOpen(plain(), name, made.inner(), flags, out);
  if (code != SQLITE_OK) return code;
  made.name = new std::string(name ? name : "");
  made.base.pMethods = &kMethods;
  return SQLITE_OK;
}

int remove_file(sqlite3_vfs*, const char* name, int sync) {
  const int code = RecordingVfs::instance().take({StepKind::remove, name});
  return code != SQLITE_OK ? code : plain()->xDelete(plain(), name, sync);
}

}  // namespace

RecordingVfs& RecordingVfs::instance() {
  static RecordingVfs one;
  return one;
}

RecordingVfs::RecordingVfs() {
  static sqlite3_vfs vfs = *plain();
  vfs.pNext = nullptr;
  vfs.zName = kName;
  vfs.szOsFile = static_cast<int>(sizeof(File)) + plain()->szOsFile;
  vfs.xOpen = open_file;
  vfs.xDelete = remove_file;
  sqlite3_vfs_register(&vfs, 0);
}

void RecordingVfs::start() {
  steps_.clear();
  fail_at_ = -1;
  failed_ = false;
}

void RecordingVfs::fail(std::int64_t at, int write_code, int sync_code, bool lasting) {
  fail_at_ = at, write_code_ = write_code, sync_code_ = sync_code, lasting_ = lasting;
}

int RecordingVfs::take(Step step) {
  const auto at = static_cast<std::int64_t>(steps_.size());
  if (fail_at_ >= 0 && (lasting_ ? at >= fail_at_ : at == fail_at_)) {
    failed_ = true;
    if (!lasting_) fail_at_ = -1;
    return step.kind == StepKind::sync ? sync_code_ : step.kind == StepKind::remove ? SQLITE_IOERR_DELETE : write_code_;
  }
  steps_.push_back(std::move(step));
  return SQLITE_OK;
}

std::vector<std::size_t> uncertain(const std::vector<Step>& steps, std::size_t count) {
  std::map<std::string, std::size_t> synced;
  for (std::size_t i = 0; i < count; ++i)
    if (steps[i].kind == StepKind::sync) synced[steps[i].file] = i;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < count; ++i) {
    const auto certain = synced.find(steps[i].file);
    if (steps[i].kind != StepKind::sync && (certain == synced.end() || i > certain->second)) open.push_back(i);
  }
  return open;
}

}  // namespace linearmem::test
