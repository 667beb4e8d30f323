// Volcano differential oracle: reads JSON cases, runs the real Volcano
// session/actions in memory, and dumps decisions as JSON.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sort"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	listerv1 "k8s.io/client-go/listers/core/v1"
	clientcache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/prometheus/client_golang/prometheus"

	vcv1beta1 "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	nodeshardv1alpha1 "volcano.sh/apis/pkg/apis/shard/v1alpha1"
	topologyv1alpha1 "volcano.sh/apis/pkg/apis/topology/v1alpha1"
	"volcano.sh/volcano/pkg/scheduler"
	"volcano.sh/volcano/pkg/scheduler/actions/allocate"
	"volcano.sh/volcano/pkg/scheduler/actions/backfill"
	"volcano.sh/volcano/pkg/scheduler/actions/enqueue"
	"volcano.sh/volcano/pkg/scheduler/actions/gangpreempt"
	"volcano.sh/volcano/pkg/scheduler/actions/gangreclaim"
	"volcano.sh/volcano/pkg/scheduler/actions/preempt"
	"volcano.sh/volcano/pkg/scheduler/actions/reclaim"
	"volcano.sh/volcano/pkg/scheduler/actions/shuffle"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/cache"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/metrics"
	"volcano.sh/volcano/pkg/scheduler/plugins/predicates"
	"volcano.sh/volcano/pkg/scheduler/util"
)

type Case struct {
	Name            string                        `json:"name"`
	Family          string                        `json:"family"`
	Seed            int64                         `json:"seed"`
	Conf            string                        `json:"conf"`
	Cycles          int                           `json:"cycles"`
	Nodes           []*v1.Node                    `json:"nodes"`
	Pods            []*v1.Pod                     `json:"pods"`
	PodGroups       []*vcv1beta1.PodGroup         `json:"podgroups"`
	Queues          []*vcv1beta1.Queue            `json:"queues"`
	PriorityClasses []*schedulingv1.PriorityClass `json:"priorityClasses"`
	ResourceQuotas  []*v1.ResourceQuota           `json:"resourceQuotas,omitempty"`
	HyperNodes      []*topologyv1alpha1.HyperNode `json:"hyperNodes,omitempty"`
	Objects
}

type Cond struct {
	Type, Status, Reason, Message string
}
type PG struct {
	Phase                      string `json:"phase"`
	Running, Succeeded, Failed int32
	Conditions                 []Cond `json:"conditions,omitempty"`
	AllocatedHyperNode         string `json:"allocatedHyperNode,omitempty"`
}
type Event struct {
	Object, Type, Reason, Message string
}
type CycleResult struct {
	Binds        map[string]string             `json:"binds"`
	Pipelined    map[string]string             `json:"pipelined"`
	Allocated    map[string]string             `json:"allocatedNotBound,omitempty"`
	Evicted      map[string]string             `json:"evicted"` // pod -> reason
	Nominated    map[string]string             `json:"nominated,omitempty"`
	PodGroups    map[string]*PG                `json:"podgroups"`
	QueueAlloc   map[string]map[string]string  `json:"queueAllocated"`
	QueueMetrics map[string]map[string]float64 `json:"queueMetrics,omitempty"`
	Annotations  map[string]map[string]string  `json:"annotations,omitempty"` // of bound pods, without times
	Events       []Event                       `json:"events,omitempty"`
	noted        map[string]map[string]string
}
type Score struct {
	Task    string             `json:"task"`
	PrePred string             `json:"prePredicateError,omitempty"`
	Unfit   map[string]string  `json:"unfit,omitempty"`
	Order   map[string]float64 `json:"nodeOrder,omitempty"`
	Batch   map[string]float64 `json:"batchNodeOrder,omitempty"`
	Total   map[string]float64 `json:"total,omitempty"`
	Idle    []string           `json:"fitsIdle,omitempty"`
}
type Probe struct {
	QueueOrder []string            `json:"queueOrder"`
	JobOrder   map[string][]string `json:"jobOrder"`
	TaskOrder  map[string][]string `json:"taskOrder"`
	Overused   map[string]bool     `json:"overused"`
	JobValid   map[string]string   `json:"jobInvalid,omitempty"`
	Starving   map[string]bool     `json:"jobStarving"`
	JobReady   map[string]bool     `json:"jobReady"`
	Priority   map[string]int32    `json:"jobPriority"`
	Scores     []Score             `json:"scores"`
}
type Result struct {
	Name   string         `json:"name"`
	Probe  *Probe         `json:"probe,omitempty"`
	Cycles []*CycleResult `json:"cycles"`
	Error  string         `json:"error,omitempty"`
}

