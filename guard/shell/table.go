package shell

import "regexp"

// gitCommon are the options of git's log and diff family that neither write nor run anything.
const gitCommon = "-p -u -s -w -b -R -z -M -C -# -n: -U: -S: -G: --stat --stat= --shortstat --numstat --name-only --name-status --summary " +
	"--cached --staged --oneline --graph --all --decorate --decorate= --no-color --color= --no-ext-diff --no-textconv --no-patch " +
	"--patch --raw --format= --pretty= --max-count= --since= --until= --author= --grep= --no-merges --merges --first-parent " +
	"--reverse --follow --abbrev-commit --date= --word-diff --diff-filter= --unified= --exit-code --quiet --check --minimal " +
	"--ignore-all-space --no-renames --find-renames --left-right --cherry-pick --no-pager --submodule="

var (
	sedPrint   = regexp.MustCompile(`^[0-9]+(,([0-9]+|\$))?p$`)
	dateFormat = regexp.MustCompile(`^\+`)
)

// table is the read-only grammar: what may run without a question where reading may. The first row whose
// name fits decides.
var table = []form{
	{name: "cat", flags: "-n -b -s -A -e -t -v", yes: []string{"cat a.go", "cat -n a.go b.go", "cat <<'EOF'\n$(x)\nEOF"}, not: []string{"cat a > b", "cat <(ls)", "cat $F"}},
	{name: "ls", flags: "-l -a -A -h -R -t -r -S -1 -d -F -i -s -p -L --all --almost-all --human-readable --recursive --reverse --color=", yes: []string{"ls", "ls -la cmd"}, not: []string{"./ls", "X=1 ls", "ls --hyperlink-to=x"}},
	{name: "head", flags: "-# -n: -c: -q -v --lines= --bytes=", yes: []string{"head -50 main.go", "head -n 5 a b", "head -c10 a"}, not: []string{"head -n"}},
	{name: "tail", flags: "-# -n: -c: -q -v --lines= --bytes=", yes: []string{"tail -n 20 a.log"}, not: []string{"tail -f a.log"}},
	{name: "wc", flags: "-l -w -c -m -L --lines --words --bytes", yes: []string{"wc -l a.go", "cat a | wc -l"}, not: []string{"wc --files0-from=x"}},
	{name: "pwd", flags: "-P -L", most: -1, yes: []string{"pwd"}, not: []string{"pwd > x"}},
	{name: "echo", flags: "-n -e -E", text: -1, yes: []string{"echo hi", "echo 'a && b'", "echo '$(touch P)'"}, not: []string{"echo hi > f", "echo $(touch P)", "echo `id`"}},
	{name: "printf", text: -1, yes: []string{`printf '%s\n' a`}, not: []string{"printf -v PATH x"}},
	{name: "true", text: -1, yes: []string{"true"}, not: []string{"true > f"}},
	{name: "false", text: -1, yes: []string{"false"}, not: []string{"false > f"}},
	{name: ":", text: -1, yes: []string{":"}, not: []string{": > f"}},
	{name: "test", flags: "-e -f -d -r -s -n -z -x -L", yes: []string{"test -f go.mod"}, not: []string{"test -f $X"}},
	{name: "[", flags: "-e -f -d -r -s -n -z -x -L", yes: []string{"[ -f go.mod ]"}, not: []string{"[ -v x ]"}},
	{
		name: "grep", text: 1,
		flags: "-r -R -n -i -v -l -L -c -o -h -H -w -x -E -F -P -q -s -a -I -z -A: -B: -C: -m: -# --include= --exclude= --exclude-dir= --color= --line-number --recursive --ignore-case --fixed-strings --extended-regexp --count --files-with-matches",
		yes:   []string{`grep -rn "func main" cmd`, "grep -rn 'foo|bar' . | wc -l", "grep -A3 x a.go"}, not: []string{"grep -f patterns a", "grep x a > b", "grep -e x a"},
	},
	{
		name: "rg", text: 1,
		flags: "-n -i -v -l -c -o -w -F -S -s -q -N -H -U -A: -B: -C: -m: -g: -t: -T: -e --glob= --type= --hidden --no-ignore --no-heading --heading --line-number --ignore-case --fixed-strings --files-with-matches --count --max-count= --color= --json",
		yes:   []string{"rg -n 'type .* struct' ant", "rg -g '*.go' x"}, not: []string{"rg --pre ./r.sh x a", "rg --pre=./r.sh x a", "rg --hostname-bin=./r.sh x", "rg -z x", "rg -f p a"},
	},
	{
		name:  "find",
		flags: "-L -P -H -name: -iname: -path: -ipath: -regex: -iregex: -type: -maxdepth: -mindepth: -size: -mtime: -mmin: -empty -not -o -a -or -and -print -print0 -prune -depth -true",
		yes:   []string{"find . -type f -name '*.go'", "find . -not -path './.git/*' -maxdepth 2"},
		not:   []string{"find . -exec touch P ';'", "find . -delete", "find . -fprint P", "find . -ok ls ';'", "find . -name *.go"},
	},
	{name: "sed", flags: "-n", needs: "-n", text: 1, operand: sedPrint, yes: []string{"sed -n '10,40p' main.go", "sed -n 5p a"}, not: []string{"sed -i s/a/b/ f", "sed '1e touch P' a", "sed -n 's/a/b/w P' a", "sed -n 'w P' a", "sed 5p a"}},
	{name: "cut", flags: "-d: -f: -c: -b: -s --delimiter= --fields=", yes: []string{"cut -d: -f1 a"}, not: []string{"cut -f1 a > b"}},
	{name: "tr", flags: "-d -s -c -C", text: -1, yes: []string{"cat a | tr -d x"}, not: []string{"tr a b < x > y"}},
	{name: "sort", flags: "-n -r -u -k: -t: -f -h -V -b -c -s --unique --reverse --numeric-sort", yes: []string{"sort -u a", "cat a | sort -k2 -n"}, not: []string{"sort a -o P", "sort --compress-program=./r.sh a", "sort -T d a"}},
	{name: "uniq", flags: "-c -d -u -i", most: 1, yes: []string{"sort a | uniq -c"}, not: []string{"uniq a b"}},
	{name: "diff", flags: "-u -r -q -w -b -B -i -N -U: --brief --recursive --unified= --color=", yes: []string{"diff -u a b"}, not: []string{"diff --to-file=x a", "diff -u a b > c"}},
	{name: "cmp", flags: "-s -l", yes: []string{"cmp a b"}, not: []string{"cmp a b > c"}},
	{name: "stat", flags: "-c: -L --format=", yes: []string{"stat a"}, not: []string{"stat a > b"}},
	{name: "file", flags: "-b -i --mime-type", yes: []string{"file a"}, not: []string{"file -C -m x"}},
	{name: "du", flags: "-s -h -a -c -d: --max-depth=", yes: []string{"du -sh ."}, not: []string{"du --files0-from=x"}},
	{name: "basename", flags: "-a -s:", text: -1, yes: []string{"basename a/b.go"}, not: []string{"basename $X"}},
	{name: "dirname", text: -1, yes: []string{"dirname a/b"}, not: []string{"dirname $X"}},
	{name: "realpath", flags: "-m -e -s", yes: []string{"realpath a"}, not: []string{"realpath $X"}},
	{name: "readlink", flags: "-f -e -m", yes: []string{"readlink -f a"}, not: []string{"readlink $X"}},
	{name: "nl", flags: "-b: -w: -s:", yes: []string{"nl -ba a"}, not: []string{"nl a > b"}},
	{name: "tac", yes: []string{"tac a"}, not: []string{"tac a > b"}},
	{name: "sha256sum", yes: []string{"sha256sum a"}, not: []string{"sha256sum -c sums"}},
	{name: "seq", flags: "-s: -w", text: -1, yes: []string{"seq 1 3"}, not: []string{"seq 1 $N"}},
	{name: "date", flags: "-u --utc", text: -1, operand: dateFormat, yes: []string{"date -u +%F"}, not: []string{"date -s x", "date 010100002030"}},
	{name: "uname", flags: "-a -s -r -m", most: -1, yes: []string{"uname -a"}, not: []string{"uname > f"}},
	{name: "whoami", most: -1, yes: []string{"whoami"}, not: []string{"whoami > f"}},
	{name: "id", flags: "-u -g -n", text: -1, yes: []string{"id -u"}, not: []string{"id > f"}},
	{name: "which", flags: "-a", text: -1, yes: []string{"which go"}, not: []string{"which $X"}},
	{name: "command", flags: "-v -V", needs: "-v -V", text: -1, yes: []string{"command -v go"}, not: []string{"command touch P", "command -v $X"}},
	{name: "type", flags: "-t -a -p", text: -1, yes: []string{"type go"}, not: []string{"type $X"}},
	{name: "go version", most: -1, yes: []string{"go version"}, not: []string{"go build ./..."}},
	{name: "git status", flags: "-s -b -u --short --branch --porcelain --porcelain= --untracked-files= --ignored", yes: []string{"git status --porcelain", "git status -sb"}, not: []string{"git -c alias.x=y status", "cd sub && git status", "GIT_DIR=x git status"}},
	{name: "git diff", flags: gitCommon, yes: []string{"git diff --stat", "git diff HEAD~1 -- a.txt"}, not: []string{"git diff --output=P HEAD", "git diff --ext-diff", "git diff --no-index a b", "git -C x diff"}},
	{name: "git log", flags: gitCommon, yes: []string{"git log --oneline -5", "git log -n 3 -p a.go"}, not: []string{"git log -1 --output=P", "git log --show-signature", "git --exec-path=x log"}},
	{name: "git show", flags: gitCommon, yes: []string{"git show HEAD", "git show --stat HEAD~2"}, not: []string{"git show --textconv HEAD", "git show --output P"}},
	{name: "git branch", flags: "--show-current -a -r -v -vv --list --all", most: -1, yes: []string{"git branch --show-current", "git branch"}, not: []string{"git branch evil", "git branch -D x", "git branch --edit-description"}},
	{name: "git rev-parse", flags: "--short --abbrev-ref --verify --show-toplevel --is-inside-work-tree --git-dir", text: -1, yes: []string{"git rev-parse HEAD"}, not: []string{"git rev-parse --parseopt"}},
	{name: "git ls-files", flags: "-c -m -o -d -s -z --cached --others --modified --deleted --exclude-standard --stage", yes: []string{"git ls-files -m"}, not: []string{"git ls-files --exclude-from=x"}},
	{name: "git blame", flags: "-L: -w -s -e -l -p --porcelain", yes: []string{"git blame -L 1,5 a.go"}, not: []string{"git blame --contents x a.go"}},
	{name: "git grep", flags: "-n -i -l -w -E -F -c -h -v -I --cached", text: 1, yes: []string{"git grep -n foo"}, not: []string{"git grep -O foo", "git grep --open-files-in-pager=./r.sh foo"}},
}
