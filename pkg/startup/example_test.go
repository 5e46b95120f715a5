package startup_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sirupsen/logrus"

	"github.com/microshift-io/microshift-feature-gates/pkg/gates"
	"github.com/microshift-io/microshift-feature-gates/pkg/lock"
	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

// What MicroShift does early in "microshift run", after its own version checks.
func ExampleRun() {
	root := sampleDevice("apiServer: {featureGates: {featureSet: CustomNoUpgrade, customNoUpgrade: {enabled: [MemoryQoS]}}}")
	defer os.RemoveAll(root)

	version, err := lock.ParseVersion("5.0.0") // MicroShift knows its own version
	if err != nil {
		fmt.Println(err)
		return
	}
	options := startup.DefaultOptions(root, version) // root is "" on a device
	options.Log = quiet

	outcome, err := startup.Run(context.Background(), options)
	var refusal *startup.Refusal
	switch {
	case errors.As(err, &refusal):
		fmt.Println("must not start:", refusal)
		return
	case err != nil:
		fmt.Println("could not check:", err)
		return
	}
	fmt.Println(outcome.Result.Args(gates.KubeAPIServer)) // for apiServerArguments
	fmt.Println(outcome.Result.Map(gates.Kubelet))        // for the KubeletConfiguration
	// Output:
	// [MemoryQoS=true UserNamespacesSupport=true]
	// map[MemoryQoS:true UserNamespacesSupport:true]
}

var quiet = func() *logrus.Logger {
	log := logrus.New()
	log.SetLevel(logrus.PanicLevel)
	return log
}()

// sampleDevice returns the root of a device with the given config.yaml.
func sampleDevice(config string) string {
	root, err := os.MkdirTemp("", "device")
	if err == nil {
		err = os.MkdirAll(filepath.Join(root, "etc/microshift"), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(root, "etc/microshift/config.yaml"), []byte(config), 0o644)
	}
	if err != nil {
		panic(err)
	}
	return root
}
