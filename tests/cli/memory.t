# A program that needs more memory than there is: refused before anything is allocated, with the bytes it needs.
$ volta run tests/cli/models/anyrows.vt --backend reference --bind N=1099511627776 --random-inputs 1 2>&1 | sed 's/has [0-9]* left/has M left/'; exit ${PIPESTATUS[0]}
volta: error: the program needs 13194139533568 bytes (host_input 4398046511104, parameter 256, output 8796093022208) on 'reference:0', which has M left [nomem]
? 6
$ volta run tests/cli/models/anyrows.vt --bind N=1099511627776 --random-inputs 1 --backend island:1 2>&1 | sed 's/has [0-9]* left/has M left/'; exit ${PIPESTATUS[0]}
volta: error: the program needs 13194139533568 bytes (host_input 4398046511104, parameter 256, output 8796093022208) on 'island:1', which has M left [nomem]
? 6
