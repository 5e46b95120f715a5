// The packages of this repository as a module without requirements, for the
// program embedded. With the real go.mod, every library that is newer there
// than in Kubernetes would be newer in the components too: they would no
// longer be what they are elsewhere, and each change of the real go.mod would
// need one here.
module github.com/microshift-io/microshift-feature-gates

go 1.26.0
