package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/kubernetes/pkg/fieldpath"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// mountTries is how often a second apart a pod's volumes are tried: what they hold may come after the pod.
const mountTries = 30

// imageFolder is where a pod finds the programs of its "image".
const imageFolder = "/image"

// process is one pod, as a process.
type process struct {
	kubelet *kubelet
	pod     *corev1.Pod
	folder  string
	started metav1.Time

	lock   sync.Mutex
	pid    int
	ending bool
	over   bool
}

func newProcess(k *kubelet, pod *corev1.Pod) *process {
	return &process{kubelet: k, pod: pod, folder: filepath.Join(k.folder, "pods", pod.Namespace, pod.Name)}
}

// run starts the pod, waits for its end, and tells the API server of both.
func (p *process) run() {
	// The process is to die with this thread, and this thread with us.
	runtime.LockOSThread()
	command, user, err := p.prepare()
	if err != nil {
		p.finish(corev1.ContainerStateTerminated{ExitCode: 128, Reason: "StartError", Message: err.Error()})
		return
	}
	p.lock.Lock()
	if p.ending {
		p.lock.Unlock()
		p.finish(corev1.ContainerStateTerminated{ExitCode: 137, Reason: "Error"})
		return
	}
	if err = command.Start(); err == nil {
		p.pid = command.Process.Pid
	}
	p.lock.Unlock()
	if err != nil {
		p.finish(corev1.ContainerStateTerminated{ExitCode: 128, Reason: "StartError",
			Message: fmt.Sprintf("%v (pods run in user namespaces, as user %d)", err, user)})
		return
	}
	p.started = metav1.Now()
	_ = os.WriteFile(filepath.Join(p.folder, "pid"), []byte(strconv.Itoa(p.pid)), 0o644)
	p.report(corev1.PodRunning, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: p.started}})
	_ = command.Wait()
	p.finish(ended(command.ProcessState))
}

// prepare writes the volumes and makes the command; the number is the user that it runs as.
func (p *process) prepare() (*exec.Cmd, int, error) {
	if len(p.pod.Spec.Containers) != 1 || len(p.pod.Spec.InitContainers) > 0 {
		return nil, 0, fmt.Errorf("this node runs pods of one container")
	}
	var err error
	for range mountTries {
		if err = p.writeVolumes(); err == nil {
			break
		}
		time.Sleep(time.Second)
	}
	if err != nil {
		return nil, 0, err
	}
	container := p.pod.Spec.Containers[0]
	entry, err := p.entry(container)
	if err != nil {
		return nil, 0, err
	}
	path := filepath.Join(p.folder, "entry.json")
	text, err := json.Marshal(entry)
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return nil, 0, err
	}
	log, err := os.Create(p.kubelet.logPath(p.pod.Namespace, p.pod.Name, container.Name))
	if err != nil {
		return nil, 0, err
	}
	user, group := identity(p.pod.Spec.SecurityContext, container.SecurityContext)
	command := exec.Command("/proc/self/exe", "pod", path)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{
		Setpgid: true, Pdeathsig: syscall.SIGKILL,
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: user, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: group, HostID: os.Getgid(), Size: 1}},
		AmbientCaps: enterCapabilities,
	}
	return command, user, nil
}

// entry is what the process needs to know to become the pod.
func (p *process) entry(container corev1.Container) (entry, error) {
	security := container.SecurityContext
	user, _ := identity(p.pod.Spec.SecurityContext, security)
	if user == 0 && mustNotBeRoot(p.pod.Spec.SecurityContext, security) {
		return entry{}, fmt.Errorf("container has runAsNonRoot and image will run as root")
	}
	made := entry{Hostname: p.pod.Spec.Hostname, Root: filepath.Join(p.folder, "root"), Image: p.kubelet.image, Folder: container.WorkingDir}
	if made.Hostname == "" {
		made.Hostname = p.pod.Name
	}
	if security != nil {
		made.ReadOnly = security.ReadOnlyRootFilesystem != nil && *security.ReadOnlyRootFilesystem
		made.NoNewPrivileges = security.AllowPrivilegeEscalation != nil && !*security.AllowPrivilegeEscalation
	}
	values := map[string]string{
		"PATH": imageFolder + ":/usr/bin:/bin", "HOSTNAME": made.Hostname,
		"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": p.kubelet.serverPort,
	}
	mapping := expansion.MappingFuncFor(values)
	for _, variable := range container.Env {
		value := expansion.Expand(variable.Value, mapping)
		if from := variable.ValueFrom; from != nil {
			if from.FieldRef == nil {
				return entry{}, fmt.Errorf("this node takes the variable %s from fields only", variable.Name)
			}
			text, err := fieldpath.ExtractFieldPathAsString(p.pod, from.FieldRef.FieldPath)
			if err != nil {
				return entry{}, err
			}
			value = text
		}
		values[variable.Name] = value
	}
	for name, value := range values {
		made.Environment = append(made.Environment, name+"="+value)
	}
	for _, word := range append(append([]string{}, container.Command...), container.Args...) {
		made.Words = append(made.Words, expansion.Expand(word, mapping))
	}
	if len(made.Words) == 0 {
		return entry{}, fmt.Errorf("this node knows no image, so a pod needs a command")
	}
	for _, mount := range container.VolumeMounts {
		from := filepath.Join(p.folder, "volumes", mount.Name)
		made.Mounts = append(made.Mounts, entryMount{From: from, To: mount.MountPath, ReadOnly: mount.ReadOnly})
	}
	return made, nil
}

