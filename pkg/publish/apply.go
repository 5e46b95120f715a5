package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	configv1 "github.com/openshift/api/config/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/dynamic"
)

// FieldManager is who owns the fields that this package applies.
const FieldManager = "microshift-feature-gates"

// The resources of the two objects.
var (
	FeatureGates = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "featuregates"}
	NodeConfigs  = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "nodes"}
)

// RefusedError is returned when the cluster does not take an object: OpenShift's
// own validation forbids the change, such as the revert of a NoUpgrade set, or
// someone else manages the same fields. Trying again does not help until the
// object or the configuration has changed.
type RefusedError struct {
	Object string // such as "FeatureGate cluster"
	Err    error
}

// Error says who refused what.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("the cluster refuses %s: %v", e.Object, e.Err)
}

// Unwrap returns the API server's answer.
func (e *RefusedError) Unwrap() error { return e.Err }

// refused marks the answers to which trying again is no answer.
func refused(object string, err error) error {
	if apierrors.IsInvalid(err) || apierrors.IsConflict(err) && apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) {
		return &RefusedError{object, err}
	}
	return err
}

// ApplyFeatureGate makes the object in the cluster as fg is, by server-side
// apply: first its spec, then by the subresource its status. Entries of other
// versions in the status stay. It returns how many writes that took, none where
// all is as it should be, and a *RefusedError where the cluster refuses it.
//
// It does not force: where another field manager has set a field to another
// value, that is for people to sort out.
func ApplyFeatureGate(ctx context.Context, client dynamic.Interface, fg *configv1.FeatureGate) (writes int, err error) {
	object := "FeatureGate " + fg.Name
	resource := client.Resource(FeatureGates)
	var present configv1.FeatureGate
	got, err := resource.Get(ctx, fg.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return 0, err
	default:
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(got.Object, &present); err != nil {
			return 0, fmt.Errorf("%s: %w", object, err)
		}
	}
	options := metav1.ApplyOptions{FieldManager: FieldManager}
	if present.Name == "" || !reflect.DeepEqual(present.Spec, fg.Spec) {
		spec, err := part(fg, "spec", fg.Spec)
		if err != nil {
			return 0, err
		}
		if _, err := resource.Apply(ctx, fg.Name, spec, options); err != nil {
			return 0, refused(object, err)
		}
		writes++
	}
	want := merge(fg.Status.FeatureGates, present.Status.FeatureGates, newer)
	if reflect.DeepEqual(normal(present.Status.FeatureGates), normal(want)) {
		return writes, nil
	}
	status, err := part(fg, "status", struct {
		FeatureGates []configv1.FeatureGateDetails `json:"featureGates"`
	}{normal(want)})
	if err != nil {
		return writes, err
	}
	if _, err := resource.ApplyStatus(ctx, fg.Name, status, options); err != nil {
		return writes, refused(object, err)
	}
	return writes + 1, nil
}

// part is an object with nothing but its name and one field, which is all that
// an apply may hold that is to own no more than that.
func part(fg *configv1.FeatureGate, field string, value any) (*unstructured.Unstructured, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("FeatureGate %s: %w", fg.Name, err)
	}
	var content map[string]any
	if err := json.Unmarshal(data, &content); err != nil {
		return nil, fmt.Errorf("FeatureGate %s: %w", fg.Name, err)
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": fg.APIVersion, "kind": fg.Kind,
		"metadata": map[string]any{"name": fg.Name},
		field:      content,
	}}, nil
}

// normal has empty lists, which are sent, where an entry has nil, which the
// schema does not allow.
func normal(details []configv1.FeatureGateDetails) []configv1.FeatureGateDetails {
	list := make([]configv1.FeatureGateDetails, len(details))
	for i, d := range details {
		d.Enabled = append([]configv1.FeatureGateAttributes{}, d.Enabled...)
		d.Disabled = append([]configv1.FeatureGateAttributes{}, d.Disabled...)
		list[i] = d
	}
	return list
}

// newer sorts versions, the newest first, and what is none last.
func newer(a, b string) int {
	v, errV := version.ParseGeneric(a)
	w, errW := version.ParseGeneric(b)
	switch {
	case errV != nil && errW != nil:
		return 0
	case errV != nil:
		return +1
	case errW != nil:
		return -1
	case v.LessThan(w):
		return +1
	case w.LessThan(v):
		return -1
	}
	return 0
}

// Installed reports which of the two resources the cluster has.
func Installed(resources []metav1.APIResource) (featureGates, nodeConfigs bool) {
	for _, r := range resources {
		featureGates = featureGates || r.Name == FeatureGates.Resource
		nodeConfigs = nodeConfigs || r.Name == NodeConfigs.Resource
	}
	return featureGates, nodeConfigs
}

// IsRefused reports whether err is a *RefusedError.
func IsRefused(err error) bool {
	var r *RefusedError
	return errors.As(err, &r)
}
