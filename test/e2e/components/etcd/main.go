// Command etcd is a single etcd server on loopback, for kube-apiserver.
//
//	etcd -port PORT -dir DIR
//
// It prints "ready" on stdout once it serves, and ends on a signal.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

func main() {
	port := flag.Int("port", 0, "client port")
	dir := flag.String("dir", "", "data directory")
	flag.Parse()
	if err := run(*port, *dir); err != nil {
		log.Fatal(err)
	}
}

func run(port int, dir string) error {
	client, err := url.Parse(fmt.Sprintf("http://127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	peer, err := url.Parse("http://127.0.0.1:0") // a single member has no peers
	if err != nil {
		return err
	}
	cfg := embed.NewConfig()
	cfg.Dir = dir
	cfg.LogLevel = "warn"
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.UnsafeNoFsync = true // the data needs to survive restarts of programs only
	server, err := embed.StartEtcd(cfg)
	if err != nil {
		return err
	}
	defer server.Close()
	select {
	case <-server.Server.ReadyNotify():
	case <-time.After(time.Minute):
		return errors.New("not ready after a minute")
	}
	fmt.Println("ready")

	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	select {
	case <-ended:
		return nil
	case err := <-server.Err():
		return err
	}
}
