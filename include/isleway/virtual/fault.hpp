// What breaks while a virtual machine runs: what --fail knows, and what only drivers see.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "isleway/fabric/fabric.hpp"

namespace isleway::vgpu {

/// One fault, in the words that a user types. Beyond those of with_fault (change.hpp):
///   gpu3:xid=94                an Xid that the driver logs; 79 takes the GPU off the bus
///   gpu3:ecc:corrected=5       ECC errors in its memory
///   gpu3:ecc:uncorrected=1
///   gpu3:nvlink5:crc=100       errors on a link that stays up; also replay=, recovery=
///   gpu3:clique                its NVLink domain does not take it in (MNNVL, IMEX)
///   gpu3:clique=2              it is in another clique
///   fabricmanager              the fabric manager is down
///   repair nic4                an earlier fault, in the same words, is mended
struct Fault {
  struct Broken {};  ///< with_fault(text) says what is left
  struct Xid {
    int code = 0;
  };
  struct Ecc {
    bool corrected = false;
    std::uint64_t count = 0;
  };
  enum class LinkError : std::uint8_t { crc, replay, recovery };
  struct LinkErrors {
    int port = 0;
    LinkError kind = LinkError::crc;
    std::uint64_t count = 0;
  };
  struct Clique {
    int id = -1;
  };  ///< -1: none
  struct FabricManager {};
  struct Repair {
    std::string what;
  };

  std::string text;
  DeviceRef device;  ///< the GPU, of those that name one
  std::variant<Broken, Xid, Ecc, LinkErrors, Clique, FabricManager, Repair> kind;
};

/// Error: what cannot be understood or is not there. Says nothing yet on whether with_fault
/// can do what a Broken asks for, which depends on what is broken already.
Result<Fault> parse_fault(const Fabric& healthy, std::string_view text);

/// The faults that are in force after all of `faults` in this order: repairs take out what
/// they name. Error: a repair of something that is not broken.
Result<std::vector<Fault>> faults_in_force(std::span<const Fault> faults);

/// The machine with everything that with_fault knows of taken from it.
Result<Fabric> with_faults(const Fabric& healthy, std::span<const Fault> in_force);

}  // namespace isleway::vgpu
