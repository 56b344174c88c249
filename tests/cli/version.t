# Compiler, instruction set and backends are replaced, because they differ between machines.
$ volta --version | sed -e 's/^volta \([0-9.]*\) (numerics \([0-9]*\), .*)$/volta \1 (numerics \2, COMPILER)/' -e 's/^isa .*/isa ISA/' -e 's/^backends .*reference:0 reference:1.*/backends reference:0 reference:1/'
volta 0.1.0 (numerics 1, COMPILER)
numerics 1
isa ISA
backends reference:0 reference:1
