package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// enterCapabilities are held, inside a namespace, from the start of a pod's process to its own program.
var enterCapabilities = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT}

// shared are the folders of this machine that stand for those of an image.
var shared = []string{"usr", "lib", "lib32", "lib64", "libx32", "bin", "sbin", "etc", "opt", "nix", "dev", "proc", "sys"}

// entry says what a process has to make of itself before it is a pod.
type entry struct {
	Root, Image, Folder, Hostname string
	Words, Environment            []string
	Mounts                        []entryMount
	ReadOnly, NoNewPrivileges     bool
}

type entryMount struct {
	From, To string
	ReadOnly bool
}

// enterPod makes the pod's file system, gives up all rights and becomes the pod's program.
func enterPod() {
	// Rights are those of a thread.
	runtime.LockOSThread()
	text, err := os.ReadFile(os.Args[1])
	must("cannot read the entry", err)
	var pod entry
	must("cannot read the entry", json.Unmarshal(text, &pod))
	must("cannot name the host", unix.Sethostname([]byte(pod.Hostname)))
	must("cannot cut the mounts off", unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	must("cannot make a root", os.MkdirAll(pod.Root, 0o755))
	must("cannot mount a root", unix.Mount("tmpfs", pod.Root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"))
	for _, name := range shared {
		share(pod.Root, name)
	}
	bind(pod.Root, entryMount{pod.Image, imageFolder, true})
	for _, mount := range pod.Mounts {
		bind(pod.Root, mount)
	}
	if pod.ReadOnly {
		must("cannot make the root read-only", unix.Mount("", pod.Root, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, ""))
	}
	must("cannot enter the root", unix.Chroot(pod.Root))
	must("cannot enter its folder", os.Chdir(filepath.Join("/", pod.Folder)))
	must("cannot give up rights", unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
	if pod.NoNewPrivileges {
		must("cannot give up rights", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	}
	must("cannot die with the node", unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0))
	os.Clearenv()
	for _, variable := range pod.Environment {
		for place := range variable {
			if variable[place] == '=' {
				os.Setenv(variable[:place], variable[place+1:])
				break
			}
		}
	}
	program, err := exec.LookPath(pod.Words[0])
	must("cannot find the program", err)
	must("cannot run "+program, unix.Exec(program, pod.Words, pod.Environment))
}

// share makes a folder of the machine one of the pod. What is a link there is one here.
func share(root, name string) {
	from, to := filepath.Join("/", name), filepath.Join(root, name)
	found, err := os.Lstat(from)
	if err != nil {
		return
	}
	if found.Mode()&os.ModeSymlink != 0 {
		link, err := os.Readlink(from)
		must("cannot read "+from, err)
		must("cannot link "+to, os.Symlink(link, to))
		return
	}
	must("cannot make "+to, os.Mkdir(to, 0o755))
	must("cannot bind "+from, unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""))
}

func bind(root string, mount entryMount) {
	to := filepath.Join(root, mount.To)
	must("cannot make "+mount.To, os.MkdirAll(to, 0o755))
	must("cannot mount "+mount.To, unix.Mount(mount.From, to, "", unix.MS_BIND|unix.MS_REC, ""))
	if !mount.ReadOnly {
		return
	}
	// In a user namespace a mount keeps what restricts it, and a change must say so.
	var system unix.Statfs_t
	must("cannot look at "+mount.To, unix.Statfs(to, &system))
	flags := uintptr(system.Flags) & (unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC | unix.MS_NOATIME | unix.MS_NODIRATIME)
	must("cannot protect "+mount.To, unix.Mount("", to, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|flags, ""))
}