// end asks the process to go, and makes it go after so many seconds.
func (p *process) end(grace *int64) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.over {
		go p.kubelet.forget(p.pod)
		return
	}
	if p.ending {
		return
	}
	p.ending = true
	if p.pid == 0 {
		return
	}
	_ = syscall.Kill(-p.pid, syscall.SIGTERM)
	seconds := int64(30)
	if grace != nil {
		seconds = *grace
	}
	time.AfterFunc(time.Duration(seconds)*time.Second, func() {
		p.lock.Lock()
		defer p.lock.Unlock()
		if !p.over {
			_ = syscall.Kill(-p.pid, syscall.SIGKILL)
		}
	})
}

// finish tells how it ended, and takes the pod away where that was asked for.
func (p *process) finish(state corev1.ContainerStateTerminated) {
	state.StartedAt, state.FinishedAt = p.started, metav1.Now()
	p.lock.Lock()
	p.over = true
	ending := p.ending
	p.lock.Unlock()
	phase := corev1.PodFailed
	if state.ExitCode == 0 {
		phase = corev1.PodSucceeded
	}
	p.report(phase, corev1.ContainerState{Terminated: &state})
	if ending {
		p.kubelet.forget(p.pod)
	}
}

func (p *process) report(phase corev1.PodPhase, state corev1.ContainerState) {
	isReady := phase == corev1.PodRunning
	truth := map[bool]corev1.ConditionStatus{true: corev1.ConditionTrue, false: corev1.ConditionFalse}
	condition := func(kind corev1.PodConditionType, holds bool) corev1.PodCondition {
		return corev1.PodCondition{Type: kind, Status: truth[holds], LastTransitionTime: metav1.Now()}
	}
	pods := p.kubelet.client.CoreV1().Pods(p.pod.Namespace)
	// A pod that has gone meanwhile needs no status.
	_ = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		pod, err := pods.Get(context.Background(), p.pod.Name, metav1.GetOptions{})
		if err != nil || pod.UID != p.pod.UID {
			return err
		}
		container := pod.Spec.Containers[0]
		pod.Status.Phase = phase
		pod.Status.HostIP, pod.Status.PodIP = "127.0.0.1", "127.0.0.1"
		pod.Status.PodIPs = []corev1.PodIP{{IP: "127.0.0.1"}}
		pod.Status.Conditions = []corev1.PodCondition{
			condition(corev1.PodScheduled, true), condition(corev1.PodInitialized, true),
			condition(corev1.ContainersReady, isReady), condition(corev1.PodReady, isReady),
		}
		if !p.started.IsZero() {
			pod.Status.StartTime = &p.started
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: container.Name, Image: container.Image, Ready: isReady, Started: &isReady, State: state,
		}}
		_, err = pods.UpdateStatus(context.Background(), pod, metav1.UpdateOptions{})
		return err
	})
}

func ended(state *os.ProcessState) corev1.ContainerStateTerminated {
	status := state.Sys().(syscall.WaitStatus)
	switch {
	case status.Signaled():
		signal := int32(status.Signal())
		return corev1.ContainerStateTerminated{ExitCode: 128 + signal, Signal: signal, Reason: "Error"}
	case status.ExitStatus() == 0:
		return corev1.ContainerStateTerminated{Reason: "Completed"}
	default:
		return corev1.ContainerStateTerminated{ExitCode: int32(status.ExitStatus()), Reason: "Error"}
	}
}

// identity is user and group; the container's word goes before the pod's.
func identity(pod *corev1.PodSecurityContext, container *corev1.SecurityContext) (int, int) {
	user, group := int64(0), int64(0)
	if pod != nil {
		user, group = either(pod.RunAsUser, user), either(pod.RunAsGroup, group)
	}
	if container != nil {
		user, group = either(container.RunAsUser, user), either(container.RunAsGroup, group)
	}
	return int(user), int(group)
}

func mustNotBeRoot(pod *corev1.PodSecurityContext, container *corev1.SecurityContext) bool {
	if container != nil && container.RunAsNonRoot != nil {
		return *container.RunAsNonRoot
	}
	return pod != nil && pod.RunAsNonRoot != nil && *pod.RunAsNonRoot
}

func either(value *int64, other int64) int64 {
	if value != nil {
		return *value
	}
	return other
}
