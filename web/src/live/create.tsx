/** New objects: nodes, pods and deployments from small forms, everything else as YAML. */
import { useEffect, useState, type FormEvent } from "react";
import { go, useAddress } from "../address";
import { counted } from "../derive";
import { spelling, useLive, useMay } from "./context";
import { ApiError, apiVersionOf, type KubeObject, pathOf, type Resource, write } from "./api";
import { toYaml } from "./document";
import { fieldsAt } from "./schema";
import { YamlPane } from "./yamlpane";

type Values = Record<string, string>;

interface FieldSpec {
  key: string;
  title: string;
  value: string;
  hint?: string;
  type?: "number";
}

interface Form {
  kind: string;
  group: string;
  fields: FieldSpec[];
  /** The objects that the form describes. */
  build: (values: Values) => KubeObject[];
}

/** `a=b, c=d` as labels. */
function pairs(text: string): Record<string, string> {
  return Object.fromEntries(text.split(",").map((part) => part.trim()).filter(Boolean).map((part) => {
    const at = part.indexOf("=");
    return at < 0 ? [part, ""] : [part.slice(0, at).trim(), part.slice(at + 1).trim()];
  }));
}

/** `key=value:Effect, …` as taints. */
function taints(text: string) {
  return text.split(",").map((part) => part.trim()).filter(Boolean).map((part) => {
    const at = part.lastIndexOf(":");
    const [head, effect] = at < 0 ? [part, "NoSchedule"] : [part.slice(0, at), part.slice(at + 1)];
    const [key, ...value] = head.split("=");
    return { key, ...(value.length ? { value: value.join("=") } : {}), effect };
  });
}

function names({ name, count }: Values): string[] {
  const wanted = Math.max(1, Math.floor(Number(count) || 1));
  return wanted === 1 ? [name] : Array.from({ length: wanted }, (_, i) => `${name}-${i}`);
}

function some<T extends object>(value: T, key: string): object {
  return (Array.isArray(value) ? value.length : Object.keys(value).length) ? { [key]: value } : {};
}

function requests({ cpu, memory, gpu }: Values): Record<string, string> {
  return Object.fromEntries([["cpu", cpu], ["memory", memory], ["nvidia.com/gpu", gpu]].filter(([, amount]) => amount?.trim()));
}

function podSpec(values: Values) {
  const asked = requests(values);
  const limits = values.gpu?.trim() ? { limits: { "nvidia.com/gpu": values.gpu } } : {};
  const spread = values.spread?.trim() ? [{ maxSkew: 1, topologyKey: values.spread.trim(), whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: podLabels(values) } }] : [];
  const tolerations = taints(values.tolerations ?? "").map(({ key, value, effect }) => ({ key, operator: value === undefined ? "Exists" : "Equal", ...(value === undefined ? {} : { value }), effect }));
  return {
    containers: [{ name: "main", image: values.image || "registry.k8s.io/pause:3.10", resources: { requests: asked, ...limits } }],
    ...some(pairs(values.selector ?? ""), "nodeSelector"),
    ...some(tolerations, "tolerations"),
    ...some(spread, "topologySpreadConstraints"),
    ...(values.priority?.trim() ? { priorityClassName: values.priority.trim() } : {}),
  };
}

function podLabels(values: Values): Record<string, string> {
  const given = pairs(values.labels ?? "");
  return Object.keys(given).length ? given : { app: values.name };
}

const ASKED: FieldSpec[] = [
  { key: "cpu", title: "CPU", value: "500m", hint: "cores; 500m is half a core" },
  { key: "memory", title: "Memory", value: "512Mi" },
  { key: "gpu", title: "GPUs", value: "" },
];

const PLACING: FieldSpec[] = [
  { key: "labels", title: "Labels", value: "", hint: "app=web, tier=front" },
  { key: "selector", title: "Only nodes with", value: "", hint: "labels: pool=fast" },
  { key: "tolerations", title: "Tolerates", value: "", hint: "taints: key=value:NoSchedule" },
  { key: "spread", title: "Spread over", value: "", hint: "topology.kubernetes.io/zone" },
  { key: "priority", title: "Priority class", value: "" },
];

const FORMS: Form[] = [
  {
    kind: "Node", group: "",
    fields: [
      { key: "name", title: "Name", value: "node" },
      { key: "count", title: "How many", value: "3", type: "number" },
      { key: "cpu", title: "CPU", value: "4" },
      { key: "memory", title: "Memory", value: "16Gi" },
      { key: "gpu", title: "GPUs", value: "" },
      { key: "pods", title: "Pods", value: "110", type: "number" },
      { key: "labels", title: "Labels", value: "", hint: "topology.kubernetes.io/zone=a, pool=fast" },
      { key: "taints", title: "Taints", value: "", hint: "key=value:NoSchedule" },
    ],
    build: (values) => names(values).map((name) => {
      const amounts = { ...requests(values), pods: values.pods };
      return { apiVersion: "v1", kind: "Node", metadata: { name, labels: { "kubernetes.io/hostname": name, ...pairs(values.labels) } }, ...some({ ...some(taints(values.taints), "taints") }, "spec"), status: { allocatable: amounts, capacity: amounts } };
    }),
  },
  {
    kind: "Pod", group: "",
    fields: [{ key: "name", title: "Name", value: "pod" }, { key: "namespace", title: "Namespace", value: "default" }, { key: "count", title: "How many", value: "1", type: "number" }, ...ASKED, ...PLACING],
    build: (values) => names(values).map((name) => ({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: values.namespace, labels: podLabels(values) }, spec: podSpec(values) })),
  },
  {
    kind: "Deployment", group: "apps",
    fields: [{ key: "name", title: "Name", value: "web" }, { key: "namespace", title: "Namespace", value: "default" }, { key: "count", title: "Replicas", value: "3", type: "number" }, ...ASKED, ...PLACING],
    build: (values) => [{
      apiVersion: "apps/v1", kind: "Deployment", metadata: { name: values.name, namespace: values.namespace },
      spec: { replicas: Number(values.count) || 0, selector: { matchLabels: podLabels(values) }, template: { metadata: { labels: podLabels(values) }, spec: podSpec(values) } },
    }],
  },
];