// ---- fakes -------------------------------------------------------------
type binder struct {
	sync.Mutex
	m map[string]string
}

func (b *binder) Bind(_ kubernetes.Interface, tasks []*api.TaskInfo) map[api.TaskID]string {
	b.Lock()
	defer b.Unlock()
	for _, t := range tasks {
		b.m[t.Namespace+"/"+t.Name] = t.NodeName
	}
	return nil
}

type evictor struct {
	sync.Mutex
	m map[string]string
}

func (e *evictor) Evict(p *v1.Pod, reason string) error {
	e.Lock()
	defer e.Unlock()
	e.m[p.Namespace+"/"+p.Name] = reason
	return nil
}
func (e *evictor) get(k string) string { e.Lock(); defer e.Unlock(); return e.m[k] }
func (e *evictor) n() int              { e.Lock(); defer e.Unlock(); return len(e.m) }

type updater struct {
	sync.Mutex
	nominated map[string]string
}

func (u *updater) UpdatePodStatus(p *v1.Pod) (*v1.Pod, error) {
	u.Lock()
	defer u.Unlock()
	if p.Status.NominatedNodeName != "" {
		u.nominated[p.Namespace+"/"+p.Name] = p.Status.NominatedNodeName
	}
	return p, nil
}
func (u *updater) UpdatePodGroup(pg *api.PodGroup) (*api.PodGroup, error) { return pg, nil }
func (u *updater) UpdateQueueStatus(*api.QueueInfo) error                 { return nil }
func (u *updater) UpdateNodeShardStatus(n *nodeshardv1alpha1.NodeShard) (*nodeshardv1alpha1.NodeShard, error) {
	return n, nil
}

type recorder struct {
	sync.Mutex
	ev []Event
}

func objName(o runtime.Object) string {
	switch t := o.(type) {
	case *v1.Pod:
		return "Pod/" + t.Namespace + "/" + t.Name
	case *vcv1beta1.PodGroup:
		return "PodGroup/" + t.Namespace + "/" + t.Name
	}
	return fmt.Sprintf("%T", o)
}
func (r *recorder) Event(o runtime.Object, et, reason, msg string) {
	r.Lock()
	defer r.Unlock()
	r.ev = append(r.ev, Event{objName(o), et, reason, msg})
}
func (r *recorder) Eventf(o runtime.Object, et, reason, f string, a ...interface{}) {
	r.Event(o, et, reason, fmt.Sprintf(f, a...))
}
func (r *recorder) AnnotatedEventf(o runtime.Object, _ map[string]string, et, reason, f string, a ...interface{}) {
	r.Event(o, et, reason, fmt.Sprintf(f, a...))
}

// ---- helpers -----------------------------------------------------------
func freshActions() {
	framework.RegisterAction(reclaim.New())
	framework.RegisterAction(allocate.New())
	framework.RegisterAction(backfill.New())
	framework.RegisterAction(preempt.New())
	framework.RegisterAction(gangpreempt.New())
	framework.RegisterAction(gangreclaim.New())
	framework.RegisterAction(enqueue.New())
	framework.RegisterAction(shuffle.New())
}

func buildCache(c *Case, stop chan struct{}) (*cache.SchedulerCache, *binder, *evictor, *updater, *recorder) {
	b := &binder{m: map[string]string{}}
	e := &evictor{m: map[string]string{}}
	u := &updater{nominated: map[string]string{}}
	r := &recorder{}
	sc := cache.NewCustomMockSchedulerCache("volcano", b, e, u, nil, r)
	createObjects(c, sc)
	sc.Run(stop)
	sc.SharedInformerFactory().Start(stop)
	sc.SharedInformerFactory().WaitForCacheSync(stop)
	sc.WaitForCacheSync(stop)
	for _, o := range c.CSINodes {
		sc.AddOrUpdateCSINode(o.DeepCopy(), true)
	}
	for _, n := range c.Nodes {
		if err := sc.AddOrUpdateNode(n.DeepCopy()); err != nil {
			panic(err)
		}
	}
	measureNodes(c, sc)
	for _, p := range c.Pods {
		sc.AddPod(p.DeepCopy())
	}
	for _, pg := range c.PodGroups {
		sc.AddPodGroupV1beta1(pg.DeepCopy())
	}
	for _, q := range c.Queues {
		sc.AddQueueV1beta1(q.DeepCopy())
	}
	for _, pc := range c.PriorityClasses {
		sc.AddPriorityClass(pc.DeepCopy())
	}
	for _, rq := range c.ResourceQuotas {
		sc.AddResourceQuota(rq.DeepCopy())
	}
	if len(c.HyperNodes) > 0 {
		idx := clientcache.NewIndexer(clientcache.MetaNamespaceKeyFunc, clientcache.Indexers{})
		for _, n := range c.Nodes {
			idx.Add(n.DeepCopy())
		}
		hni := api.NewHyperNodesInfo(listerv1.NewNodeLister(idx))
		for _, hn := range c.HyperNodes {
			if err := hni.UpdateHyperNode(hn.DeepCopy()); err != nil {
				panic(err)
			}
		}
		sc.HyperNodesInfo = hni
	}
	return sc, b, e, u, r
}

