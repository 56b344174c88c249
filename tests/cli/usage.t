# Usage errors, and the help of each verb.
$ volta
! volta: error: a verb is needed: volta VERB ... [usage]
!   help: `volta --help` lists the verbs
? 2
$ volta --help
usage: volta VERB [FLAGS] [OPERANDS]
\
One graph, one meaning, many backends, the same bits.
\
verbs:
  check MODEL...            Parse and verify models.
  fmt MODEL                 Print a model in its printed form: one op a line, no
                            comments.
  info MODEL                Describe a model: dims, inputs, parameters, outputs.
  plan MODEL                Show what a run takes before anything is taken:
                            bytes by class, steps, transfers.
  run MODEL                 Run a model once and show its outputs.
  parity MODEL              Run a model on several backends and compare every
                            bit.
  admit BACKEND             Ask a backend everything that it must keep, and
                            admit or refuse it.
  bench [SUITE [MODEL]]     Measure how long work takes: a suite of ops, or a
                            model.
  digest FILE               Print the digest of each tensor of a file, or the
                            hash of a model.
  ops                       List the ops.
  backends [BACKEND|PLUGIN.so]...
                            List the backends, what each declares, and whether
                            it is admitted.
  doctor                    Show facts about this build and machine, and check
                            them.
  explain [CODE]            Explain a status code; without one, list them all.
  inspect FILE              Show what is in a file: its tensors, or the model it
                            holds.
  convert IN OUT            Write the tensors of a file to another: npy, npz or
                            safetensors, by its name.
  help [VERB]               Show what a verb takes.
\
flags:
      --version             Print the version, the numerics version, the
                            instruction set and the backends.
  -h, --help                Print this help.
  -q, --quiet               Say nothing on standard error but errors.
  -v, --verbose             Say more on standard error.
\
environment:
  VOLTA_BACKEND             The backend that runs a model when --backend is not
                            given.
  VOLTA_THREADS             How many threads a backend may keep busy when
                            --threads is not given.
  VOLTA_ISA                 The instructions a backend is held to, as in avx2,
                            where it has a choice.
  VOLTA_PLAN_CACHE          The folder of plans that are kept when --plan-cache
                            is not given; empty: none.
  VOLTA_OPENBLAS            The OpenBLAS that `volta bench --compare openblas`
                            loads when --peer is not given.
  NO_COLOR                  When set and not empty, messages on a terminal have
                            no colour.
\
example:
  volta run examples/mlp.vt --bind B=4 --random-inputs 1
