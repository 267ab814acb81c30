package report_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"colony/ledger/report"
	"colony/view"
)

// In a browser the page draws its charts, says nothing to the console, and its policy has nothing to refuse.
func TestPageInABrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium here")
	}
	page, err := report.Page(billOf(aRun("r")...), report.Options{By: []string{"card"}}, view.Line)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "bill.html")
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--enable-logging=stderr",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--dump-dom", "file://"+path)
	cmd.Env, cmd.WaitDelay = append(os.Environ(), "HOME="+dir), 5*time.Second
	var said bytes.Buffer
	cmd.Stderr = &said
	dom, err := cmd.Output()
	if err != nil {
		t.Skipf("chromium does not run here: %v", err)
	}
	if strings.Contains(said.String(), ":CONSOLE") {
		t.Errorf("the console says %s", said.String())
	}
	for _, mark := range []string{"<rect", "<svg", "data-usd=", "<tr"} {
		if got, want := strings.Count(string(dom), mark), strings.Count(page, mark); got != want || want == 0 {
			t.Errorf("%d of %q are there, %d were written", got, mark, want)
		}
	}
}