func key(t *api.TaskInfo) string { return t.Namespace + "/" + t.Name }

func gatherQueueMetrics(queues []*vcv1beta1.Queue) map[string]map[string]float64 {
	out := map[string]map[string]float64{}
	fams, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		return nil
	}
	known := map[string]bool{}
	for _, q := range queues {
		known[q.Name] = true
	}
	for _, f := range fams {
		n := f.GetName()
		if !strings.HasPrefix(n, "volcano_queue_") {
			continue
		}
		for _, m := range f.GetMetric() {
			q, res := "", ""
			for _, l := range m.GetLabel() {
				switch l.GetName() {
				case "queue_name":
					q = l.GetValue()
				case "resource":
					res = l.GetValue()
				}
			}
			if !known[q] || m.GetGauge() == nil {
				continue
			}
			k := strings.TrimPrefix(n, "volcano_queue_")
			if res != "" {
				if res == "pods" {
					continue
				}
				k += "[" + res + "]"
			}
			if out[q] == nil {
				out[q] = map[string]float64{}
			}
			out[q][k] = m.GetGauge().GetValue()
		}
	}
	return out
}

func probe(c *Case) *Probe {
	stop := make(chan struct{})
	defer close(stop)
	freshActions()
	predicates.ResetVolumeBindingPluginForTest()
	actions, tiers, cfgs, _, err := scheduler.UnmarshalSchedulerConf(c.Conf)
	if err != nil {
		panic(err)
	}
	conf.EnabledActionMap = map[string]bool{}
	for _, a := range actions {
		conf.EnabledActionMap[a.Name()] = true
	}
	prepareDevices(c, tiers)
	sc, _, _, _, _ := buildCache(c, stop)
	ssn := framework.OpenSession(sc, tiers, cfgs)
	p := &Probe{JobOrder: map[string][]string{}, TaskOrder: map[string][]string{}, Overused: map[string]bool{},
		JobValid: map[string]string{}, Starving: map[string]bool{}, JobReady: map[string]bool{}, Priority: map[string]int32{}}
	jobsByQ := map[api.QueueID][]*api.JobInfo{}
	ids := []string{}
	for id := range ssn.Jobs {
		ids = append(ids, string(id))
	}
	sort.Strings(ids)
	for _, id := range ids {
		j := ssn.Jobs[api.JobID(id)]
		jobsByQ[j.Queue] = append(jobsByQ[j.Queue], j)
		if vr := ssn.JobValid(j); vr != nil && !vr.Pass {
			p.JobValid[id] = vr.Reason
		}
		p.Starving[id] = ssn.JobStarving(j)
		p.JobReady[id] = ssn.JobReady(j)
		p.Priority[id] = j.Priority
	}
	qs := []*api.QueueInfo{}
	for q := range jobsByQ {
		qs = append(qs, ssn.Queues[q])
	}
	sort.Slice(qs, func(i, j int) bool { return qs[i].Name < qs[j].Name })
	sort.SliceStable(qs, func(i, j int) bool { return ssn.QueueOrderFn(qs[i], qs[j]) })
	for _, q := range qs {
		p.QueueOrder = append(p.QueueOrder, q.Name)
		p.Overused[q.Name] = ssn.Overused(q)
		js := jobsByQ[q.UID]
		sort.SliceStable(js, func(i, j int) bool { return ssn.JobOrderFn(js[i], js[j]) })
		for _, j := range js {
			p.JobOrder[q.Name] = append(p.JobOrder[q.Name], string(j.UID))
		}
	}
	for _, id := range ids {
		j := ssn.Jobs[api.JobID(id)]
		ts := []*api.TaskInfo{}
		for _, t := range j.TaskStatusIndex[api.Pending] {
			ts = append(ts, t)
		}
		if len(ts) == 0 {
			continue
		}
		sort.Slice(ts, func(a, b int) bool { return ts[a].UID < ts[b].UID })
		sort.SliceStable(ts, func(a, b int) bool { return ssn.TaskOrderFn(ts[a], ts[b]) })
		for _, t := range ts {
			p.TaskOrder[id] = append(p.TaskOrder[id], t.Name)
		}
		seen := map[string]bool{}
		n := 0
		for _, t := range ts {
			sig := t.TaskRole + "|" + t.Resreq.String() + "|" + fmt.Sprint(t.Pod.Spec.NodeSelector, t.Pod.Spec.Affinity != nil, len(t.Pod.Spec.Tolerations))
			if seen[sig] || n >= 3 {
				continue
			}
			seen[sig] = true
			n++
			s := Score{Task: key(t), Unfit: map[string]string{}}
			if err := ssn.PrePredicateFn(t); err != nil {
				s.PrePred = err.Error()
				p.Scores = append(p.Scores, s)
				continue
			}
			fit := []*api.NodeInfo{}
			for _, node := range ssn.NodeList {
				if ok, rs := t.InitResreq.LessEqualWithResourcesName(node.FutureIdle(), api.Zero); !ok {
					sort.Strings(rs)
					s.Unfit[node.Name] = "Insufficient " + strings.Join(rs, ",")
					continue
				}
				if err := ssn.PredicateForAllocateAction(t, node); err != nil {
					s.Unfit[node.Name] = err.Error()
					continue
				}
				fit = append(fit, node)
				if t.InitResreq.LessEqual(node.Idle, api.Zero) {
					s.Idle = append(s.Idle, node.Name)
				}
			}
			if len(fit) > 0 {
				s.Order = map[string]float64{}
				s.Total = map[string]float64{}
				for _, node := range fit {
					_, o, err := ssn.NodeOrderMapFn(t, node)
					if err == nil {
						s.Order[node.Name] = o
					}
				}
				s.Batch, _ = ssn.BatchNodeOrderFn(t, fit)
				ns := util.PrioritizeNodes(t, fit, ssn.BatchNodeOrderFn, ssn.NodeOrderMapFn, ssn.NodeOrderReduceFn)
				for sc, nodes := range ns {
					for _, node := range nodes {
						s.Total[node.Name] = sc
					}
				}
			}
			p.Scores = append(p.Scores, s)
		}
	}
	return p
}

