// goclient does what an ordinary controller does with client-go: informers, leader election, server-side apply.
// It prints one line for each thing that worked and exits with 1 on the first that did not.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

const namespace = "default"

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the kubeconfig that seatrial serve wrote")
	contentType := flag.String("content-type", "application/json", "what bodies and answers are encoded in")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	check("read the kubeconfig", err)
	config.ContentType = *contentType
	config.AcceptContentTypes = *contentType
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := kubernetes.NewForConfigOrDie(config)
	followConfigMaps(ctx, client)
	electLeader(ctx, client)
	applyConfigMap(ctx, client)
	readOtherwise(ctx, config)
}

func check(what string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(1)
	}
}

func until(ctx context.Context, what string, condition func() bool) {
	check(what, wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 20*time.Second, true,
		func(context.Context) (bool, error) { return condition(), nil }))
	fmt.Println(what)
}

// followConfigMaps keeps an informer's cache equal to what is written.
func followConfigMaps(ctx context.Context, client kubernetes.Interface) {
	maps := client.CoreV1().ConfigMaps(namespace)
	_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "early"}}, metav1.CreateOptions{})
	check("create a config map", err)
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().ConfigMaps()
	lister := informer.Lister().ConfigMaps(namespace)
	stop := make(chan struct{})
	defer close(stop)
	synced := informer.Informer().HasSynced
	factory.Start(stop)
	if !cache.WaitForCacheSync(ctx.Done(), synced) {
		check("sync the informer", ctx.Err())
	}
	until(ctx, "informer has what was there", func() bool { _, err := lister.Get("early"); return err == nil })
	late := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "late"}, Data: map[string]string{"step": "1"}}
	late, err = maps.Create(ctx, late, metav1.CreateOptions{})
	check("create another", err)
	until(ctx, "informer sees a creation", func() bool { _, err := lister.Get("late"); return err == nil })
	late.Data["step"] = "2"
	_, err = maps.Update(ctx, late, metav1.UpdateOptions{})
	check("update it", err)
	until(ctx, "informer sees an update", func() bool {
		found, err := lister.Get("late")
		return err == nil && found.Data["step"] == "2"
	})
	_, err = maps.Update(ctx, late, metav1.UpdateOptions{})
	if !errors.IsConflict(err) {
		check("a stale update is a conflict", fmt.Errorf("got %v", err))
	}
	check("delete it", maps.Delete(ctx, "late", metav1.DeleteOptions{}))
	until(ctx, "informer sees a deletion", func() bool { _, err := lister.Get("late"); return errors.IsNotFound(err) })
}

// electLeader wins an election and gives the office up again.
func electLeader(parent context.Context, client kubernetes.Interface) {
	ctx, resign := context.WithCancel(parent)
	defer resign()
	led := false
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Name: "captain", Namespace: namespace},
		Client:     client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: "goclient"},
	}
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 200 * time.Millisecond,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { led = true; time.Sleep(time.Second); resign() },
			OnStoppedLeading: func() {},
		},
	})
	if !led {
		check("lead", fmt.Errorf("never did"))
	}
	fmt.Println("leader election")
}

// applyConfigMap has two managers share an object, and conflict over a field.
func applyConfigMap(ctx context.Context, client kubernetes.Interface) {
	maps := client.CoreV1().ConfigMaps(namespace)
	shared := func(key, value string) *applycore.ConfigMapApplyConfiguration {
		return applycore.ConfigMap("shared", namespace).WithData(map[string]string{key: value})
	}
	_, err := maps.Apply(ctx, shared("a", "1"), metav1.ApplyOptions{FieldManager: "one"})
	check("apply", err)
	found, err := maps.Apply(ctx, shared("b", "2"), metav1.ApplyOptions{FieldManager: "two"})
	check("apply by another", err)
	if len(found.Data) != 2 {
		check("both fields are there", fmt.Errorf("got %v", found.Data))
	}
	_, err = maps.Apply(ctx, shared("a", "3"), metav1.ApplyOptions{FieldManager: "two"})
	if !errors.IsConflict(err) {
		check("an owned field is a conflict", fmt.Errorf("got %v", err))
	}
	found, err = maps.Apply(ctx, shared("a", "3"), metav1.ApplyOptions{FieldManager: "two", Force: true})
	check("apply by force", err)
	if _, there := found.Data["b"]; there || found.Data["a"] != "3" {
		check("what is no longer applied is gone", fmt.Errorf("got %v", found.Data))
	}
	fmt.Println("server-side apply")
}

// readOtherwise reads through the metadata and the dynamic client.
func readOtherwise(ctx context.Context, config *rest.Config) {
	resource := corev1.SchemeGroupVersion.WithResource("configmaps")
	partial, err := metadata.NewForConfigOrDie(metadata.ConfigFor(config)).Resource(resource).Namespace(namespace).
		List(ctx, metav1.ListOptions{})
	check("list metadata", err)
	plain := rest.CopyConfig(config)
	plain.ContentType, plain.AcceptContentTypes = "application/json", "application/json"
	whole, err := dynamic.NewForConfigOrDie(plain).Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	check("list dynamically", err)
	if len(partial.Items) == 0 || len(whole.Items) != 1 {
		check("both find objects", fmt.Errorf("%d and %d", len(partial.Items), len(whole.Items)))
	}
	patch := []byte(`{"metadata":{"labels":{"seen":"yes"}}}`)
	_, err = kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(namespace).
		Patch(ctx, "shared", types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	check("patch", err)
	fmt.Println("metadata and dynamic clients")
}
