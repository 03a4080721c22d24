// ELF, as far as it tells how a program was linked.
#include <elf.h>

#include <cstring>
#include <fstream>

#include "isleway/virtual/launch.hpp"

namespace isleway::vgpu {
namespace {

constexpr std::uint64_t kMostTable = std::uint64_t{64} << 20;

/// Bytes of the file, or nothing where it ends earlier.
std::string bytes(std::ifstream& file, std::uint64_t at, std::uint64_t size) {
  if (size > kMostTable) return {};
  std::string text(size, '\0');
  file.clear();
  file.seekg(static_cast<std::streamoff>(at));
  if (!file.read(text.data(), static_cast<std::streamsize>(size))) return {};
  return text;
}

template <class T>
std::vector<T> records(const std::string& text) {
  std::vector<T> all(text.size() / sizeof(T));
  std::memcpy(all.data(), text.data(), all.size() * sizeof(T));
  return all;
}

std::string_view name_at(const std::string& names, std::uint64_t offset) {
  if (offset >= names.size()) return {};
  const std::string_view rest = std::string_view(names).substr(offset);
  return rest.substr(0, rest.find('\0'));
}

}  // namespace

bool has_static_cudart(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const auto headers = records<Elf64_Ehdr>(bytes(file, 0, sizeof(Elf64_Ehdr)));
  if (headers.empty() || std::memcmp(headers[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      headers[0].e_ident[EI_CLASS] != ELFCLASS64 || headers[0].e_shentsize != sizeof(Elf64_Shdr))
    return false;
  const Elf64_Ehdr& header = headers[0];
  const auto sections = records<Elf64_Shdr>(
      bytes(file, header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr)));
  if (header.e_shstrndx >= sections.size()) return false;
  const Elf64_Shdr& name_section = sections[header.e_shstrndx];
  const std::string section_names = bytes(file, name_section.sh_offset, name_section.sh_size);
  bool gpu_code = false;
  for (const Elf64_Shdr& section : sections) {
    gpu_code |= name_at(section_names, section.sh_name) == ".nv_fatbin";
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    const std::string names = bytes(file, strings.sh_offset, strings.sh_size);
    for (const Elf64_Sym& symbol :
         records<Elf64_Sym>(bytes(file, section.sh_offset, section.sh_size)))
      if (symbol.st_shndx == SHN_UNDEF &&
          name_at(names, symbol.st_name) == "__cudaRegisterFatBinary")
        return false;  // asks a library for it
  }
  return gpu_code;
}

Error static_cudart_error(const std::string& program) {
  return {{},
          program + " has the CUDA runtime linked into it, which no library can replace",
          "a program that loads libcudart.so",
          "build it with: nvcc -cudart shared, or cmake -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared, or "
          "make CUDARTLIB=cudart"};
}

}  // namespace isleway::vgpu
