package gates

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"
)

// ReleasesOf returns the MicroShift releases that contain the Kubernetes minor
// version of kube, ascending, such as "4.23" and "5.0". It is empty where none
// is known. It is the reverse of KubernetesFor.
func ReleasesOf(kube *version.Version) []string {
	list := []string{}
	for _, r := range releases {
		if kube != nil && kube.Major() == 1 && kube.Minor() == uint(r.kube) {
			list = append(list, fmt.Sprintf("%d.%d", r.major, r.minor))
		}
	}
	return list
}
