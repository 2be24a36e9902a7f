import type { ApiClient } from '../client/api-client.js';
import { ClientError } from '../client/client-error.js';
import { EXIT_CODES } from '../exit-codes.js';
import { addressOf, type InstanceAddress, type InstanceKind, type InstanceView } from './instance.js';

/** How a user names an instance: `web-1`, `default/web-1`, or its ref `vm/lab/default/web-1`. */
interface WantedInstance {
  readonly kind?: InstanceKind;
  readonly context?: string;
  readonly namespace?: string;
  readonly name: string;
}

/** @throws ClientError for a text that can not name an instance */
export function parseWanted(text: string): WantedInstance {
  const parts = text.split('/').map(decoded);
  if (parts.some((part) => part === '')) throw badName(text);
  const [first = '', second = '', third = '', fourth = ''] = parts;
  if (parts.length === 1) return { name: first };
  if (parts.length === 2) return { namespace: first, name: second };
  if (parts.length === 4 && (first === 'vm' || first === 'ct'))
    return { kind: first, context: second, namespace: third, name: fourth };
  throw badName(text);
}

const badName = (text: string): ClientError =>
  ClientError.usage(
    `"${text}" does not name an instance. Use its name, NAMESPACE/NAME, or its ref such as vm/lab/default/web-1.`,
  );

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The name as a term of a query; `*` would match any text, so the caller compares the names again. */
const nameTerm = (name: string): string => `name:"${name.replace(/["\\]/g, '\\$&')}"`;

/** Finds the one instance that the user means. @throws ClientError when none or several match */
export async function findInstance(api: ApiClient, text: string, kind?: InstanceKind): Promise<InstanceView> {
  const wanted = parseWanted(text);
  const found = (await candidates(api, wanted, kind ?? wanted.kind)).filter(
    ({ context, namespace, name }) =>
      name === wanted.name &&
      (wanted.namespace === undefined || namespace === wanted.namespace) &&
      (wanted.context === undefined || context === wanted.context),
  );
  const [first, ...others] = found;
  if (!first)
    throw new ClientError('INSTANCE_NOT_FOUND', `There is no ${nameOfKind(kind)} "${text}".`, EXIT_CODES.notFound);
  if (others.length === 0) return first;
  const refs = found.map(({ ref }) => ref).join(', ');
  throw new ClientError(
    'AMBIGUOUS_INSTANCE',
    `"${text}" is the name of several instances. Use a ref: ${refs}.`,
    EXIT_CODES.conflict,
  );
}

export const findAddress = async (api: ApiClient, text: string, kind?: InstanceKind): Promise<InstanceAddress> =>
  addressOf(await findInstance(api, text, kind));

const nameOfKind = (kind?: InstanceKind): string =>
  kind === undefined ? 'VM or container' : kind === 'vm' ? 'VM' : 'container';

async function candidates(api: ApiClient, wanted: WantedInstance, kind?: InstanceKind): Promise<InstanceView[]> {
  const query = { q: nameTerm(wanted.name), ...(wanted.context === undefined ? {} : { context: wanted.context }) };
  const [vms, containers] = await Promise.all([
    kind === 'ct' ? [] : api.get('/api/vms', { query }),
    kind === 'vm' ? [] : api.get('/api/cts', { query }),
  ]);
  return [...vms, ...containers];
}
