# Keeps one server running as long as this shell's standard input stays open.
#
#   keeper.sh SIGNAL LOG REMOVE COMMAND...
#
# The process that started us holds the other end of that pipe, so the server stops when that process ends, for
# whatever reason. SIGNAL stops the server. LOG receives its output. REMOVE (unless empty) is deleted once the server
# has stopped. If the server ends by itself, nothing is deleted, and we exit with its status.
signal=$1 log=$2 remove=$3
shift 3
stopping=
trap 'stopping=yes' USR1
exec 3<&0
"$@" >>"$log" 2>&1 </dev/null 3<&- &
server=$!
{
    read -r _ <&3
    kill -s USR1 $$
    kill -s "$signal" "$server"
} 2>/dev/null &
watch=$!
exec 3<&-
wait "$server"
status=$?
if [ -z "$stopping" ]; then
    kill "$watch"
    exit "$status"
fi
# The signal may have cut the first wait short.
wait "$server"
if [ -n "$remove" ]; then
    rm -rf "$remove"
fi
exit 0
