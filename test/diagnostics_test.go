package test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const diagnosticsDoc = "docs/diagnostics.md"

// TestDiagnosticsAreDocumented compares the codes in the sources with the
// headings of the document, and demands that an example under the heading
// prints the code. TestExamples runs the examples, so each code is reachable.
func TestDiagnosticsAreDocumented(t *testing.T) {
	found := codes(t)
	docs := documents(t)
	i := slices.IndexFunc(docs, func(d document) bool { return d.name == diagnosticsDoc })
	doc := docs[i]
	var documented []string
	for _, p := range doc.parts {
		if p.kind == heading && codeForm.MatchString(p.text) {
			documented = append(documented, p.text)
			if found[p.text] == "" {
				t.Errorf("%s:%d: no source has the code %s", doc.name, p.line, p.text)
			}
		}
	}
	for _, code := range slices.Sorted(maps.Keys(found)) {
		if !slices.Contains(documented, code) {
			t.Errorf("%s: the code %s has no heading in %s", found[code], code, doc.name)
		} else if !*update && !printsCode(doc.under(code), code) { // an update fills them in
			t.Errorf("%s: no example under the heading %s prints the code", doc.name, code)
		}
	}
	for i, code := range documented {
		if slices.Contains(documented[:i], code) {
			t.Errorf("%s: two headings %s", doc.name, code)
		}
	}
}

// codeForm is the form of a code. Headings of one word without a capital are
// the codes, and no others.
var codeForm = regexp.MustCompile(`^[a-z]+(-[a-z0-9]+)*$`)

func printsCode(parts []part, code string) bool {
	for _, p := range parts {
		if p.kind != block || len(p.info) == 0 || p.info[0] != "console" || slices.Contains(p.info, "not-run") {
			continue
		}
		for _, c := range commands(p.content) {
			text := strings.Join(c.prints, "\n")
			if strings.Contains(text, "["+code+"]") || strings.Contains(text, `"code": "`+code+`"`) {
				return true
			}
		}
	}
	return false
}

// codes returns every code of a diag.Diagnostic in the sources, with a place
// that has it. A code is found where a field Code gets a value, and where a
// parameter of the name code does; anything but a literal there is an error,
// so that none is missed.
func codes(t *testing.T) map[string]string {
	t.Helper()
	c := codeFinder{t: t, fset: token.NewFileSet(), found: map[string]string{}}
	files := map[string][]*ast.File{} // by folder
	err := filepath.WalkDir("../pkg", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(c.fset, path, nil, parser.SkipObjectResolution)
		if err == nil {
			files[filepath.Dir(path)] = append(files[filepath.Dir(path)], file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range slices.Sorted(maps.Keys(files)) {
		if !usesDiag(files[dir]) {
			continue
		}
		c.parameters = map[string]int{}
		for _, f := range files[dir] {
			c.findParameters(f)
		}
		for _, f := range files[dir] {
			ast.Inspect(f, c.visit)
		}
	}
	return c.found
}

// usesDiag reports whether a package makes diagnostics.
func usesDiag(files []*ast.File) bool {
	return slices.ContainsFunc(files, func(f *ast.File) bool {
		return slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return strings.HasSuffix(i.Path.Value, `/pkg/diag"`) })
	})
}

type codeFinder struct {
	t     *testing.T
	fset  *token.FileSet
	found map[string]string
	// parameters has the functions of the package that take a code, and as
	// which argument. Methods are listed with the name that their receiver has
	// in them, since that is how they are called: v.at.
	parameters map[string]int
}

func (c *codeFinder) findParameters(f *ast.File) {
	for _, decl := range f.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		called := fn.Name.Name
		if fn.Recv != nil && len(fn.Recv.List[0].Names) > 0 {
			called = fn.Recv.List[0].Names[0].Name + "." + called
		}
		i := 0
		for _, field := range fn.Type.Params.List {
			for _, name := range field.Names {
				if name.Name == "code" {
					c.parameters[called] = i
				}
				i++
			}
		}
	}
}

func (c *codeFinder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Code" {
			c.value(n.Value)
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if s, ok := left.(*ast.SelectorExpr); ok && s.Sel.Name == "Code" {
				c.value(n.Rhs[i])
			}
		}
	case *ast.CallExpr:
		called := ""
		switch f := n.Fun.(type) {
		case *ast.Ident:
			called = f.Name
		case *ast.SelectorExpr:
			if x, ok := f.X.(*ast.Ident); ok {
				called = x.Name + "." + f.Sel.Name
			}
		}
		if i, ok := c.parameters[called]; ok {
			c.value(n.Args[i])
		}
	}
	return true
}

func (c *codeFinder) value(e ast.Expr) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if code, err := strconv.Unquote(e.Value); err == nil {
			c.found[code] = strings.TrimPrefix(fmt.Sprint(c.fset.Position(e.Pos())), "../")
			return
		}
	case *ast.Ident:
		if e.Name == "code" { // its own callers are found as well
			return
		}
	case *ast.SelectorExpr:
		if e.Sel.Name == "Code" { // a copy
			return
		}
	}
	c.t.Errorf("%s: write the code as a literal, so that it can be found", c.fset.Position(e.Pos()))
}
