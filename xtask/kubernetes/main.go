// A Kubernetes cluster in one program, for `cargo xtask kubernetes`: the first argument says which part of it runs.
//
// etcd, the API server, the controllers, the scheduler and kubectl are the real ones. The kubelet is replaced by a small
// node (node.go), which runs the commands of pods as processes of this machine.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

const usage = "usage: kubernetes up|etcd|apiserver|controllers|scheduler|node|pod|kubectl|merge ARGUMENTS"

func main() {
	// A link of that name is what a PATH has.
	if filepath.Base(os.Args[0]) == "kubectl" {
		runKubectl()
		return
	}
	if len(os.Args) < 2 {
		fail("%s", usage)
	}
	part := os.Args[1]
	os.Args = append(os.Args[:1], os.Args[2:]...)
	switch part {
	case "up":
		up()
	case "etcd":
		etcdmain.Main(os.Args)
	case "apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "controllers":
		os.Exit(cli.Run(controllers.NewControllerManagerCommand()))
	case "scheduler":
		os.Exit(cli.Run(scheduler.NewSchedulerCommand()))
	case "kubectl":
		runKubectl()
	case "node":
		node()
	case "pod":
		enterPod()
	case "merge":
		merge()
	default:
		fail("%q is not a part of a cluster\n%s", part, usage)
	}
}

func runKubectl() {
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "kubernetes: "+format+"\n", values...)
	os.Exit(2)
}

// must ends the program where it cannot go on.
func must(what string, err error) {
	if err != nil {
		fail("%s: %v", what, err)
	}
}
