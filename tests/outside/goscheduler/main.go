// A scheduler that takes one pod at a time, changed as KEP-140 asks: functionProvidedByUs is the only addition.
// It needs net/http alone; a program with client-go takes its transport from rest.TransportFor(config).
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
)

const pods = "/api/v1/namespaces/default/pods"

type object struct {
	Metadata struct{ Name string }
	Spec     struct{ NodeName string }
	Status   struct{ Allocatable map[string]string }
}

type scheduler struct {
	server, token string
	client        *http.Client
}

// functionProvidedByUs waits until the scheduler may try the pod.
func (s *scheduler) functionProvidedByUs(pod string) {
	for s.send("POST", "/scenario/next-pod?pod="+url.QueryEscape("default/"+pod), nil, nil) == http.StatusAccepted {
	}
}

func (s *scheduler) run() {
	for {
		for _, pod := range s.list(pods) {
			if pod.Spec.NodeName == "" {
				s.scheduleOne(pod.Metadata.Name)
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (s *scheduler) scheduleOne(pod string) {
	s.functionProvidedByUs(pod)
	used := map[string]int{}
	for _, other := range s.list(pods) {
		used[other.Spec.NodeName]++
	}
	for _, node := range s.list("/api/v1/nodes") {
		room, _ := strconv.Atoi(node.Status.Allocatable["pods"])
		if used[node.Metadata.Name] < room {
			target := map[string]any{"kind": "Node", "name": node.Metadata.Name}
			body := map[string]any{"metadata": map[string]any{"name": pod}, "target": target}
			s.send("POST", pods+"/"+pod+"/binding", body, nil)
			return
		}
	}
}

func (s *scheduler) list(path string) []object {
	var list struct{ Items []object }
	s.send("GET", path, nil, &list)
	return list.Items
}

func (s *scheduler) send(method, path string, body, answer any) int {
	data, _ := json.Marshal(body)
	request, _ := http.NewRequest(method, s.server+path, bytes.NewReader(data))
	request.Header.Set("Authorization", "Bearer "+s.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(request)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	if response.StatusCode >= 400 {
		fmt.Fprintln(os.Stderr, string(text))
	} else if answer != nil {
		json.Unmarshal(text, answer)
	}
	return response.StatusCode
}

func main() {
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server    string
				Authority []byte `json:"certificate-authority-data"`
			}
		}
		Users []struct{ User struct{ Token string } }
	}
	text, err := os.ReadFile(os.Getenv("KUBECONFIG"))
	if err == nil {
		err = json.Unmarshal(text, &config)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(config.Clusters[0].Cluster.Authority)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	(&scheduler{config.Clusters[0].Cluster.Server, config.Users[0].User.Token, &http.Client{Transport: transport}}).run()
}
