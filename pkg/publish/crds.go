package publish

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/microshift-io/microshift-feature-gates/assets"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// InstallCRDs creates OpenShift's two CustomResourceDefinitions and waits up to
// a minute until they are served. One that is there stays as it is: whoever
// installed it keeps it up to date. It returns the names of those it created.
func InstallCRDs(ctx context.Context, client dynamic.Interface) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var created []string
	var errs []error
	for _, file := range []string{"crds/featuregates.crd.yaml", "crds/nodes.crd.yaml"} {
		crd, err := definition(file)
		if err != nil {
			return created, err
		}
		_, err = client.Resource(definitions).Create(ctx, crd, metav1.CreateOptions{FieldManager: FieldManager})
		switch {
		case err == nil:
			created = append(created, crd.GetName())
		case !apierrors.IsAlreadyExists(err):
			errs = append(errs, fmt.Errorf("create CustomResourceDefinition %s: %w", crd.GetName(), err))
			continue
		}
		if err := established(ctx, client, crd.GetName()); err != nil {
			errs = append(errs, err)
		}
	}
	return created, errors.Join(errs...)
}

func definition(file string) (*unstructured.Unstructured, error) {
	data, err := assets.FS.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("embedded CustomResourceDefinition: %w", err)
	}
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(data, &crd.Object); err != nil {
		return nil, fmt.Errorf("embedded %s: %w", file, err)
	}
	return crd, nil
}

// established waits until the API server serves the resource.
func established(ctx context.Context, client dynamic.Interface, name string) error {
	err := wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		crd, err := client.Resource(definitions).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions") // null at first, which is an error here
		for _, c := range conditions {
			if c, ok := c.(map[string]any); ok && c["type"] == "Established" && c["status"] == "True" {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("CustomResourceDefinition %s is not served: %w", name, err)
	}
	return nil
}
