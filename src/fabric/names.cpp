#include "isleway/fabric/device.hpp"
#include "isleway/fabric/path.hpp"

namespace isleway {

const char* name_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::nvlink: return "NVLink";
    case LinkKind::xgmi: return "xGMI";
    case LinkKind::c2c: return "C2C";
    case LinkKind::pcie: return "PCIe";
    case LinkKind::smp: return "SMP";
    case LinkKind::network: return "network";
  }
  return "";
}

const char* name_of(PathKind kind) {
  switch (kind) {
    case PathKind::loc: return "X";
    case PathKind::nvl: return "NVL";
    case PathKind::nvb: return "NVB";
    case PathKind::c2c: return "C2C";
    case PathKind::pix: return "PIX";
    case PathKind::pxb: return "PXB";
    case PathKind::p2c: return "P2C";
    case PathKind::pxn: return "PXN";
    case PathKind::phb: return "PHB";
    case PathKind::node: return "NODE";
    case PathKind::sys: return "SYS";
    case PathKind::net: return "NET";
    case PathKind::dis: return "DIS";
  }
  return "";
}

}  // namespace isleway
