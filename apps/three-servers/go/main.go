// The three servers in Go: a handler that burns CPU_MS of CPU and waits WAIT_MS, on net/http.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"
)

func milliseconds(name string) float64 {
	value, err := strconv.ParseFloat(os.Getenv(name), 64)
	if err != nil || value < 0 {
		log.Fatalf("%s must be a number of milliseconds, not %q", name, os.Getenv(name))
	}
	return value
}

func main() {
	cpu, wait := milliseconds("CPU_MS"), milliseconds("WAIT_MS")
	burner := newBurner()
	waiter, err := newWaiter(os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/", func(answer http.ResponseWriter, request *http.Request) {
		started := time.Now()
		// Half of the work before the wait and half after it, as in the Ruby server.
		burned := burner.burn(cpu / 2)
		waiting := time.Now()
		if wait > 0 {
			if err := waiter(request.Context(), wait); err != nil {
				http.Error(answer, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		waited := time.Since(waiting)
		burned += burner.burn(cpu / 2)
		answer.Header().Set("Content-Type", "text/plain")
		answer.Header().Set("Cache-Control", "no-store")
		fmt.Fprintf(answer, "cpu %.3f ms, wait %.3f ms, whole %.3f ms\n", burned, inMs(waited), inMs(time.Since(started)))
	})
	address := os.Getenv("ADDRESS")
	log.Printf("three-servers: %g ms of CPU (%.0f rounds a ms), %g ms of waiting, on %s", cpu, burner.roundsAMs, wait, address)
	log.Fatal(http.ListenAndServe(address, nil))
}

func inMs(length time.Duration) float64 { return float64(length) / float64(time.Millisecond) }
