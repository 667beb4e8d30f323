/** Fields of a kind, from the OpenAPI documents of the server. */
import { get } from "./api";
import type { Where } from "./document";

interface Schema {
  $ref?: string;
  allOf?: Schema[];
  type?: string;
  format?: string;
  enum?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  "x-kubernetes-group-version-kind"?: { group: string; version: string; kind: string }[];
}

type Schemas = Record<string, Schema>;

const documents = new Map<string, Promise<Schemas>>();

function schemasOf(apiVersion: string): Promise<Schemas> {
  const path = apiVersion.includes("/") ? `apis/${apiVersion}` : `api/${apiVersion}`;
  let known = documents.get(path);
  if (!known) {
    known = get<{ components: { schemas: Schemas } }>(`/openapi/v3/${path}`).then((found) => found.components.schemas, () => ({}));
    documents.set(path, known);
  }
  return known;
}

function resolved(schemas: Schemas, schema: Schema | undefined): Schema | undefined {
  let found = schema;
  for (let depth = 0; found && depth < 8; depth++) {
    const reference = found.$ref ?? found.allOf?.[0]?.$ref;
    if (!reference) return found;
    found = schemas[reference.slice(reference.lastIndexOf("/") + 1)];
  }
  return found;
}

export interface Field {
  name: string;
  type: string;
}

/** What can be written where the cursor is: fields, or the values of an enumeration. */
export async function fieldsAt({ apiVersion, kind, path, isValue }: Where): Promise<Field[]> {
  if (!apiVersion || !kind) return isValue ? [] : ["apiVersion", "kind", "metadata", "spec"].map((name) => ({ name, type: "" }));
  const schemas = await schemasOf(apiVersion);
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  let schema = Object.values(schemas).find((each) => each["x-kubernetes-group-version-kind"]?.some((known) => known.group === group && known.version === version && known.kind === kind));
  for (const part of path) {
    schema = resolved(schemas, schema);
    while (schema?.items) schema = resolved(schemas, schema.items);
    const rest = schema?.additionalProperties;
    schema = schema?.properties?.[part] ?? (typeof rest === "object" ? rest : undefined);
  }
  schema = resolved(schemas, schema);
  while (schema?.items) schema = resolved(schemas, schema.items);
  if (isValue) return schema?.type === "boolean" ? ["true", "false"].map((name) => ({ name, type: "boolean" })) : (schema?.enum ?? []).map((name) => ({ name, type: "" }));
  return Object.entries(schema?.properties ?? {}).map(([name, field]) => ({ name, type: resolved(schemas, field)?.type ?? "object" }));
}
