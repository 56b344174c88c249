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
  fmt MODEL                 Print a model in its printed form: one op per line,
                            no comments.
  info MODEL                Describe a model: dims, inputs, parameters, outputs.
  plan MODEL                Show the memory, steps and transfers of a run
                            without running it.
  run MODEL                 Run a model once and show its outputs.
  parity MODEL              Run a model on several backends and compare every
                            bit.
  admit BACKEND             Test everything that a backend must fulfil, and
                            admit or refuse it.
  bench [SUITE [MODEL]]     Measure the time of a suite of ops, or of a model.
  digest FILE               Print the digest of each tensor of a file, or the
                            hash of a model.
  ops                       List the ops.
  backends [BACKEND|PLUGIN.so]...
                            List the backends with what each declares and
                            whether it is admitted.
  doctor                    Show facts about this build and machine, and check
                            them.
  explain [CODE]            Explain a status code, or list all of them.
  inspect FILE              Show what is in a file: its tensors, or the model it
                            holds.
  convert IN OUT            Write the tensors of a file to another file; its
                            name selects npy, npz or safetensors.
  bundle MODEL              Write a model with its parameters, and what else it
                            needs, to one file or folder.
  help [VERB]               Show the flags and operands of a verb.
\
flags:
      --version             Print the version, the numerics version, the
                            instruction set and the backends.
  -h, --help                Print this help.
  -q, --quiet               Print only errors on standard error.
  -v, --verbose             Print more on standard error.
