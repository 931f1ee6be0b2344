" RIR, the program form of regduel (ir/FORMAT.md).
if exists("b:current_syntax")
  finish
endif
syntax match rirComment "//.*$"
syntax region rirString start=/"/ skip=/\\./ end=/"/
syntax keyword rirKeyword rir func vreg block slot kernel device target threads allocated alias fixed name depth freq edge local shared size align offset abi
syntax keyword rirCode spill refill remat p2r r2p bit_spill bit_refill copy phi bra cbra exit ret call
syntax match rirVreg "%\d\+\(\.\w\+\)\?"
syntax match rirRegister "\<\(UR\|UP\|UB\|ACC\|R\|P\|B\)\d\+\>"
syntax match rirId "^\s*[#+]\d\+"
syntax match rirFlag "!\w\+"
syntax match rirBlock "\<b\d\+\>"
syntax match rirFunction "@[A-Za-z_$.][A-Za-z0-9_$.]*"
highlight default link rirComment Comment
highlight default link rirString String
highlight default link rirKeyword Keyword
highlight default link rirCode Statement
highlight default link rirVreg Identifier
highlight default link rirRegister Constant
highlight default link rirId LineNr
highlight default link rirFlag PreProc
highlight default link rirBlock Label
highlight default link rirFunction Function
let b:current_syntax = "rir"
