package plan

import (
	"fmt"
	"slices"
	"strings"
)

// cycles names each need that closes a ring of tasks, with the whole ring.
func (c *check) cycles() {
	state := make([]int, len(c.plan.Tasks)) // 0 unseen, 1 on the way, 2 done
	var way []int
	var visit func(i int)
	visit = func(i int) {
		state[i], way = 1, append(way, i)
		for j, need := range c.plan.Tasks[i].Needs {
			next, ok := c.index[need]
			switch {
			case !ok:
			case state[next] == 0:
				visit(next)
			case state[next] == 1:
				c.fault(c.ring(way[slices.Index(way, next):]), "tasks[%d].needs[%d]", i, j)
			}
		}
		state[i], way = 2, way[:len(way)-1]
	}
	for i := range c.plan.Tasks {
		if state[i] == 0 {
			visit(i)
		}
	}
}

// ring is the sentence that names a cycle, a very long one by its beginning.
func (c *check) ring(tasks []int) string {
	var names []string
	for _, i := range tasks[:min(len(tasks), 20)] {
		names = append(names, c.plan.Tasks[i].ID)
	}
	if more := len(tasks) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("tasks need each other in a cycle: %s: drop one of these needs", strings.Join(append(names, names[0]), " needs "))
}

// Order is the tasks' ids, depth first: each one after all it needs, else as in the file. The plan has no
// cycle and no unknown need.
func (p Plan) Order() []string {
	index := map[string]int{}
	for i, t := range p.Tasks {
		index[t.ID] = i
	}
	order, seen := make([]string, 0, len(p.Tasks)), map[string]bool{}
	var visit func(t Task)
	visit = func(t Task) {
		if seen[t.ID] {
			return
		}
		seen[t.ID] = true
		for _, need := range t.Needs {
			if i, ok := index[need]; ok {
				visit(p.Tasks[i])
			}
		}
		order = append(order, t.ID)
	}
	for _, t := range p.Tasks {
		visit(t)
	}
	return order
}
