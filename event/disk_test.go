package event_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite "modernc.org/sqlite/lib"
)

// A disk is the file system under SQLite, with a switch: what it does goes wrong where the test says so. The operations
// are open, write, sync, truncate, map and delete.
type disk struct {
	fault atomic.Pointer[func(op string) int32] // answers SQLite's code of an error, or 0
	mu    sync.Mutex                            // guards what follows
	kept  []any                                 // functions that only C memory points to
}

// under is the one disk of this test program: SQLite knows its file systems by name, for as long as the process lives.
var under = sync.OnceValues(func() (*disk, error) {
	d := new(disk)
	tls := libc.NewTLS()
	real := sqlite.Xsqlite3_vfs_find(tls, 0)
	if real == 0 {
		return nil, fmt.Errorf("SQLite has no file system")
	}
	size := unsafe.Sizeof(sqlite.Tsqlite3_vfs{})
	mine := libc.Xmalloc(tls, libc.Tsize_t(size))
	name, err := libc.CString("switched")
	if err != nil {
		return nil, err
	}
	v := at[sqlite.Tsqlite3_vfs](mine)
	*v = *at[sqlite.Tsqlite3_vfs](real)
	v.FpNext, v.FzName = 0, name
	v.FxOpen, v.FxDelete = d.open(real), d.delete(real)
	if rc := sqlite.Xsqlite3_vfs_register(tls, mine, 1); rc != 0 {
		return nil, fmt.Errorf("register the file system: %d", rc)
	}
	return d, nil
})

// at is the C value at an address.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// pointer is a Go function as C knows it; call is the other way round.
func pointer[F any](d *disk, f F) uintptr {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept = append(d.kept, f)
	return *(*uintptr)(unsafe.Pointer(&struct{ f F }{f}))
}

func call[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&struct{ p uintptr }{p})) }

type (
	opens   = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	deletes = func(tls *libc.TLS, vfs, name uintptr, syncDir int32) int32
	writes  = func(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32
	sizes   = func(tls *libc.TLS, file uintptr, size int64) int32
	syncs   = func(tls *libc.TLS, file uintptr, flags int32) int32
	maps    = func(tls *libc.TLS, file uintptr, page, size, extend int32, out uintptr) int32
)

// asks is what the switch says to an operation.
func (d *disk) asks(op string) int32 {
	if f := d.fault.Load(); f != nil {
		return (*f)(op)
	}
	return 0
}

// goes makes operations go wrong as f says, until the test ends.
func (d *disk) goes(t testing.TB, f func(op string) int32) {
	d.fault.Store(&f)
	t.Cleanup(func() { d.fault.Store(nil) })
}

func (d *disk) open(real uintptr) uintptr {
	r := call[opens](at[sqlite.Tsqlite3_vfs](real).FxOpen)
	methods := d.methods()
	return pointer(d, opens(func(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
		if rc := d.asks("open"); rc != 0 {
			at[sqlite.Tsqlite3_file](file).FpMethods = 0
			return rc
		}
		rc := r(tls, real, name, file, flags, out)
		if f := at[sqlite.Tsqlite3_file](file); f.FpMethods != 0 {
			f.FpMethods = methods(f.FpMethods)
		}
		return rc
	}))
}

func (d *disk) delete(real uintptr) uintptr {
	r := call[deletes](at[sqlite.Tsqlite3_vfs](real).FxDelete)
	return pointer(d, deletes(func(tls *libc.TLS, _, name uintptr, syncDir int32) int32 {
		if rc := d.asks("delete"); rc != 0 {
			return rc
		}
		return r(tls, real, name, syncDir)
	}))
}

// methods is a function that gives a file's methods the switch, each set of them once.
func (d *disk) methods() func(uintptr) uintptr {
	var mu sync.Mutex
	made := map[uintptr]uintptr{}
	return func(real uintptr) uintptr {
		mu.Lock()
		defer mu.Unlock()
		if made[real] == 0 {
			tls := libc.NewTLS()
			defer tls.Close()
			made[real] = libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite.Tsqlite3_io_methods{})))
			*at[sqlite.Tsqlite3_io_methods](made[real]) = d.switched(*at[sqlite.Tsqlite3_io_methods](real))
		}
		return made[real]
	}
}

func (d *disk) switched(m sqlite.Tsqlite3_io_methods) sqlite.Tsqlite3_io_methods {
	write, truncate := call[writes](m.FxWrite), call[sizes](m.FxTruncate)
	flush, share := call[syncs](m.FxSync), call[maps](m.FxShmMap)
	m.FxWrite = pointer(d, writes(func(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
		if rc := d.asks("write"); rc != 0 {
			write(tls, file, data, n/2, offset) // a torn one
			return rc
		}
		return write(tls, file, data, n, offset)
	}))
	m.FxTruncate = pointer(d, sizes(func(tls *libc.TLS, file uintptr, size int64) int32 {
		if rc := d.asks("truncate"); rc != 0 {
			return rc
		}
		return truncate(tls, file, size)
	}))
	m.FxSync = pointer(d, syncs(func(tls *libc.TLS, file uintptr, flags int32) int32 {
		if rc := d.asks("sync"); rc != 0 {
			return rc
		}
		return flush(tls, file, flags)
	}))
	m.FxShmMap = pointer(d, maps(func(tls *libc.TLS, file uintptr, page, size, extend int32, out uintptr) int32 {
		if rc := d.asks("map"); rc != 0 {
			return rc
		}
		return share(tls, file, page, size, extend, out)
	}))
	return m
}
