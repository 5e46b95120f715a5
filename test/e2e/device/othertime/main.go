//go:build linux && amd64

// Command othertime runs a program by another clock:
//
//	othertime -87600h PROGRAM ARGS...
//
// It takes the kernel's fast way to tell the time from the program (the vDSO),
// so that it has to ask by system call, and changes the answers (ptrace(2)).
// The clock of the host stays as it is.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: othertime DURATION PROGRAM ARGS...")
		os.Exit(2)
	}
	offset, err := time.ParseDuration(os.Args[1])
	if err == nil {
		err = run(offset, os.Args[2:])
	}
	fmt.Fprintln(os.Stderr, "othertime:", err)
	os.Exit(125)
}

// run ends this process as the program ends; it returns only with an error.
func run(offset time.Duration, args []string) error {
	runtime.LockOSThread() // ptrace is between threads
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	main := cmd.Process.Pid
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(main, &status, 0, nil); err != nil { // stopped after execve
		return err
	}
	if err := hideVDSO(main); err != nil {
		return err
	}
	const options = syscall.PTRACE_O_TRACESYSGOOD | syscall.PTRACE_O_TRACECLONE | 0x100000 // EXITKILL
	if err := syscall.PtraceSetOptions(main, options); err != nil {
		return err
	}
	return trace(main, offset)
}

// trace lets the threads run from system call to system call.
func trace(main int, offset time.Duration) error {
	inside := map[int]bool{} // threads that are in a system call
	thread, signal := main, 0
	for {
		if err := syscall.PtraceSyscall(thread, signal); err != nil && err != syscall.ESRCH {
			return err
		}
		var status syscall.WaitStatus
		var err error
		if thread, err = syscall.Wait4(-1, &status, syscall.WALL, nil); err != nil {
			return err
		}
		signal = 0
		switch {
		case status.Exited() && thread == main:
			os.Exit(status.ExitStatus())
		case status.Signaled() && thread == main:
			os.Exit(128 + int(status.Signal()))
		case !status.Stopped():
		case status.StopSignal() == syscall.SIGTRAP|0x80:
			if inside[thread] = !inside[thread]; !inside[thread] {
				if err := shift(thread, offset); err != nil {
					return err
				}
			}
		case status.StopSignal() != syscall.SIGTRAP && status.StopSignal() != syscall.SIGSTOP:
			signal = int(status.StopSignal())
		}
	}
}

// shift changes the answer of clock_gettime(CLOCK_REALTIME).
func shift(thread int, offset time.Duration) error {
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(thread, &regs); err != nil {
		return ignoreGone(err)
	}
	if regs.Orig_rax != syscall.SYS_CLOCK_GETTIME || regs.Rdi != 0 || regs.Rax != 0 {
		return nil
	}
	seconds := make([]byte, 8)
	if _, err := syscall.PtracePeekData(thread, uintptr(regs.Rsi), seconds); err != nil {
		return ignoreGone(err)
	}
	now := int64(binary.LittleEndian.Uint64(seconds)) + int64(offset/time.Second)
	binary.LittleEndian.PutUint64(seconds, uint64(now))
	_, err := syscall.PtracePokeData(thread, uintptr(regs.Rsi), seconds)
	return ignoreGone(err)
}

func ignoreGone(err error) error {
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// hideVDSO takes AT_SYSINFO_EHDR out of the auxiliary vector, which is on the
// stack after the arguments and the environment (getauxval(3)).
func hideVDSO(pid int) error {
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(pid, &regs); err != nil {
		return err
	}
	word := make([]byte, 8)
	at := uintptr(regs.Rsp)
	next := func() (uint64, error) {
		_, err := syscall.PtracePeekData(pid, at, word)
		at += 8
		return binary.LittleEndian.Uint64(word), err
	}
	argc, err := next()
	if err != nil {
		return err
	}
	at += uintptr(argc+1) * 8
	for v := uint64(1); v != 0; {
		if v, err = next(); err != nil {
			return err
		}
	}
	const ignore, end, sysinfo = 1, 0, 33
	for {
		kind, err := next()
		switch {
		case err != nil:
			return err
		case kind == end:
			return nil
		case kind == sysinfo:
			binary.LittleEndian.PutUint64(word, ignore)
			_, err := syscall.PtracePokeData(pid, at-8, word)
			return err
		}
		at += 8
	}
}
