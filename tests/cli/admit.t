# Admission: what it takes, what it refuses to look at, and a backend that shows nothing.
$ volta help admit
usage: volta admit [FLAGS] BACKEND
\
Test everything that a backend must fulfil, and admit or refuse it.
\
flags:
  -o, --out FILE            Write the certificate to this file. Default: next to
                            a plug-in, as in ./libfoo.so.certificate.json; for a
                            built-in backend no file is written.
      --short               Test only a part of the suite and the small
                            examples. There is no certificate then.
      --jobs N              The number of cases that run in parallel. Default:
                            one per processor.
      --reproducer DIR      Write the model and the inputs that show a fault to
                            this folder. Default: volta-refusal-NAME in the
                            current folder.
      --json                Print the report as JSON.
  -h, --help                Print this help.
  -q, --quiet               Print only errors on standard error.
  -v, --verbose             Print more on standard error.
\
example:
  volta admit ./libfoo.so
$ volta admit
! volta: error: `volta admit` needs BACKEND [usage]
!   help: `volta admit --help` shows what it takes
? 2
$ volta admit reference null
! volta: error: 'null' is one operand too many [usage]
!   help: `volta admit --help` shows what it takes
? 2
$ volta admit nobody
! volta: error: there is no backend 'nobody'; there are: reference, cpu, cuda, island, null, and gpu, auto [backend]
? 5
$ volta admit reference:7
! volta: error: backend 'reference' has 2 devices, there is no number 7 [backend]
? 5
$ volta admit $TMP/nobody.so
! volta: error: plug-in '$TMP/nobody.so' is refused: cannot open it: No such file or directory [backend]
? 5
$ volta admit ./examples/mlp.vt
! volta: error: plug-in './examples/mlp.vt' is refused: it is not an ELF file [backend]
? 5
$ volta admit reference --short --jobs 0
! volta: error: --jobs takes a number from 1 to 1024 [usage]
? 2
$ volta admit reference --short --jobs many
! volta: error: --jobs takes a whole number from 0 to 2^64-1, not 'many' [usage]
? 2
$ volta admit reference --short -o $TMP/short.json
! volta: error: --short gives no certificate that --out could write [usage]
? 2
$ volta admit reference -o $TMP/none/certificate.json
! volta: error: $TMP/none/certificate.json cannot be written: No such file or directory [io]
? 3
$ volta admit reference -o $TMP
! volta: error: $TMP cannot be written: Is a directory [io]
? 3
$ volta admit --fast reference
! volta: error: `volta admit` has no flag '--fast' [usage]
!   help: `volta admit --help` lists the flags
? 2
$ volta admit null --short --reproducer $TMP/null
Accelerated backend diverges from CPU semantics. This is forbidden.
REFUSED: null
  check    suite
  reason   it runs nothing that could be judged
! volta: error: null is refused [differs]
? 1
$ volta admit null --json --reproducer $TMP/null
{
  "backend": "null",
  "verdict": "REFUSED",
  "counts": {
    "rules": 0,
    "capabilities": 0,
    "cases": 0,
    "undeclared": 0,
    "repeated": 0,
    "spoilt": 0,
    "threaded": 0,
    "reordered": 0,
    "examples": 0
  },
  "refusal": {
    "check": "suite",
    "subject": "",
    "reason": "it runs nothing that could be judged",
    "differs": false,
    "model": ""
  }
}
! volta: error: null is refused [differs]
? 1
$ volta admit null -q --reproducer $TMP/null -o $TMP/null.json
Accelerated backend diverges from CPU semantics. This is forbidden.
REFUSED: null
  check    suite
  reason   it runs nothing that could be judged
! volta: error: null is refused [differs]
? 1
$ ls $TMP
