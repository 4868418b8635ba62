package main

import (
	"runtime"
	"sort"
	"syscall"
	"time"
	"unsafe"
)

// How many rounds of a fixed computation a millisecond of CPU takes, found at boot: what a step of burning is made of.
type burner struct{ roundsAMs float64 }

const (
	sampleRounds = 200_000
	samples      = 41
	// As far as it may burn too much.
	stepMs = 0.02
)

func newBurner() burner {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	lengths := make([]float64, samples)
	for index := range lengths {
		started := threadCPUMs()
		spin(sampleRounds)
		lengths[index] = threadCPUMs() - started
	}
	// The median: a sample that was interrupted or shared its core must not count.
	sort.Float64s(lengths)
	return burner{sampleRounds / lengths[samples/2]}
}

// Burns that much by the clock of its thread, on which the goroutine stays meanwhile, and returns the CPU it took, in
// milliseconds.
func (b burner) burn(milliseconds float64) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	started := threadCPUMs()
	for threadCPUMs() < started+milliseconds {
		spin(int(stepMs * b.roundsAMs))
	}
	return threadCPUMs() - started
}

// Not inlined: its result is not used, so the compiler would leave it out.
//
//go:noinline
func spin(rounds int) int {
	value := 1
	for ; rounds > 0; rounds-- {
		value = ((value * 16_807) % 2_147_483_647) ^ rounds
	}
	return value
}

const clockThreadCPU = 3 // CLOCK_THREAD_CPUTIME_ID on Linux

func threadCPUMs() float64 {
	var now syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPU, uintptr(unsafe.Pointer(&now)), 0)
	return float64(now.Nano()) / float64(time.Millisecond)
}
