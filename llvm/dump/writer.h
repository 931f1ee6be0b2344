// One machine function as JSON (llvm/JSON.md), with what is known of the run that allocates it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <llvm/CodeGen/LiveIntervals.h>
#include <llvm/CodeGen/MachineConstantPool.h>
#include <llvm/CodeGen/MachineFrameInfo.h>
#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/CodeGen/MachineRegisterInfo.h>
#include <llvm/CodeGen/PseudoSourceValue.h>
#include <llvm/CodeGen/SlotIndexes.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetRegisterInfo.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

#include "llvm/dump/tables.h"
#include "llvm/dump/versions.h"

namespace regduel_dump {

using namespace llvm;

// Facts of the function that is being allocated, from its first allocation run on.
struct Origins {
  struct Segment {
    SlotIndex begin, end;
    unsigned def;  // number of the instruction, 0 = a join of several
  };
  struct Inserted {
    int vreg = -1;     // of the program before: whose value this moves or computes
    unsigned def = 0;  // the instruction that defined that value
    int slot_of = -1;  // the stack slot that it names is the home of this vreg of the program before
  };
  int function = -1;  // its number: addresses are used again
  int run = -1;
  std::string allocator;
  std::set<unsigned> originals;      // of this run
  std::map<SlotIndex, unsigned> at;  // where they stood
  std::map<unsigned, std::vector<Segment>> live;
  std::map<unsigned, Inserted> inserted;    // by number
  std::map<unsigned, unsigned> stands_for;  // number of a folded instruction: the original in whose place it is
  std::set<std::string> dumped;             // passes after which this run was written down already

  unsigned original(unsigned number) const {
    const auto it = stands_for.find(number);
    return it == stands_for.end() ? number : it->second;
  }
  unsigned reaching(unsigned vreg, SlotIndex where) const {
    const auto it = live.find(vreg);
    if (it == live.end()) return 0;
    for (const Segment& s : it->second)
      if (s.begin <= where && where < s.end) return s.def;
    return 0;
  }
};

class Writer {
 public:
  explicit Writer(raw_ostream& out) : out_(&out) {}
  // From here on to this stream, with tables of their own.
  void begin(raw_ostream& out) { out_ = &out, tables.forget_names(); }

  void write(MachineFunction& mf, Origins& o, StringRef pass, bool before) {
    tables.start(mf);
    json::OStream json(*out_);
    const auto& tri = *mf.getSubtarget().getRegisterInfo();
    const auto& mri = mf.getRegInfo();
    const auto& mfi = mf.getFrameInfo();
    json.object([&] {
      json.attribute("stage", before ? "before" : "after");
      json.attribute("pass", pass), json.attribute("allocator", o.allocator), json.attribute("run", o.run);
      json.attribute("function", mf.getName());
      json.attribute("subreg_liveness", mri.subRegLivenessEnabled());
      json.attributeArray("reserved", [&] {
        std::set<unsigned> named;
        for (const MachineBasicBlock& b : mf) {
          for (const auto& l : b.liveins()) named.insert(l.PhysReg);
          for (const MachineInstr& mi : b.instrs())
            for (const auto& op : mi.operands())
              if (op.isReg() && op.getReg().isPhysical()) named.insert(op.getReg());
        }
        for (unsigned r : named)
          if (mri.isReserved(r)) json.value(tri.getName(r));
      });
      json.attributeArray("vregs", [&] {
        for (unsigned v = 0; v < mri.getNumVirtRegs(); ++v)
          json.value(tables.class_name(mri.getRegClassOrNull(Register::index2VirtReg(v))));
      });
      json.attributeArray("stack", [&] {
        for (int f = mfi.getObjectIndexBegin(); f < mfi.getObjectIndexEnd(); ++f)
          json.object([&] {
            json.attribute("fi", f), json.attribute("size", mfi.getObjectSize(f)),
                json.attribute("align", int64_t(mfi.getObjectAlign(f).value()));
            if (mfi.isSpillSlotObjectIndex(f)) json.attribute("spill", true);
            if (mfi.getStackID(f)) json.attribute("id", int64_t(mfi.getStackID(f)));
            if (mfi.isDeadObjectIndex(f)) json.attribute("dead", true);
          });
      });
      json.attributeArray("blocks", [&] {
        for (MachineBasicBlock& b : mf) write(json, b, o, before);
      });
      json.attributeArray("substitutions", [&] {
        for (const auto& s : mf.DebugValueSubstitutions)
          json.array([&] { json.value(int64_t(s.Src.first)), json.value(int64_t(s.Dest.first)); });
      });
    });
    *out_ << "\n";
  }