export function CreateView() {
  const { of = "nodes", scope = "" } = useAddress();
  const { resources } = useLive();
  const resource = resources.find((each) => spelling(each) === of);
  const form = FORMS.find((each) => each.kind === resource?.kind && each.group === resource?.group);
  const [text, setText] = useState<string>();
  const [hasSpec, setHasSpec] = useState(false);
  useEffect(() => {
    setText(undefined);
    let isWanted = true;
    if (resource) void fieldsAt({ apiVersion: apiVersionOf(resource), kind: resource.kind, path: [], isValue: false }).then((fields) => isWanted && setHasSpec(fields.some(({ name }) => name === "spec")));
    return () => {
      isWanted = false;
    };
  }, [of]);
  const isYaml = text !== undefined || !form;
  return (
    <section aria-labelledby="create-title" className="create">
      <h2 id="create-title">Create {form && !isYaml ? form.kind : "from YAML"}</h2>
      <div className="chips" role="group" aria-label="What to create">
        {FORMS.map(({ kind, group }) => {
          const spelt = spelling({ group, plural: `${kind.toLowerCase()}s` });
          return <button type="button" key={kind} aria-pressed={!isYaml && spelt === of} onClick={() => { setText(undefined); go({ of: spelt }); }}>{kind}</button>;
        })}
        <button type="button" aria-pressed={isYaml} onClick={() => setText(template(resource, scope, hasSpec))}>YAML</button>
      </div>
      {isYaml ? <NewYaml text={text ?? template(resource, scope, hasSpec)} onText={setText} /> : <NewObjects key={of} form={form} resource={resource!} scope={scope} onYaml={setText} />}
    </section>
  );
}

function template(resource: Resource | undefined, scope: string, hasSpec: boolean): string {
  if (!resource) return "apiVersion: v1\nkind: \nmetadata:\n  name: \n";
  const form = FORMS.find((each) => each.kind === resource.kind && each.group === resource.group);
  if (form) return form.build(initial(form, scope)).slice(0, 1).map(toYaml).join("---\n");
  const where = resource.isNamespaced ? `  namespace: ${scope || "default"}\n` : "";
  return `apiVersion: ${apiVersionOf(resource)}\nkind: ${resource.kind}\nmetadata:\n  name: example\n${where}${hasSpec ? "spec: {}\n" : ""}`;
}

function initial(form: Form, scope: string): Values {
  return Object.fromEntries(form.fields.map(({ key, value }) => [key, key === "namespace" && scope ? scope : value]));
}

function NewYaml({ text, onText }: { text: string; onText: (text: string) => void }) {
  const { say } = useLive();
  const done = (objects: KubeObject[]) => say(`Created ${objects.map((object) => `${object.kind} ${object.metadata.name}`).join(", ")}.`);
  return <YamlPane label="YAML of new objects" text={text} onText={onText} verb="Create" method="POST" onDone={done} />;
}

function NewObjects({ form, resource, scope, onYaml }: { form: Form; resource: Resource; scope: string; onYaml: (text: string) => void }) {
  const { say } = useLive();
  const [values, setValues] = useState<Values>(() => initial(form, scope));
  const [error, setError] = useState("");
  const [done, setDone] = useState("");
  const mayCreate = useMay("create", resource, values.namespace ?? "");
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setError("");
    const objects = form.build(values);
    let made = 0;
    try {
      for (const object of objects) {
        await write("POST", `${pathOf(resource, object.metadata.namespace)}?fieldValidation=Strict`, object);
        made += 1;
        if (objects.length > 20 && made % 20 === 0) setDone(`${made} of ${objects.length}`);
      }
      setDone("");
      say(`Created ${objects.length === 1 ? `${form.kind} ${objects[0].metadata.name}` : counted(made, form.kind)}.`);
    } catch (refused) {
      setDone("");
      const { message } = refused instanceof ApiError ? refused : new ApiError(0, String(refused));
      setError(made ? `${made} of ${objects.length} were created, then: ${message}` : message);
    }
  };
  return (
    <form className="fields" onSubmit={(event) => void submit(event)}>
      {form.fields.map(({ key, title, hint, type }) => (
        <label key={key}>
          {title}
          <input type={type ?? "text"} min={type === "number" ? 0 : undefined} value={values[key]} placeholder={hint} required={["name", "namespace", "count"].includes(key)} onChange={(event) => setValues({ ...values, [key]: event.target.value })} />
        </label>
      ))}
      {error && <p role="alert" className="wide">{error}</p>}
      <div className="tools wide">
        <button type="submit" className="main" disabled={!mayCreate || Boolean(done)}>{done ? `Creating: ${done}` : `Create ${form.kind}`}</button>
        <button type="button" onClick={() => onYaml(form.build(values).map(toYaml).join("---\n"))}>Show as YAML</button>
        {!mayCreate && <span className="hint">You may not create {form.kind}s here.</span>}
      </div>
    </form>
  );
}
