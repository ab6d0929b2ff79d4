package tools

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// reserved are the UDP ports that keep other processes from choosing the same
// TCP ports.
var reserved sync.Map

// FreePort returns a TCP port of the loopback interface for a program that can't
// choose one itself. Operating systems choose higher ones, so no other program gets
// it before that program listens. Nor does another caller, until this process ends.
func FreePort() (port string, err error) {
	for range 100 {
		port = fmt.Sprint(10_000 + rand.IntN(20_000))
		var l net.Listener
		var udp net.PacketConn
		if l, err = net.Listen("tcp", "127.0.0.1:"+port); err != nil {
			continue
		}
		l.Close()
		if udp, err = net.ListenPacket("udp", "127.0.0.1:"+port); err == nil {
			reserved.Store(port, udp)
			return port, nil
		}
	}
	return "", err
}
