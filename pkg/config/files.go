package config

import (
	"io/fs"

	"github.com/microshift-io/microshift-feature-gates/pkg/diag"
)

// ReadFiles reads the named files of this host in the order given, with the
// limits of Read. The list and the error are as those of Read; a file that is
// missing is an error here.
func ReadFiles(names ...string) ([]File, diag.List, error) {
	var r reader
	for _, name := range names {
		before, problems := len(r.files), len(r.diags)+r.failures
		r.file(name)
		if len(r.files) == before && len(r.diags)+r.failures == problems {
			r.failed(name, fs.ErrNotExist)
		}
	}
	return r.files, r.diags, r.err()
}
