package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"sync/atomic"
)

// startTarget serves HTTP/1.1 on loopback and returns its URL. It counts all requests but those for /count, whose answer
// is the count, and answers as cheaply as can be: it shares the machine with what sends them.
func startTarget() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must("cannot listen", err)
	var count atomic.Int64
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go answer(connection, &count)
		}
	}()
	return "http://" + listener.Addr().String() + "/"
}

// answer serves one connection, whose requests have no bodies.
func answer(connection net.Conn, count *atomic.Int64) {
	defer connection.Close()
	reader, isCount, first := bufio.NewReader(connection), false, true
	for {
		line, err := reader.ReadSlice('\n')
		switch {
		case err != nil:
			return
		case first:
			isCount, first = bytes.HasPrefix(line, []byte("GET /count ")), false
		case len(line) <= 2:
			body := "ok\n"
			if isCount {
				body = fmt.Sprintln(count.Load())
			} else {
				count.Add(1)
			}
			if _, err := fmt.Fprintf(connection, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
				return
			}
			first = true
		}
	}
}
