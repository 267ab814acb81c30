package guard

import "strings"

// beneath is path as seen from root, comparing whole components; false where it is not root or under it.
func beneath(root, path string) (string, bool) {
	switch rest, ok := strings.CutPrefix(path, root); {
	case !ok:
		return "", false
	case rest == "":
		return ".", true
	case root == "/":
		return rest, true
	case rest[0] == '/':
		return rest[1:], true
	}
	return "", false
}

func beneathAny(roots []string, path string) bool {
	for _, root := range roots {
		if _, ok := beneath(root, path); ok {
			return true
		}
	}
	return false
}
