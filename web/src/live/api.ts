/** The Kubernetes API, as any other client uses it: discovery, objects, access reviews. The session's cookie is the user. */

export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: { apiVersion: string; kind: string; name: string; uid: string; controller?: boolean }[];
  managedFields?: unknown;
}

export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  // What is below depends on the kind, and is read where it is known.
  spec?: any;
  status?: any;
  [field: string]: any;
}

export interface Cause {
  field?: string;
  message?: string;
}

/** A refusal: the Status that the server answered with. */
export class ApiError extends Error {
  constructor(readonly code: number, message: string, readonly causes: Cause[] = []) {
    super(message);
  }
}

async function refusal(answer: Response): Promise<ApiError> {
  const text = await answer.text();
  try {
    const status = JSON.parse(text) as { message?: string; details?: { causes?: Cause[] } };
    return new ApiError(answer.status, status.message ?? text, status.details?.causes ?? []);
  } catch {
    return new ApiError(answer.status, text.trim() || `${answer.status} ${answer.statusText}`);
  }
}

export async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const sent: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
  const answer = await fetch(path, { method, headers: { accept: "application/json", ...sent, ...headers }, body: body === undefined ? undefined : JSON.stringify(body) });
  if (!answer.ok) throw await refusal(answer);
  return answer;
}

export async function get<T>(path: string, headers?: Record<string, string>): Promise<T> {
  return (await ask("GET", path, undefined, headers)).json() as Promise<T>;
}

export async function write(method: string, path: string, body?: unknown): Promise<KubeObject> {
  return (await ask(method, path, body)).json() as Promise<KubeObject>;
}

export async function patch(path: string, body: unknown): Promise<KubeObject> {
  return (await ask("PATCH", path, body, { "content-type": "application/merge-patch+json" })).json() as Promise<KubeObject>;
}

/** What the server serves under one plural. */
export interface Resource {
  group: string;
  version: string;
  kind: string;
  plural: string;
  isNamespaced: boolean;
  verbs: string[];
  subresources: string[];
}

interface DiscoveryList {
  items: {
    metadata: { name?: string };
    versions: {
      version: string;
      resources: { resource: string; responseKind?: { kind: string }; scope: string; verbs: string[]; subresources?: { subresource: string }[] }[];
    }[];
  }[];
}

const AGGREGATED = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };

/** Every kind that can be listed, in its preferred version. */
export async function discover(): Promise<Resource[]> {
  const lists = await Promise.all(["/api", "/apis"].map((path) => get<DiscoveryList>(path, AGGREGATED)));
  const found = new Map<string, Resource>();
  for (const { items } of lists) {
    for (const { metadata, versions } of items) {
      for (const { version, resources } of versions) {
        for (const each of resources) {
          const group = metadata.name ?? "";
          const key = `${group}/${each.resource}`;
          if (!each.verbs.includes("list") || found.has(key)) continue;
          found.set(key, {
            group, version, kind: each.responseKind?.kind ?? each.resource, plural: each.resource,
            isNamespaced: each.scope === "Namespaced", verbs: each.verbs, subresources: (each.subresources ?? []).map((part) => part.subresource),
          });
        }
      }
    }
  }
  return [...found.values()];
}

export function apiVersionOf({ group, version }: Resource): string {
  return group ? `${group}/${version}` : version;
}

/** The path of a kind, of its objects in a namespace, or of one object. */
export function pathOf(resource: Resource, namespace = "", name = "", subresource = ""): string {
  const root = resource.group ? `/apis/${resource.group}/${resource.version}` : `/api/${resource.version}`;
  const inside = resource.isNamespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${root}${inside}/${resource.plural}${name ? `/${encodeURIComponent(name)}` : ""}${subresource ? `/${subresource}` : ""}`;
}

/** The kind of a document that a user wrote. */
export function resourceOf(resources: Resource[], { apiVersion = "", kind = "" }: { apiVersion?: string; kind?: string }): Resource | undefined {
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  const found = resources.find((each) => each.group === group && each.kind === kind);
  return found && { ...found, version };
}

const reviews = new Map<string, Promise<boolean>>();

/** Whether the user may do this; the server is asked once. */
export function mayDo(verb: string, resource: { group: string; plural: string }, namespace = "", subresource = ""): Promise<boolean> {
  const attributes = { verb, group: resource.group, resource: resource.plural, namespace, subresource };
  const key = JSON.stringify(attributes);
  let known = reviews.get(key);
  if (!known) {
    const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec: { resourceAttributes: attributes } };
    known = write("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body).then((review) => review.status.allowed as boolean, () => false);
    reviews.set(key, known);
  }
  return known;
}

export async function whoAmI(): Promise<string> {
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  return (await write("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body)).status.userInfo.username as string;
}