\
`volta help VERB` shows the flags of a verb, `volta explain` the exit codes.
$ volta help run
usage: volta run [FLAGS] MODEL
\
Run a model once and show its outputs.
\
flags:
      --backend BACKEND     Where to run, as in reference or reference:1; gpu,
                            the first there is; auto, that or else the CPU; or
                            the path of a plug-in, as in ./libfoo.so or
                            ./libfoo.so:1. Without it VOLTA_BACKEND says, else
                            reference.
      --fallback none|cpu   Where to run when the backend is not there or cannot
                            run the model: nowhere, as without it, or the whole
                            of it on the CPU, which the report says. The bits
                            are the same.
      --threads N           How many threads the backend may keep busy. Without
                            it VOLTA_THREADS says, else the backend. No bit
                            depends on it.
      --allow-unadmitted    Run on a plug-in though no certificate admits it;
                            the report says so.
      --certificate FILE    The certificate that admits the plug-in. Without it:
                            beside it, as in ./libfoo.so.certificate.json.
      --bind NAME=N,...     Give dims their sizes, as in B=4,T=128. May be given
                            more than once.
      --seed SEED           Initialise the parameters from this seed; 0 unless
                            given.
      --params FILE         Take every parameter from this safetensors or npz
                            file instead.
      --save-params FILE    Write every parameter to this safetensors file, as
                            --params reads it.
      --in NAME=FILE[:KEY]  Take an input from the tensor of a npy or IDX file,
                            from a CSV file, or from the tensor of that name in
                            a npz or safetensors file. FILE:KEY takes the
                            tensor, or the column of a CSV file, called KEY. May
                            be given more than once.
      --random-inputs SEED  Draw the inputs that have no --in: floats in [-1,
                            1), integers in the range the model declares.
  -o, --out DIR             Write each output to DIR/NAME.npy. In a name, every
                            byte but letters, digits and _ - . is
                            percent-encoded, and so is a dot at its start.
      --format FORMAT       What --out writes: npy (a file an output, as without
                            it), or npz or safetensors (all outputs in
                            DIR/outputs.npz or DIR/outputs.safetensors).
      --digest              Print the digest of the run and nothing else.
      --metrics FILE        Write what the run took as JSON: time, operations
                            and bytes in all, for each op and for each step. -
                            is standard output, and then nothing else is
                            printed. The results are the same with it.
      --trace FILE          Write the phases, copies and steps of the run over
                            time as Chrome trace events, which ui.perfetto.dev
                            opens; - is standard output, and then nothing else
                            is printed.
      --dump-passes DIR     Write the graph before and after each pass:
                            00-source.vt, 01-bind.vt, 02-lower.vt and so on. No
                            plan is taken from a cache then.
      --passes A,B,...      Run these passes, in this order, instead of all:
                            bind first, then any of lower, canonical, fold, cse,
                            dead, fuse. The result is the same to the last bit.
                            Without lower the backend must run compositions
                            whole.
      --dump-plan FILE      Write the plan as text; - is standard output.
      --schedule ORDER      The order of steps: source, that of the model, as
                            without it; or memory, which keeps less alive.
      --stream PARAM,...    Keep these parameters, or all, in host memory and
                            copy them in for each step that reads them.
      --memory-budget SIZE  Refuse to take more bytes than this on the device,
                            as in 64MiB, 2GB or 4096.
      --plan-cache DIR      Keep plans in this folder, and take them from there
                            when everything they depend on is the same. Without
                            it VOLTA_PLAN_CACHE says; empty: keep none.
      --json                Print the report as JSON.
  -h, --help                Print this help.
  -q, --quiet               Say nothing on standard error but errors.
  -v, --verbose             Say more on standard error.
\
example:
  volta run examples/mlp.vt --bind B=4 --random-inputs 1
$ volta run --help | diff - <(volta help run)
$ volta help parity
usage: volta parity [FLAGS] MODEL
\
Run a model on several backends and compare every bit.
\
flags:
      --backends A,B,...    Which to compare, the first being what the others
                            are held to. Without it: every device that is
                            available and complete.
      --threads N,...       Run a backend that has threads once with each of
                            these numbers, as in 1,2,3, and every other backend
                            once, wherever they stand in the list. cpu has
                            threads, and so may a plug-in. No bit depends on it.
      --allow-unadmitted    Run on a plug-in though no certificate admits it;
                            the report says so.
      --untried             Do not try first what the backends declare: what one
                            does not keep is then seen as a difference.
      --certificate FILE    The certificate that admits the plug-in. Without it:
                            beside it, as in ./libfoo.so.certificate.json.
      --bind NAME=N,...     Give dims their sizes, as in B=4,T=128. May be given
                            more than once.
      --seed SEED           Initialise the parameters from this seed; 0 unless
                            given.
      --params FILE         Take every parameter from this safetensors or npz
                            file instead.
      --in NAME=FILE[:KEY]  Take an input from the tensor of a npy or IDX file,
                            from a CSV file, or from the tensor of that name in
                            a npz or safetensors file. FILE:KEY takes the
                            tensor, or the column of a CSV file, called KEY. May
                            be given more than once.
      --random-inputs SEED  Draw the inputs that have no --in: floats in [-1,
                            1), integers in the range the model declares.
      --passes A,B,...      Run these passes, in this order, instead of all, as
                            for run.
      --schedule ORDER      The order of steps: source, that of the model, as
                            without it; or memory, which keeps less alive.
      --stream PARAM,...    Keep these parameters, or all, in host memory and
                            copy them in for each step that reads them.
      --memory-budget SIZE  Refuse to take more bytes than this on the device,
                            as in 64MiB, 2GB or 4096.
      --published FILE      Compare with a published digest too. The file has
                            lines of five words: DIGEST MODEL BIND seed=S
                            inputs=S, where MODEL is the name of the file
                            without folders, BIND is as for --bind in any order
                            (- when there is none) and inputs is the seed of
                            --random-inputs (- without it). Empty lines and
                            lines that start with # are skipped.
      --plan-cache DIR      Keep plans in this folder, and take them from there
                            when everything they depend on is the same. Without
                            it VOLTA_PLAN_CACHE says; empty: keep none.
      --json                Print the report as JSON.
  -h, --help                Print this help.
  -q, --quiet               Say nothing on standard error but errors.
  -v, --verbose             Say more on standard error.