  Tables tables;

 private:
  void write(json::OStream& json, MachineBasicBlock& b, Origins& o, bool before) {
    json.object([&] {
      json.attribute("n", b.getNumber());
      if (b.isEHPad()) json.attribute("pad", true);
      if (b.isInlineAsmBrIndirectTarget()) json.attribute("asm_target", true);
      json.attributeArray("succ", [&] {
        for (auto* s : b.successors()) json.value(s->getNumber());
      });
      json.attributeArray("livein", [&] {
        for (const auto& l : b.liveins()) json.value(tables.name(l.PhysReg));
      });
      json.attributeArray("insts", [&] {
        for (MachineInstr& mi : b.instrs())
          if (!mi.isDebugInstr()) write(json, mi, o, before);
      });
    });
  }

  static std::string flags(const MachineInstr& mi, const TargetInstrInfo& tii) {
    std::string f;
    const auto add = [&](bool holds, char c) {
      if (holds) f += c;
    };
    add(mi.isCall(), 'c'), add(mi.isTerminator(), 't'), add(mi.isReturn(), 'e'), add(mi.mayLoad(), 'l'), add(mi.mayStore(), 's');
    add(mi.hasUnmodeledSideEffects(), 'u'), add(mi.isInlineAsm(), 'a'), add(mi.isBundle(), 'B'), add(mi.isBundledWithPred(), 'b');
    add(!mi.isBundle() && mi.getNumExplicitDefs() > 0 && tii.isTriviallyReMaterializable(mi), 'r');
    add(mi.isCopy(), 'y'), add(mi.isConvergent(), 'v'), add(mi.isCommutable(), 'm'), add(mi.hasOrderedMemoryRef(), 'o');
    add(mi.mayLoad() && mi.isDereferenceableInvariantLoad(), 'i'), add(mi.isMetaInstruction(), 'z');
    return f;
  }

  void write(json::OStream& json, MachineInstr& mi, Origins& o, bool before) {
    const auto& tii = *mi.getMF()->getSubtarget().getInstrInfo();
    json.object([&] {
      json.attribute("op", tii.getName(mi.getOpcode()));
      if (const unsigned n = mi.peekDebugInstrNum()) {
        json.attribute("num", int64_t(o.original(n)));
        if (!o.originals.count(o.original(n))) json.attribute("new", true);
        if (const auto it = o.inserted.find(n); it != o.inserted.end()) {
          if (it->second.vreg >= 0) json.attribute("of", it->second.vreg);
          if (it->second.def != 0) json.attribute("def", int64_t(it->second.def));
          if (it->second.slot_of >= 0) json.attribute("slot_of", it->second.slot_of);
        }
      }
      json.attribute("fl", flags(mi, tii));
      int fi = 0;
      if (tii.isStoreToStackSlot(mi, fi)) json.attribute("st", fi);
      if (tii.isLoadFromStackSlot(mi, fi)) json.attribute("ld", fi);
      if (!mi.memoperands_empty())
        json.attributeArray("mem", [&] {
          for (const auto* m : mi.memoperands())
            json.object([&] {
              json.attribute("rw", std::string(m->isLoad() ? "r" : "") + (m->isStore() ? "w" : "") + (m->isVolatile() ? "v" : ""));
              json.attribute("size", versions::bytes(*m));
              if (const auto* p = dyn_cast_or_null<FixedStackPseudoSourceValue>(m->getPseudoValue()))
                json.attribute("fi", p->getFrameIndex());
            });
        });
      json.attributeArray("ops", [&] {
        for (unsigned k = 0; k < mi.getNumOperands(); ++k) write(json, mi, k, o, before);
      });
    });
  }

