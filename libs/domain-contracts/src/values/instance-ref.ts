import { DomainError } from './domain-error.js';
import { isContextName, isInstanceName } from './names.js';

/** `vm`: a virtual machine. `ct`: a container. */
export const INSTANCE_KINDS = ['vm', 'ct'] as const;
export type InstanceKind = (typeof INSTANCE_KINDS)[number];

/** Names one instance over all contexts. */
export interface InstanceRef {
  readonly kind: InstanceKind;
  /** The name that the operator gave to the context. */
  readonly context: string;
  readonly namespace: string;
  readonly name: string;
}

/** `vm/<context>/<namespace>/<name>`, each part percent-encoded on its own. */
export const formatRef = ({ kind, context, namespace, name }: InstanceRef): string =>
  [kind, context, namespace, name].map(encodeURIComponent).join('/');

/** Whether a text that names an object, such as that of a task, names an instance. */
export const isInstanceRef = (text: string): boolean => text.startsWith('vm/') || text.startsWith('ct/');

/** @throws DomainError INVALID_REF */
export function parseRef(text: string): InstanceRef {
  const parts = text.split('/').map(decode);
  const [kind, context, namespace, name] = parts;
  if (
    parts.length === 4 &&
    (kind === 'vm' || kind === 'ct') &&
    context !== undefined &&
    isContextName(context) &&
    namespace !== undefined &&
    isInstanceName(namespace) &&
    name !== undefined &&
    isInstanceName(name)
  ) {
    return { kind, context, namespace, name };
  }
  throw new DomainError(
    'INVALID_REF',
    'ref must have the form vm/<context>/<namespace>/<name> or ct/<context>/<namespace>/<name>, each part percent-encoded.',
  );
}

/** The objects besides instances that the journal names, each as `<kind>/<name>`. */
const OBJECT_KINDS = [
  'folder',
  'task',
  'source',
  'image',
  'token',
  'webhook',
  'plugin',
  'context',
  'account',
  'session',
];

/** Whether the journal can name an object so: an instance by its ref, another object by its kind and its name. */
export function isJournalRef(text: string): boolean {
  const slash = text.indexOf('/');
  if (OBJECT_KINDS.includes(text.slice(0, slash))) return slash < text.length - 1;
  try {
    parseRef(text);
    return true;
  } catch {
    return false;
  }
}

export const isSameRef = (a: InstanceRef, b: InstanceRef): boolean => formatRef(a) === formatRef(b);

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
