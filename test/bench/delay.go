package main

import (
	"net"
	"time"
)

// delay returns the address of a proxy in front of the server at addr, as if a round
// trip between them took the given time. The proxy runs as long as this program.
func delay(addr string, roundTrip time.Duration) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", addr)
			if err != nil {
				client.Close()
				continue
			}
			// To connect takes a round trip. The client connects to the proxy without
			// one, so what it sends first leaves later.
			go forward(server, client, time.Now().Add(roundTrip), roundTrip/2)
			go forward(client, server, time.Now(), roundTrip/2)
		}
	}()
	return listener.Addr().String(), nil
}

// forward copies from src to dst until one of them is closed. What it reads leaves at the
// given time at the earliest, and arrives oneWay later.
func forward(dst, src net.Conn, earliest time.Time, oneWay time.Duration) {
	defer dst.Close()
	defer src.Close()
	type chunk struct {
		data    []byte
		arrives time.Time
	}
	chunks := make(chan chunk, 1000) // more than are ever on the way, so that reading never waits
	go func() {
		defer close(chunks)
		for {
			buffer := make([]byte, 16<<10)
			n, err := src.Read(buffer)
			if err != nil {
				return
			}
			leaves := time.Now()
			if leaves.Before(earliest) {
				leaves = earliest
			}
			chunks <- chunk{buffer[:n], leaves.Add(oneWay)}
		}
	}()
	for c := range chunks {
		time.Sleep(time.Until(c.arrives))
		if _, err := dst.Write(c.data); err != nil {
			return
		}
	}
}