  void write(json::OStream& json, MachineInstr& mi, unsigned k, Origins& o, bool before) {
    const auto& tri = *mi.getMF()->getSubtarget().getRegisterInfo();
    const MachineOperand& op = mi.getOperand(k);
    json.object([&] {
      switch (op.getType()) {
        case MachineOperand::MO_Register: {
          const auto say = [&](bool holds, const char* what) {
            if (holds) json.attribute(what, true);
          };
          if (op.getReg().isVirtual()) json.attribute("v", int64_t(Register::virtReg2Index(op.getReg())));
          else json.attribute("p", tables.name(op.getReg().asMCReg()));
          if (op.getSubReg()) json.attribute("sub", tables.sub_name(op.getSubReg()));
          say(op.isDef(), "d"), say(op.isImplicit(), "imp"), say(op.isUndef(), "undef"), say(op.isDef() && op.isDead(), "dead");
          say(op.isUse() && op.isKill(), "kill"), say(op.isEarlyClobber(), "ec"), say(op.isInternalRead(), "int"),
              say(op.isRenamable(), "ren");
          if (op.isTied()) json.attribute("tied", int64_t(mi.findTiedOperandIdx(k)));
          if (before && op.isUse() && op.getReg().isVirtual() && mi.peekDebugInstrNum() && indexes != nullptr &&
              indexes->hasIndex(mi))
            if (const unsigned def = o.reaching(Register::virtReg2Index(op.getReg()), indexes->getInstructionIndex(mi)))
              json.attribute("def", int64_t(def));
          if (before && op.isUse() && op.getReg().isVirtual()) write_undefined(json, mi, op);
          break;
        }
        case MachineOperand::MO_Immediate: json.attribute("i", op.getImm()); break;
        case MachineOperand::MO_FrameIndex: json.attribute("f", op.getIndex()); break;
        case MachineOperand::MO_MachineBasicBlock: json.attribute("b", op.getMBB()->getNumber()); break;
        case MachineOperand::MO_RegisterMask: json.attribute("m", int64_t(tables.mask(op.getRegMask()))); break;
        default: {
          std::string text;
          raw_string_ostream stream(text);
          op.print(stream, &tri, nullptr);
          if (op.isCPI()) {  // a register of zeros may have been folded to this
            const auto& entry = mi.getMF()->getConstantPool()->getConstants()[op.getIndex()];
            if (!entry.isMachineConstantPoolEntry() && entry.Val.ConstVal->isNullValue()) stream << " zero";
            if (!entry.isMachineConstantPoolEntry() && entry.Val.ConstVal->isAllOnesValue()) stream << " ones";
          }
          json.attribute("s", json::fixUTF8(text));
        }
      }
    });
  }

  // Of a use of a whole tuple some lanes may have no value by the live intervals, which the operand cannot say.
  void write_undefined(json::OStream& json, const MachineInstr& mi, const MachineOperand& op) {
    if (intervals == nullptr || indexes == nullptr || !indexes->hasIndex(mi) || !intervals->hasInterval(op.getReg())) return;
    const LiveInterval& interval = intervals->getInterval(op.getReg());
    const TargetRegisterClass* cls = mi.getMF()->getRegInfo().getRegClassOrNull(op.getReg());
    if (!interval.hasSubRanges() || cls == nullptr) return;
    LaneBitmask live = LaneBitmask::getNone();
    for (const auto& range : interval.subranges())
      if (range.liveAt(indexes->getInstructionIndex(mi))) live |= range.LaneMask;
    const std::vector<int> undefined = tables.undefined_pieces(*cls, live);
    if (!undefined.empty())
      json.attributeArray("undef_pieces", [&] {
        for (int k : undefined) json.value(k);
      });
  }

  raw_ostream* out_;

 public:
  const SlotIndexes* indexes = nullptr;  // while they are there
  const LiveIntervals* intervals = nullptr;
};

}  // namespace regduel_dump
