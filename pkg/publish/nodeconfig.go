package publish

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	configv1 "github.com/openshift/api/config/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"
)

// UpdateNodeConfig gives the nodes.config.openshift.io object the minimum,
// empty for none, and the conditions; conditions of other types stay. Each
// write re-reads the object, and again after a conflict. It returns how many
// writes that took, none where all is as it should be.
//
// The minimum must be the one that is enforced, never one that is only
// configured: whoever enforces it from this object must not do so too early,
// nor stop before the gates are off.
func UpdateNodeConfig(ctx context.Context, client dynamic.Interface, minimum string, conditions []metav1.Condition) (writes int, err error) {
	resource := client.Resource(NodeConfigs)
	object := "nodes.config.openshift.io " + Name
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		got, err := resource.Get(ctx, Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			// By an apply, which has a name in its path: rights can be limited to that.
			got = &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": configv1.GroupVersion.String(), "kind": "Node",
				"metadata": map[string]any{"name": Name},
				"spec":     map[string]any{"minimumKubeletVersion": minimum},
			}}
			_, err = resource.Apply(ctx, Name, got, metav1.ApplyOptions{FieldManager: FieldManager})
		case err != nil:
			return err
		default:
			if now, _, _ := unstructured.NestedString(got.Object, "spec", "minimumKubeletVersion"); now == minimum {
				return nil
			}
			if err := unstructured.SetNestedField(got.Object, minimum, "spec", "minimumKubeletVersion"); err != nil {
				return fmt.Errorf("%s: %w", object, err)
			}
			_, err = resource.Update(ctx, got, metav1.UpdateOptions{FieldManager: FieldManager})
		}
		if err == nil {
			writes++
		}
		return err
	})
	if err != nil {
		return writes, refused(object, err)
	}
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		got, err := resource.Get(ctx, Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		changed, err := setConditions(got, conditions)
		if err != nil || !changed {
			return err
		}
		if _, err = resource.UpdateStatus(ctx, got, metav1.UpdateOptions{FieldManager: FieldManager}); err == nil {
			writes++
		}
		return err
	})
	return writes, refused(object, err)
}

// setConditions merges conditions into the object and reports whether that
// made a difference.
func setConditions(u *unstructured.Unstructured, conditions []metav1.Condition) (bool, error) {
	var node configv1.Node
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &node); err != nil {
		return false, fmt.Errorf("nodes.config.openshift.io %s: %w", u.GetName(), err)
	}
	merged := MergeConditions(node.Status.Conditions, conditions)
	if reflect.DeepEqual(merged, node.Status.Conditions) {
		return false, nil
	}
	list := make([]any, len(merged))
	for i := range merged {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&merged[i])
		if err != nil {
			return false, err
		}
		list[i] = content
	}
	return true, unstructured.SetNestedSlice(u.Object, list, "status", "conditions")
}

// MergeConditions returns present with those of fresh in place of the ones of
// their types. One whose status is the same keeps its time of transition, and
// one that is all the same is left as it is.
func MergeConditions(present, fresh []metav1.Condition) []metav1.Condition {
	merged := slices.Clone(present)
	for _, c := range fresh {
		place := -1
		for i, old := range merged {
			if old.Type == c.Type {
				place = i
			}
		}
		if place < 0 {
			merged = append(merged, c)
			continue
		}
		if merged[place].Status == c.Status {
			c.LastTransitionTime = merged[place].LastTransitionTime
		}
		merged[place] = c
	}
	return merged
}