\
environment:
  VOLTA_BACKEND             The backend that runs a model if --backend is not
                            given.
  VOLTA_THREADS             The number of threads that a backend may use if
                            --threads is not given.
  VOLTA_ISA                 The instruction set that a backend must not exceed,
                            as in avx2.
  VOLTA_PLAN_CACHE          The folder of the cache of plans if --plan-cache is
                            not given; empty: no cache.
  VOLTA_OPENBLAS            The OpenBLAS library that `volta bench --compare
                            openblas` loads if --peer is not given.
  NO_COLOR                  If set and not empty, messages on a terminal have no
                            colour.
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
      --backend BACKEND     The backend to run on, as in reference or
                            reference:1; gpu is the first GPU; auto is the first
                            GPU, or the CPU if there is none; a path such as
                            ./libfoo.so or ./libfoo.so:1 is a plug-in. Default:
                            VOLTA_BACKEND, else auto. No bit of a result depends
                            on it.
      --fallback none|cpu   If the backend is unavailable or cannot run the
                            model: fail (none) or run the whole model on the CPU
                            (cpu). The report says so; the bits are the same.
                            Default: cpu for the backend auto, else none.
      --threads N           The number of threads that the backend may use.
                            Default: VOLTA_THREADS, else the backend's choice.
                            No bit of a result depends on it.
      --allow-unadmitted    Run on a plug-in that has no certificate; the report
                            says so.
      --certificate FILE    The certificate that admits the plug-in. Default:
                            the file next to it, as in
                            ./libfoo.so.certificate.json.
      --bind NAME=N,...     Give dims their sizes, as in B=4,T=128. May be given
                            more than once.
      --seed SEED           Initialise the parameters from this seed. Default:
                            0.
      --params FILE         Read every parameter from this safetensors or npz
                            file instead, or from the shards that this index,
                            model.safetensors.index.json, names. May be given
                            more than once.
      --params-map FILE     Rename the tensors of --params by the rules in this
                            file, one per line, as in h.*.w = layer.*.weight. *
                            stands for a part of a name; a rule without a name
                            drops what it matches.
      --ignore-extra        Ignore tensors of --params that are not parameters
                            of the model.
      --convert-params      Round tensors of f16, bf16 and f64 in --params to
                            f32 if the model declares that.
      --save-params FILE    Write every parameter to this safetensors file,
                            which --params can read, and the states that weights
                            filled.
      --state FILE          Read every state of the model from this safetensors
                            or npz file before the run.
      --save-state FILE     Write every state to this safetensors file after the
                            run; --state can read it.
      --in NAME=FILE[:KEY]  Read an input from a npy, IDX or CSV file, or from
                            the tensor of the same name in a npz or safetensors
                            file. FILE:KEY reads the tensor, or the column of a
                            CSV file, that is named KEY. May be given more than
                            once.
      --random-inputs SEED  Fill the inputs that have no --in with random
                            numbers from this seed: floats in [-1, 1), integers
                            in the range that the model declares.
  -o, --out DIR             Write each output to DIR/NAME.npy. In NAME, a dot at
                            the start and every byte except letters, digits and
                            _ - . are percent-encoded.
      --format FORMAT       The format of --out: npy writes one file per output
                            and is the default; npz and safetensors write all
                            outputs to DIR/outputs.npz or
                            DIR/outputs.safetensors.
      --digest              Print only the digest of the run.
      --metrics FILE        Write the time, operations and bytes of the run as
                            JSON: in total, for each op and for each step. - is
                            standard output, and then nothing else is printed.
                            It does not change the results.
      --trace FILE          Write a timeline of the phases, copies and steps of
                            the run as Chrome trace events, which
                            ui.perfetto.dev opens. - is standard output, and
                            then nothing else is printed.
      --dump-passes DIR     Write the graph before the first pass and after each
                            pass: 00-source.vt, 01-bind.vt, 02-lower.vt and so
                            on. The cache of plans is not used.
      --passes A,B,...      Run only these passes, in this order: bind first,
                            then any of lower, canonical, fold, cse, dead, fuse.
                            Default: all. No bit of a result depends on it.
                            Without lower, the backend must run compositions
                            itself.
      --dump-plan FILE      Write the plan as text; - is standard output.
      --schedule ORDER      The order of the steps: source keeps the order of
                            the model and is the default; memory needs less
                            memory.
      --stream PARAM,...    Keep these parameters, or all of them, in host
                            memory and copy each to the device for every step
                            that reads it.
      --memory-budget SIZE  Fail if the plan needs more device memory than this,
                            as in 64MiB, 2GB or 4096.
      --plan-cache DIR      Store plans in this folder and reuse one if
                            everything that it depends on is the same. Default:
                            VOLTA_PLAN_CACHE. Empty: no cache.
      --json                Print the report as JSON.
  -h, --help                Print this help.
  -q, --quiet               Print only errors on standard error.
  -v, --verbose             Print more on standard error.
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
      --backends A,B,...    The backends to compare; the others are compared
                            with the first. Default: every device that is
                            available and complete.
      --threads N,...       Run each backend that has threads once with each of
                            these numbers of threads, as in 1,2,3, and every
                            other backend once. cpu has threads, and plug-ins
                            may. No bit of a result depends on it.
      --allow-unadmitted    Run on a plug-in that has no certificate; the report
                            says so.
      --untried             Do not probe the capabilities that the backends
                            declare. A wrong declaration then shows as a
                            difference in the results.
      --certificate FILE    The certificate that admits the plug-in. Default:
                            the file next to it, as in
                            ./libfoo.so.certificate.json.
      --bind NAME=N,...     Give dims their sizes, as in B=4,T=128. May be given
                            more than once.
      --seed SEED           Initialise the parameters from this seed. Default:
                            0.
      --params FILE         Read every parameter from this safetensors or npz
                            file instead, or from the shards that this index,
                            model.safetensors.index.json, names. May be given
                            more than once.
      --params-map FILE     Rename the tensors of --params by the rules in this
                            file, one per line, as in h.*.w = layer.*.weight. *
                            stands for a part of a name; a rule without a name
                            drops what it matches.
      --ignore-extra        Ignore tensors of --params that are not parameters
                            of the model.
      --convert-params      Round tensors of f16, bf16 and f64 in --params to
                            f32 if the model declares that.
      --in NAME=FILE[:KEY]  Read an input from a npy, IDX or CSV file, or from
                            the tensor of the same name in a npz or safetensors
                            file. FILE:KEY reads the tensor, or the column of a
                            CSV file, that is named KEY. May be given more than
                            once.
      --random-inputs SEED  Fill the inputs that have no --in with random
                            numbers from this seed: floats in [-1, 1), integers
                            in the range that the model declares.
      --passes A,B,...      Run only these passes, in this order; see volta help
                            run.
      --schedule ORDER      The order of the steps: source keeps the order of
                            the model and is the default; memory needs less
                            memory.
      --stream PARAM,...    Keep these parameters, or all of them, in host
                            memory and copy each to the device for every step
                            that reads it.
      --memory-budget SIZE  Fail if the plan needs more device memory than this,
                            as in 64MiB, 2GB or 4096.
      --published FILE      Compare with a published digest too. Each line of
                            the file has five words: DIGEST MODEL BIND seed=S
                            inputs=S. MODEL is the file name of the model
                            without folders, BIND is as for --bind in any order
                            or - for none, and inputs is the seed of
                            --random-inputs or - for none. Empty lines and lines
                            that start with # are skipped.
      --plan-cache DIR      Store plans in this folder and reuse one if
                            everything that it depends on is the same. Default:
                            VOLTA_PLAN_CACHE. Empty: no cache.
      --json                Print the report as JSON.
  -h, --help                Print this help.
  -q, --quiet               Print only errors on standard error.
  -v, --verbose             Print more on standard error.
\
example:
  volta parity examples/mlp.vt --bind B=4 --random-inputs 1
$ volta fmt -h
usage: volta fmt [FLAGS] MODEL
\
Print a model in its printed form: one op per line, no comments.
\
flags:
      --check               Print nothing; exit 1 if the file is not in the
                            printed form.
  -o, --out FILE            Write to this file instead of standard output, under
                            a temporary name first.
  -h, --help                Print this help.
  -q, --quiet               Print only errors on standard error.
  -v, --verbose             Print more on standard error.
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
