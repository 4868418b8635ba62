package main

import (
	"context"
	"crypto/x509/pkix"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// upMax is how long a cluster may take to be ready.
const upMax = 120 * time.Second

// controllersUsed are those that a Job, its pods and what belongs to them need.
const controllersUsed = "job-controller,garbage-collector-controller,namespace-controller,ttl-after-finished-controller," +
	"pod-garbage-collector-controller,serviceaccount-controller,root-ca-certificate-publisher-controller"

// cluster is a running one, all of it in one folder.
type cluster struct {
	folder   string
	children []*exec.Cmd
	ended    chan string
}

// up starts a cluster on loopback, prints `ready FOLDER URL` and ends all of it when standard input does.
// URL is a server that pods can load.
func up() {
	nodes := flag.Int("nodes", 4, "how many nodes")
	image := flag.String("image", "", "folder whose programs pods have on their PATH")
	flag.Parse()
	// Children are to die with this thread, which lives as long as the process.
	runtime.LockOSThread()
	folder, err := os.MkdirTemp("", "hakaru-kubernetes-")
	must("cannot make a folder", err)
	c := &cluster{folder: folder, ended: make(chan string, 8)}
	over := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(over)
	}()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	url := startTarget()
	err = c.start(*nodes, *image, over)
	code := 0
	if err == nil {
		fmt.Printf("ready %s %s\n", folder, url)
		select {
		case <-over:
		case <-signals:
		case what := <-c.ended:
			err = fmt.Errorf("%s", what)
		}
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "kubernetes: %v\n", err)
		code = 1
	}
	c.end()
	os.Exit(code)
}

func (c *cluster) path(name string) string { return filepath.Join(c.folder, name) }

// start brings up all parts, and returns when the nodes are there.
func (c *cluster) start(nodes int, image string, over <-chan struct{}) error {
	etcd, peer, server, kubelet := freePort(), freePort(), freePort(), freePort()
	must("cannot make a folder", os.Mkdir(c.path("log"), 0o755))
	ca := newAuthority(c.path("ca.crt"))
	ca.issue(c.path("server"), pkix.Name{CommonName: "kube-apiserver"})
	ca.issue(c.path("kubelet"), pkix.Name{CommonName: "kubelet"})
	newKey(c.path("accounts.key"))
	must("cannot write the users", os.WriteFile(c.path("users.csv"),
		[]byte("admin-token,admin,admin,system:masters\nuser-token,user,user\n"), 0o600))
	address := fmt.Sprintf("https://127.0.0.1:%d", server)
	for _, user := range []string{"admin", "user"} {
		c.writeConfig(user, address)
	}
	admin := c.path("admin.config")
	etcdURL, peerURL := fmt.Sprintf("http://127.0.0.1:%d", etcd), fmt.Sprintf("http://127.0.0.1:%d", peer)
	c.spawn("etcd", "--data-dir", c.path("etcd"), "--listen-client-urls", etcdURL, "--advertise-client-urls", etcdURL,
		"--listen-peer-urls", peerURL, "--initial-advertise-peer-urls", peerURL, "--initial-cluster", "default="+peerURL,
		"--unsafe-no-fsync", "--log-level", "warn")
	c.spawn("apiserver", "--etcd-servers", etcdURL, "--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1",
		"--secure-port", fmt.Sprint(server), "--tls-cert-file", c.path("server.crt"), "--tls-private-key-file", c.path("server.key"),
		"--client-ca-file", c.path("ca.crt"), "--token-auth-file", c.path("users.csv"), "--authorization-mode", "RBAC",
		"--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file", c.path("accounts.key"),
		"--service-account-signing-key-file", c.path("accounts.key"), "--service-cluster-ip-range", "10.96.0.0/24",
		"--endpoint-reconciler-type", "none", "--cert-dir", c.folder,
		// No controller looks after nodes, so nobody would take their first taint away.
		"--disable-admission-plugins", "TaintNodesByCondition",
		"--kubelet-certificate-authority", c.path("ca.crt"),
		"--kubelet-client-certificate", c.path("server.crt"), "--kubelet-client-key", c.path("server.key"))
	config, err := clientcmd.BuildConfigFromFlags("", admin)
	must("cannot read "+admin, err)
	client, err := kubernetes.NewForConfig(config)
	must("cannot make a client", err)
	ready := func() bool {
		_, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(context.Background())
		return err == nil
	}
	if err := c.wait("the API server", over, ready); err != nil {
		return err
	}
	c.spawn("controllers", "--kubeconfig", admin, "--leader-elect=false", "--secure-port", "0", "--controllers", controllersUsed,
		"--root-ca-file", c.path("ca.crt"), "--service-account-private-key-file", c.path("accounts.key"),
		"--kube-api-qps", "200", "--kube-api-burst", "400")
	c.spawn("scheduler", "--kubeconfig", admin, "--leader-elect=false", "--secure-port", "0",
		"--kube-api-qps", "200", "--kube-api-burst", "400")
	c.spawn("node", "-folder", c.folder, "-nodes", fmt.Sprint(nodes), "-image", image,
		"-port", fmt.Sprint(kubelet), "-server", fmt.Sprint(server))
	return c.wait("the nodes", over, func() bool {
		list, err := client.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{})
		if err != nil || len(list.Items) != nodes {
			return false
		}
		_, err = client.CoreV1().ServiceAccounts("default").Get(context.Background(), "default", metav1.GetOptions{})
		return err == nil
	})
}

// spawn starts a part of this program with its log in the folder; it dies with us.
func (c *cluster) spawn(part string, words ...string) {
	log, err := os.Create(c.path("log/" + part + ".log"))
	must("cannot write a log", err)
	defer log.Close()
	child := exec.Command("/proc/self/exe", append([]string{part}, words...)...)
	child.Stdout, child.Stderr = log, log
	// Ctrl-C of a terminal reaches whoever started us, who then ends us.
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	must("cannot start "+part, child.Start())
	c.children = append(c.children, child)
	go func() {
		err := child.Wait()
		c.ended <- fmt.Sprintf("%s ended (%v); its last words:\n%s", part, err, lastLines(log.Name()))
	}()
}

func lastLines(path string) string {
	text, _ := os.ReadFile(path)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-8):], "\n  ")
}

func (c *cluster) wait(what string, over <-chan struct{}, ready func() bool) error {
	for deadline := time.Now().Add(upMax); time.Now().Before(deadline); {
		select {
		case <-over:
			return fmt.Errorf("called off")
		case ended := <-c.ended:
			return fmt.Errorf("%s", ended)
		case <-time.After(50 * time.Millisecond):
		}
		if ready() {
			return nil
		}
	}
	return fmt.Errorf("%s did not come within %v", what, upMax)
}

// end kills the parts, the first of them last, and takes the folder away.
func (c *cluster) end() {
	for place := len(c.children) - 1; place >= 0; place-- {
		_ = c.children[place].Process.Kill()
		<-c.ended
	}
	must("cannot remove "+c.folder, os.RemoveAll(c.folder))
}

func (c *cluster) writeConfig(user, address string) {
	config := api.NewConfig()
	config.Clusters["local"] = &api.Cluster{Server: address, CertificateAuthority: c.path("ca.crt")}
	config.AuthInfos[user] = &api.AuthInfo{Token: user + "-token"}
	config.Contexts["local"] = &api.Context{Cluster: "local", AuthInfo: user, Namespace: "perf"}
	config.CurrentContext = "local"
	must("cannot write a kubeconfig", clientcmd.WriteToFile(*config, c.path(user+".config")))
}

func freePort() int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must("no free port", err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
