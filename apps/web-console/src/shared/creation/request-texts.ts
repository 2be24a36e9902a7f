import { curlOf } from '../actions/api-request.js';
import { instancePath, type InstanceCollection } from '../api/instance-path.js';
import { creationRequest, type CreationRequest } from './create-instance.js';

export const REQUEST_FORMATS = { curl: 'curl', yaml: 'YAML', terraform: 'Terraform' } as const;
export type RequestFormat = keyof typeof REQUEST_FORMATS;

export interface ShownRequest {
  readonly collection: InstanceCollection;
  readonly body: CreationRequest;
  /** Of the service, such as `http://localhost:8000`. */
  readonly origin: string;
  /** The namespace that the service will choose if the body has none. */
  readonly namespace: string;
}

/** The request that creates an instance, in a form that other programs read. */
export const requestText = (format: RequestFormat, request: ShownRequest): string => TEXTS[format](request);

const TEXTS: Readonly<Record<RequestFormat, (request: ShownRequest) => string>> = {
  curl: ({ collection, body, origin }) => curlOf(creationRequest(collection, body), origin, true),
  yaml: ({ collection, body, origin }) => `# POST ${origin}/api/${collection}\n${yamlOf(body)}`,
  terraform: terraformOf,
};

/** JSON is valid YAML. A text of several lines is easier to read as a block. */
function yamlOf(body: CreationRequest): string {
  return Object.entries(body)
    .map(([field, value]) => `${field}: ${isBlock(value) ? blockOf(value) : JSON.stringify(value)}\n`)
    .join('');
}

/** A block can't begin with a space, nor have other control characters than line ends and tabs. */
const isBlock = (value: unknown): value is string =>
  typeof value === 'string' && /^[^\s].*\n/.test(value) && !/[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029]/.test(value);

function blockOf(text: string): string {
  const lines = text.split('\n');
  const hasEnd = lines.at(-1) === '';
  const shown = hasEnd ? lines.slice(0, -1) : lines;
  // "+" keeps empty lines at the end.
  const style = hasEnd ? (shown.at(-1) === '' ? '|+' : '|') : '|-';
  return [style, ...shown.map((line) => (line === '' ? '' : `  ${line}`))].join('\n');
}

/** The provider for any REST API: no provider knows this service. */
function terraformOf({ collection, body, origin, namespace }: ShownRequest): string {
  const { name, context = '' } = body;
  const path = instancePath(collection, { context, namespace, name });
  const query = context === '' ? '' : `?context=${encodeURIComponent(context)}`;
  const fields = Object.entries(body).map(([field, value]) => `    ${field} = ${hclOf(value)}`);
  return `# Needs the provider Mastercard/restapi with
# uri = ${hclOf(origin)} and write_returns_object = true.
resource "restapi_object" ${hclOf(name)} {
  path         = "/api/${collection}"
  object_id    = ${hclOf(name)}
  read_path    = ${hclOf(path + query)}
  destroy_path = ${hclOf(path + query)}
  data = jsonencode({
${fields.join('\n')}
  })
}
`;
}

/** Strings of HCL are like those of JSON, but have templates. */
const hclOf = (value: unknown): string => JSON.stringify(value).replace(/[$%](?=\{)/g, (mark) => mark + mark);
