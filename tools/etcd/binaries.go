//go:build tools

// Package etcd pins the etcd server that the real kube-apiserver of the outside tests keeps its objects in.
package etcd

import _ "go.etcd.io/etcd/server/v3/etcdmain"