func runCycle(c *Case) *CycleResult {
	stop := make(chan struct{})
	defer close(stop)
	freshActions()
	predicates.ResetVolumeBindingPluginForTest()
	for _, q := range c.Queues {
		metrics.DeleteQueueMetrics(q.Name)
	}
	actions, tiers, cfgs, _, err := scheduler.UnmarshalSchedulerConf(c.Conf)
	if err != nil {
		panic(err)
	}
	conf.EnabledActionMap = map[string]bool{}
	for _, a := range actions {
		conf.EnabledActionMap[a.Name()] = true
	}
	prepareDevices(c, tiers)
	sc, _, ev, up, rec := buildCache(c, stop)
	ssn := framework.OpenSession(sc, tiers, cfgs)
	for _, a := range actions {
		a.Initialize()
		a.Execute(ssn)
		a.UnInitialize()
	}
	res := &CycleResult{Binds: map[string]string{}, Pipelined: map[string]string{}, Allocated: map[string]string{},
		Evicted: map[string]string{}, Nominated: map[string]string{}, Annotations: map[string]map[string]string{}, noted: map[string]map[string]string{}, PodGroups: map[string]*PG{}, QueueAlloc: map[string]map[string]string{}}
	orig := map[string]bool{}
	for _, p := range c.Pods {
		if p.DeletionTimestamp != nil {
			orig[p.Namespace+"/"+p.Name] = true
		}
	}
	jobs := ssn.Jobs
	queues := ssn.Queues
	for _, j := range jobs {
		for _, t := range j.Tasks {
			switch t.Status {
			case api.Binding:
				res.Binds[key(t)] = t.NodeName
				res.noted[key(t)] = noted(t, false)
				if plain := noted(t, true); len(plain) > 0 {
					res.Annotations[key(t)] = plain
				}
			case api.Pipelined:
				res.Pipelined[key(t)] = t.NodeName
			case api.Allocated:
				res.Allocated[key(t)] = t.NodeName
			case api.Releasing:
				if !orig[key(t)] {
					res.Evicted[key(t)] = ""
				}
			}
		}
	}
	for i := 0; i < 200 && ev.n() < len(res.Evicted); i++ {
		time.Sleep(5 * time.Millisecond)
	}
	for k := range res.Evicted {
		res.Evicted[k] = ev.get(k)
	}
	res.QueueMetrics = gatherQueueMetrics(c.Queues)
	framework.CloseSession(ssn)
	for id, j := range jobs {
		pg := &PG{Phase: string(j.PodGroup.Status.Phase), Running: j.PodGroup.Status.Running, Succeeded: j.PodGroup.Status.Succeeded, Failed: j.PodGroup.Status.Failed}
		for _, cd := range j.PodGroup.Status.Conditions {
			pg.Conditions = append(pg.Conditions, Cond{string(cd.Type), string(cd.Status), cd.Reason, cd.Message})
		}
		pg.AllocatedHyperNode = j.AllocatedHyperNode
		res.PodGroups[string(id)] = pg
	}
	for id, q := range queues {
		m := map[string]string{}
		for n, v := range q.Queue.Status.Allocated {
			m[string(n)] = v.String()
		}
		res.QueueAlloc[string(id)] = m
	}
	up.Lock()
	for k, v := range up.nominated {
		res.Nominated[k] = v
	}
	up.Unlock()
	rec.Lock()
	res.Events = append(res.Events, rec.ev...)
	rec.Unlock()
	sort.Slice(res.Events, func(a, b int) bool {
		x, y := res.Events[a], res.Events[b]
		return x.Object+x.Reason+x.Type+x.Message < y.Object+y.Reason+y.Type+y.Message
	})
	return res
}

