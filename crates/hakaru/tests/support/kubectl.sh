#!/bin/sh
# A cluster of one folder, $CLUSTER: what kubectl is asked for by `hakaru load --kubernetes`, with
# each pod as a process of this machine. $LOSE names the index of a pod that is killed in the middle,
# $GONE that of one that is not there any more when it has ended.
set -u
cd "$CLUSTER" || exit 1
while [ $# -gt 0 ]; do
  case $1 in
    --context | --namespace) shift 2 ;;
    *) break ;;
  esac
done
echo "$*" >>calls

pods() { [ -f parallelism ] && seq 0 $(($(cat parallelism) - 1)); }

run_pod() {
  "$HAKARU" generator --order "$CLUSTER/order.json" --part "$1/$(cat parallelism)" --start-at "$CLUSTER/go" >"log.$1" 2>"err.$1" &
  echo $! >"pid.$1"
  wait $!
  code=$?
  # One that reads in its ConfigMap that the load is called off ends well.
  if [ -f off ]; then code=0; fi
  echo $code >"exit.$1.new"
  mv "exit.$1.new" "exit.$1"
}

phase() {
  if [ ! -f "exit.$1" ]; then echo Running; elif [ "$(cat "exit.$1")" = 0 ]; then echo Succeeded; else echo Failed; fi
}

case "$1 ${2:-}" in
  "config view") printf perf ;;
  "create -o")
    cat >object
    case $(cat object) in
      *'"kind":"List"'*)
        cp object others
        sed -n 's/.*"order.json":"\([^"]*\)".*/\1/p' object | base64 -d >order.json
        echo '{}'
        ;;
      *)
        cp object job
        sed -n 's/.*"parallelism":\([0-9]*\).*/\1/p' object >parallelism
        echo '{"metadata":{"uid":"u-1"}}'
        ;;
    esac
    ;;
  "patch job")
    # A redirection of a function keeps the old pipes open beside it; one by exec does not.
    for i in $(pods); do (exec </dev/null >/dev/null 2>&1; run_pod "$i") & done
    ;;
  "patch configmap")
    case $* in *'"stop"'*)
      : >off
      for i in $(pods); do kill -INT "$(cat "pid.$i")"; done
      exit 0
      ;;
    esac
    : >go
    if [ -n "${LOSE:-}" ]; then kill -9 "$(cat "pid.$LOSE")"; fi
    ;;
  "get job")
    ready=0 succeeded=0 failed=0 indexes=
    for i in $(pods); do
      case $(phase "$i") in
        Running) [ -f "pid.$i" ] && ready=$((ready + 1)) ;;
        Succeeded) succeeded=$((succeeded + 1)) ;;
        Failed) failed=$((failed + 1)) indexes="$indexes${indexes:+,}$i" ;;
      esac
    done
    conditions=
    [ "$succeeded" = "$(cat parallelism)" ] && conditions='{"type":"Complete","status":"True"}'
    echo "{\"status\":{\"ready\":$ready,\"failed\":$failed,\"failedIndexes\":\"$indexes\",\"conditions\":[$conditions]}}"
    ;;
  "get pods")
    items=
    for i in $(pods); do
      ended=
      [ "$i" = "${GONE:-}" ] && [ -f "exit.$i" ] && continue
      [ -f "exit.$i" ] && ended="\"terminated\":{\"exitCode\":$(cat "exit.$i"),\"reason\":\"Error\"}"
      label="\"batch.kubernetes.io/job-completion-index\":\"$i\""
      items="$items${items:+,}{\"metadata\":{\"name\":\"pod-$i\",\"labels\":{$label}},\"status\":{\"phase\":\"$(phase "$i")\",\"containerStatuses\":[{\"state\":{$ended}}]}}"
    done
    echo "{\"items\":[$items]}"
    ;;
  "logs pod-"*) cat "err.${2#pod-}" "log.${2#pod-}" ;;
  "delete "*)
    for i in $(pods); do [ -f "exit.$i" ] || kill -9 "$(cat "pid.$i")"; done
    for i in $(pods); do while [ ! -f "exit.$i" ]; do sleep 0.05; done; done
    rm -f job others order.json go off object parallelism log.* err.* pid.* exit.*
    ;;
  *)
    echo "the stand-in does not know: $*" >&2
    exit 1
    ;;
esac
