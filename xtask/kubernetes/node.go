package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// kubelet stands in for the kubelets of all nodes: it runs the command of each pod's one container as a process in
// namespaces of its own. It pulls no image, limits neither CPU nor memory and probes nothing.
type kubelet struct {
	client kubernetes.Interface
	folder string
	image  string
	// Where pods find the API server: on loopback, as no proxy makes the service's own address reachable.
	serverPort string
	nodes      map[string]bool
	lock       sync.Mutex
	processes  map[types.UID]*process
}

// node registers nodes and runs what is scheduled on them.
func node() {
	folder := flag.String("folder", "", "of the cluster")
	image := flag.String("image", "", "folder whose programs pods have on their PATH")
	nodes := flag.Int("nodes", 1, "how many")
	port := flag.Int("port", 0, "of the kubelet")
	server := flag.String("server", "", "port of the API server")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(*folder, "admin.config"))
	must("cannot read the kubeconfig", err)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	must("cannot make a client", err)
	k := &kubelet{
		client: client, folder: *folder, image: *image, serverPort: *server,
		nodes: map[string]bool{}, processes: map[types.UID]*process{},
	}
	for number := range *nodes {
		name := fmt.Sprintf("node-%d", number)
		k.nodes[name] = true
		must("cannot register "+name, k.register(name, int32(*port)))
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	_, err = factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(pod any) { k.see(pod.(*corev1.Pod)) },
		UpdateFunc: func(_, pod any) { k.see(pod.(*corev1.Pod)) },
	})
	must("cannot watch pods", err)
	factory.Start(context.Background().Done())
	must("cannot serve logs", k.serveLogs(*port))
}

func (k *kubelet) register(name string, port int32) error {
	room := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("16"),
		corev1.ResourceMemory: resource.MustParse("16Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
	created, err := k.client.CoreV1().Nodes().Create(context.Background(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	created.Status = corev1.NodeStatus{
		Capacity: room, Allocatable: room,
		Conditions:      []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now()}},
		Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}},
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: port}},
	}
	_, err = k.client.CoreV1().Nodes().UpdateStatus(context.Background(), created, metav1.UpdateOptions{})
	return err
}

// see starts a pod that is new on one of the nodes, and ends one that is to be deleted.
func (k *kubelet) see(pod *corev1.Pod) {
	if !k.nodes[pod.Spec.NodeName] {
		return
	}
	k.lock.Lock()
	defer k.lock.Unlock()
	running := k.processes[pod.UID]
	isOver := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	switch {
	case pod.DeletionTimestamp != nil && running == nil:
		go k.forget(pod)
	case pod.DeletionTimestamp != nil:
		running.end(pod.DeletionGracePeriodSeconds)
	case running == nil && !isOver:
		running = newProcess(k, pod)
		k.processes[pod.UID] = running
		go running.run()
	}
}

// forget takes the pod's object away, which only a kubelet may do once a pod has been on a node.
func (k *kubelet) forget(pod *corev1.Pod) {
	now := int64(0)
	// Whoever was faster has done the same.
	_ = k.client.CoreV1().Pods(pod.Namespace).Delete(context.Background(), pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	})
}

// logPath is where a container's output goes. It stays there after the pod, for whoever checks what pods said.
func (k *kubelet) logPath(namespace, pod, container string) string {
	return filepath.Join(k.folder, "pods", namespace, pod, container+".log")
}

// serveLogs serves /containerLogs/NAMESPACE/POD/CONTAINER to the API server, and to nobody else.
func (k *kubelet) serveLogs(port int) error {
	authorities := x509.NewCertPool()
	pem, err := os.ReadFile(filepath.Join(k.folder, "ca.crt"))
	if err != nil {
		return err
	}
	authorities.AppendCertsFromPEM(pem)
	server := http.Server{
		Addr:      fmt.Sprintf("127.0.0.1:%d", port),
		TLSConfig: &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authorities},
		Handler: http.HandlerFunc(func(to http.ResponseWriter, request *http.Request) {
			words := strings.Split(strings.TrimPrefix(request.URL.Path, "/containerLogs/"), "/")
			if len(words) != 3 || request.URL.Query().Get("follow") == "true" {
				http.Error(to, "this node gives the whole log of a container, and nothing else", http.StatusNotFound)
				return
			}
			text, err := os.ReadFile(k.logPath(words[0], words[1], words[2]))
			if err != nil {
				http.Error(to, "the container has not been started", http.StatusBadRequest)
				return
			}
			to.Header().Set("Content-Type", "text/plain")
			_, _ = to.Write(text)
		}),
	}
	return server.ListenAndServeTLS(filepath.Join(k.folder, "kubelet.crt"), filepath.Join(k.folder, "kubelet.key"))
}