// apply mutates the case to the state seen by the next cycle.
func apply(c *Case, r *CycleResult) {
	var keep []*v1.Pod
	for _, p := range c.Pods {
		k := p.Namespace + "/" + p.Name
		if _, ok := r.Evicted[k]; ok || p.DeletionTimestamp != nil {
			continue // gone before the next cycle
		}
		if n, ok := r.Binds[k]; ok {
			p.Spec.NodeName = n
			p.Status.Phase = v1.PodRunning
			p.Status.NominatedNodeName = ""
			for name, value := range r.noted[k] {
				if p.Annotations == nil {
					p.Annotations = map[string]string{}
				}
				p.Annotations[name] = value
			}
		}
		if n, ok := r.Nominated[k]; ok && p.Spec.NodeName == "" {
			p.Status.NominatedNodeName = n
		}
		keep = append(keep, p)
	}
	c.Pods = keep
	for _, pg := range c.PodGroups {
		if x, ok := r.PodGroups[pg.Namespace+"/"+pg.Name]; ok {
			pg.Status.Phase = vcv1beta1.PodGroupPhase(x.Phase)
			pg.Status.Running = x.Running
			pg.Status.Succeeded = x.Succeeded
			pg.Status.Failed = x.Failed
			if x.AllocatedHyperNode != "" {
				if pg.Annotations == nil {
					pg.Annotations = map[string]string{}
				}
				pg.Annotations[api.JobAllocatedHyperNode] = x.AllocatedHyperNode
			}
		}
	}
}

func runCase(raw []byte, withProbe bool) (res *Result) {
	c := &Case{}
	if err := json.Unmarshal(raw, c); err != nil {
		return &Result{Error: err.Error()}
	}
	res = &Result{Name: c.Name}
	defer func() {
		if e := recover(); e != nil {
			res.Error = fmt.Sprintf("panic: %v\n%s", e, debug.Stack())
		}
	}()
	if withProbe {
		res.Probe = probe(c)
	}
	n := c.Cycles
	if n <= 0 {
		n = 1
	}
	for i := 0; i < n; i++ {
		r := runCycle(c)
		res.Cycles = append(res.Cycles, r)
		apply(c, r)
	}
	return res
}

func main() {
	withProbe := flag.Bool("probe", true, "emit probe section")
	noEvents := flag.Bool("no-events", false, "omit events")
	klog.InitFlags(nil)
	flag.Parse()
	flag.Set("logtostderr", "false")
	flag.Set("alsologtostderr", "false")
	flag.Set("stderrthreshold", "FATAL")
	if os.Getenv("ORACLE_LOG") == "" {
		klog.SetOutput(io.Discard)
	} else {
		flag.Set("logtostderr", "true")
		flag.Set("v", os.Getenv("ORACLE_LOG"))
	}
	metrics.InitKubeSchedulerRelatedMetrics()
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if len(strings.TrimSpace(string(line))) > 0 {
			r := runCase(line, *withProbe)
			if *noEvents {
				for _, c := range r.Cycles {
					c.Events = nil
				}
			}
			b, e := json.Marshal(r)
			if e != nil {
				panic(e)
			}
			out.Write(b)
			out.WriteByte('\n')
			out.Flush()
		}
		if err != nil {
			break
		}
	}
}
