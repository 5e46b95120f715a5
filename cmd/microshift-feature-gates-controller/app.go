package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/microshift-io/microshift-feature-gates/pkg/controller"
	"github.com/microshift-io/microshift-feature-gates/pkg/publish"
)

// app holds the flags.
type app struct {
	stderr  io.Writer
	checked bool // whether the flags were fine

	root, version, node, kubeconfig string
	listen                          string
	restart, installCRDs            bool
	elect                           bool
	election                        controller.Election
	quiet, delay                    time.Duration
	logFormat, logLevel             string
}

func (a *app) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "microshift-feature-gates-controller",
		Short: "Roll feature gates out over the nodes of a MicroShift cluster",
		Long: `Roll out the feature gates that need every kubelet to be new enough, by
apiServer.featureGates.minimumKubeletVersion, and publish OpenShift's FeatureGate
object. Runs on each device, after MicroShift; one of them leads.

A new set of gates takes effect at the next restart of MicroShift, which this
command asks for, and does itself only with --restart.`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return a.run(cmd.Context()) },
	}
	f := cmd.Flags()
	f.StringVar(&a.root, "root", "/", "`DIR` that goes before every path on the device")
	f.StringVar(&a.version, "microshift-version", "", "running `VERSION` of MicroShift (default: what /var/lib/microshift/version says)")
	f.StringVar(&a.node, "node", "", "`NAME` of this device's Node (default: the host name)")
	f.StringVar(&a.kubeconfig, "kubeconfig", "", "`FILE` (default: /var/lib/microshift/resources/kubeadmin/kubeconfig)")
	f.StringVar(&a.listen, "listen", "", "loopback `ADDRESS:PORT` for /healthz and /metrics (default: none)")
	f.BoolVar(&a.restart, "restart", false, "restart MicroShift when it has to take a new generation")
	f.BoolVar(&a.installCRDs, "install-crds", false, "create OpenShift's CustomResourceDefinitions of FeatureGate and Node where they are missing, and go on")
	f.BoolVar(&a.elect, "leader-elect", true, "elect a leader; a cluster of one device needs none")
	f.DurationVar(&a.election.LeaseDuration, "leader-elect-lease-duration", controller.LeaseDuration, "how long others wait for a leader that is gone")
	f.DurationVar(&a.election.RenewDeadline, "leader-elect-renew-deadline", controller.RenewDeadline, "how long a leader tries to renew before it gives up")
	f.DurationVar(&a.election.Retry, "leader-elect-retry-period", controller.RetryPeriod, "how often it renews, and others look")
	f.DurationVar(&a.quiet, "quiet", controller.Quiet, "how long conditions must have stayed the same before they are written")
	f.DurationVar(&a.delay, "delay", controller.Delay, "how long conditions may keep changing before they are written")
	f.StringVar(&a.logFormat, "log-format", "text", "format of logs: text or json")
	f.StringVar(&a.logLevel, "log-level", "info", "least severe log entries that are shown: error, warn, info or debug")
	return cmd
}

// check completes the flags.
func (a *app) check() error {
	if a.logFormat != "text" && a.logFormat != "json" {
		return usageError{fmt.Errorf("--log-format %q: want text or json", a.logFormat)}
	}
	if a.listen != "" && !loopback(a.listen) {
		return usageError{fmt.Errorf("--listen %q: want an address of this host's loopback and a port, such as 127.0.0.1:9099", a.listen)}
	}
	if e := a.election; a.elect && (e.LeaseDuration <= e.RenewDeadline || e.RenewDeadline <= 2*e.Retry || e.Retry <= 0) {
		return usageError{errors.New("--leader-elect-…: the lease must last longer than the deadline, and that more than twice the retry period")}
	}
	root, err := filepath.Abs(a.root)
	if err != nil {
		return err
	}
	a.root = root
	if a.kubeconfig == "" {
		a.kubeconfig = filepath.Join(a.root, "var/lib/microshift/resources/kubeadmin/kubeconfig")
	}
	if a.node == "" {
		host, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("%w; give the name of the Node with --node", err)
		}
		a.node = strings.ToLower(host) // as the kubelet does
	}
	a.election.Identity = a.node
	return nil
}

// loopback reports whether an address is one that only this host reaches.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}

func (a *app) run(ctx context.Context) error {
	if err := a.check(); err != nil {
		return err
	}
	log, err := a.logger()
	if err != nil {
		return usageError{err}
	}
	a.checked = true
	klog.SetLogger(funcr.New(func(prefix, args string) {
		log.WithField("from", "client-go").Info(strings.TrimSpace(prefix + " " + args))
	}, funcr.Options{}))
	config, err := clientcmd.BuildConfigFromFlags("", a.kubeconfig)
	if err != nil {
		return err
	}
	client, dyn, err := clients(config)
	if err != nil {
		return err
	}
	if a.installCRDs {
		created, err := publish.InstallCRDs(ctx, dyn)
		for _, name := range created {
			log.WithField("name", name).Info("CustomResourceDefinition created")
		}
		if err != nil {
			return err
		}
	}
	o, err := a.options(log)
	if err != nil {
		return err
	}
	o.Kubernetes, o.Dynamic = client, dyn
	c, err := controller.New(o)
	if err != nil {
		return err
	}
	return a.serveAndRun(ctx, c, o.Metrics, log)
}

// clients returns clients that take built-in objects as protobuf, which needs
// less memory than JSON, and custom ones as JSON, which is all that they have.
func clients(config *rest.Config) (kubernetes.Interface, dynamic.Interface, error) {
	config.UserAgent = "microshift-feature-gates-controller"
	config.QPS, config.Burst = 20, 40
	config.Timeout = 0 // watches last
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	proto := rest.CopyConfig(config)
	proto.ContentType = "application/vnd.kubernetes.protobuf"
	proto.AcceptContentTypes = proto.ContentType + ",application/json"
	client, err := kubernetes.NewForConfig(proto)
	return client, dyn, err
}

// serveAndRun runs the controller, and the server if there is to be one.
func (a *app) serveAndRun(ctx context.Context, c *controller.Controller, metrics *controller.Metrics, log logrus.FieldLogger) error {
	if a.listen == "" {
		return c.Run(ctx)
	}
	listener, err := net.Listen("tcp", a.listen)
	if err != nil {
		return err
	}
	log.WithField("address", listener.Addr().String()).Info("serving /healthz and /metrics")
	server := controller.Server(c, metrics)
	var group sync.WaitGroup
	group.Go(func() { _ = server.Serve(listener) }) // ends by Shutdown
	err = c.Run(ctx)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	err = errors.Join(err, server.Shutdown(last))
	group.Wait()
	return err
}

// logger returns the logger that the flags ask for.
func (a *app) logger() (*logrus.Logger, error) {
	level, err := logrus.ParseLevel(a.logLevel)
	if err != nil {
		return nil, fmt.Errorf("--log-level: %w", err)
	}
	log := logrus.New()
	log.SetOutput(a.stderr)
	log.SetLevel(level)
	if a.logFormat == "json" {
		log.SetFormatter(&logrus.JSONFormatter{})
	} else {
		// Without colours, since only then does logrus quote what could forge a line.
		log.SetFormatter(&logrus.TextFormatter{DisableColors: true, FullTimestamp: true})
	}
	return log, nil
}

// restartMicroShift asks systemd for a restart and does not wait for it, since
// this service is restarted along with MicroShift.
func restartMicroShift(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "systemctl", "restart", "--no-block", "microshift.service").CombinedOutput()
	if err != nil {
		return fmt.Errorf("systemctl restart microshift.service: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
