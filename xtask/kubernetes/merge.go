package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// frame is what the first line of a generator's result begins with.
const frame = "hakaru-load-result 1 "

// merge adds up the histograms of results in files by HdrHistogram's own code, and prints what came of it: a second
// opinion on `hakaru load merge`.
func merge() {
	// Those of generators grow with their values, and none holds all values of another. An hour in nanoseconds is beyond all.
	sum := hdrhistogram.New(1, 3_600_000_000_000, 3)
	requests := uint64(0)
	for _, path := range os.Args[1:] {
		histogram, count := read(path)
		requests += count
		if dropped := sum.Merge(histogram); dropped > 0 {
			fail("%s: %d values do not fit", path, dropped)
		}
	}
	fmt.Printf("requests %d\np50 %v\np99 %v\n", requests, quantile(sum, 0.50), quantile(sum, 0.99))
}

// quantile is the greatest latency that so many of all are within, in milliseconds. HdrHistogram for Go rounds ranks to the
// nearest where others round up, which is one of few values where values are rare.
func quantile(sum *hdrhistogram.Histogram, share float64) float64 {
	rank, passed := int64(math.Ceil(share*float64(sum.TotalCount()))), int64(0)
	for _, bar := range sum.Distribution() {
		if passed += bar.Count; passed >= rank {
			return float64(bar.To) / 1e6
		}
	}
	return 0
}

// read returns the latencies in a file and the number of requests of all outcomes.
func read(path string) (*hdrhistogram.Histogram, uint64) {
	text, err := os.ReadFile(path)
	must("cannot read "+path, err)
	_, framed, found := strings.Cut(string(text), frame)
	if !found {
		fail("%s holds no result", path)
	}
	_, body, _ := strings.Cut(framed, "\n")
	var result struct {
		Figures struct {
			Latency  string
			Outcomes map[string]uint64
		}
	}
	decoder := json.NewDecoder(strings.NewReader(strings.ReplaceAll(body, "\n", "")))
	must(path+" holds no JSON", decoder.Decode(&result))
	histogram, err := hdrhistogram.Decode([]byte(result.Figures.Latency))
	must(path+" holds no histogram", err)
	count := uint64(0)
	for _, requests := range result.Figures.Outcomes {
		count += requests
	}
	return histogram, count
}
