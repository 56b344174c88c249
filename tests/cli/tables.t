# ops, backends, doctor, explain.
$ volta ops | head -n 3
$ volta ops --backend reference:1 | sed -n '1p;/softmax(/p'
$ volta ops --backend null:0 | sed -n '1p;/ softmax(/p'
$ volta ops --backend nonesuch
$ volta ops --json | head -n 12
$ volta ops --backend reference --json | head -n 13
$ volta ops --markdown | head -n 30
# Every row of the table has a number of its own, ascending.
$ volta ops | awk '{print $1}' | sort -n -u -c && volta ops --json | grep -c '"number"' | diff - <(volta ops | wc -l)
$ volta backends | grep -E '^(null|reference):' | sed 's/ *[0-9]* prims *[0-9]* comps/ P prims C comps/'
$ volta backends --json | python3 -c 'import json,sys; print(*(sorted(b) for b in json.load(sys.stdin)["backends"] if b["name"] == "reference:1"))'
$ volta doctor | grep '^check\.' | grep -v '  ok' ; volta doctor > /dev/null
$ volta doctor --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["ok"])'
$ volta explain
$ volta explain list | head -n 2
$ volta explain verify
$ volta explain VT_RANGE
$ volta explain 5
$ volta explain verfy
$ volta explain 99