\
example:
  volta parity examples/mlp.vt --bind B=4 --random-inputs 1
$ volta fmt -h
usage: volta fmt [FLAGS] MODEL
\
Print a model in its printed form: one op a line, no comments.
\
flags:
      --check               Print nothing; exit 1 if the file is not in the
                            printed form already.
  -o, --out FILE            Write there, under a temporary name first, instead
                            of to standard output.
  -h, --help                Print this help.
  -q, --quiet               Say nothing on standard error but errors.
  -v, --verbose             Say more on standard error.
\
example:
  volta fmt --check examples/mlp.vt
$ volta help nonsense
! volta: error: there is no verb 'nonsense' [usage]
!   help: `volta --help` lists the verbs
? 2
$ volta chek examples/mlp.vt
! volta: error: there is no verb 'chek' [usage]
!   help: did you mean `check`?
? 2
$ volta frobnicate
! volta: error: there is no verb 'frobnicate' [usage]
!   help: `volta --help` lists the verbs
? 2
$ volta run --bnd B=4 examples/mlp.vt
! volta: error: `volta run` has no flag '--bnd' [usage]
!   help: did you mean `--bind`?
? 2
$ volta run --frobnicate examples/mlp.vt
! volta: error: `volta run` has no flag '--frobnicate' [usage]
!   help: `volta run --help` lists the flags
? 2
$ volta run -x examples/mlp.vt
! volta: error: `volta run` has no flag '-x' [usage]
!   help: `volta run --help` lists the flags
? 2
$ volta --json
! volta: error: `volta` has no flag '--json' [usage]
!   help: `volta --help` lists the flags
? 2
$ volta run
! volta: error: `volta run` needs MODEL [usage]
!   help: `volta run --help` shows what it takes
? 2
$ volta info examples/mlp.vt examples/mlp.vt
! volta: error: 'examples/mlp.vt' is one operand too many [usage]
!   help: `volta info --help` shows what it takes
? 2
$ volta ops extra
! volta: error: 'extra' is one operand too many [usage]
!   help: `volta ops --help` shows what it takes
? 2
$ volta run examples/mlp.vt --seed
! volta: error: --seed needs a value: --seed SEED [usage]
? 2
$ volta run examples/mlp.vt --out --json
! volta: error: --out needs a value: --out DIR [usage]
? 2
$ volta run examples/mlp.vt --seed 1 --seed 2
! volta: error: --seed is given twice [usage]
? 2
$ volta run examples/mlp.vt --digest=yes
! volta: error: --digest takes no value [usage]
? 2
$ volta run examples/mlp.vt --seed -1
! volta: error: --seed takes a whole number from 0 to 2^64-1, not '-1' [usage]
? 2
$ volta run examples/mlp.vt --seed 1x
! volta: error: --seed takes a whole number from 0 to 2^64-1, not '1x' [usage]
? 2
$ volta run examples/mlp.vt --random-inputs 18446744073709551616
! volta: error: --random-inputs takes a whole number from 0 to 2^64-1, not '18446744073709551616' [usage]
? 2
$ volta run examples/mlp.vt --json --digest
! volta: error: --json and --digest contradict each other [usage]
? 2
$ volta run examples/mlp.vt --json --dump-plan -
! volta: error: --dump-plan and --json contradict each other [usage]
? 2
$ volta run -qv examples/mlp.vt
! volta: error: --quiet and --verbose contradict each other [usage]
? 2
$ volta ops --json --markdown
! volta: error: --json and --markdown contradict each other [usage]
? 2
$ volta fmt --check -o $TMP/x examples/mlp.vt
! volta: error: --check and --out contradict each other [usage]
? 2
# After -- everything is an operand.
$ volta check -- --json
! volta: error: cannot open --json: No such file or directory [io]
? 3
