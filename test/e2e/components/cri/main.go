// Command cri is a container runtime that runs nothing, for the kubelet.
//
//	cri -socket PATH
//
// It prints "ready" on stdout once it serves, and ends on a signal.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/cri-client/pkg/fake"
)

func main() {
	socket := flag.String("socket", "", "path of the socket to serve at")
	flag.Parse()
	runtime := fake.NewFakeRemoteRuntime()
	if err := runtime.Start("unix://" + *socket); err != nil {
		log.Fatal(err)
	}
	fmt.Println("ready")
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	<-ended
	runtime.Stop()
}
