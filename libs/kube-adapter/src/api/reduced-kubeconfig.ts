import { plainText, SettingError } from '@headgate/domain-contracts';
import { parse, YAMLParseError } from 'yaml';

type Section = Readonly<Record<string, unknown>>;

/** The keys that are kept. All others make a client read files or run programs, or are not used. */
const CLUSTER_KEYS = ['server', 'certificate-authority-data', 'insecure-skip-tls-verify', 'tls-server-name'] as const;
const USER_KEYS = ['token', 'client-certificate-data', 'client-key-data', 'username', 'password'] as const;

/** Keys without which the credentials would not work, with the reason why they are refused. */
const REFUSED: Readonly<Record<string, string>> = {
  exec: 'it runs a program; use the token of a service account',
  'auth-provider': 'it runs a program or reads a file; use the token of a service account',
  tokenFile: 'it names a file; put its content into token',
  'token-file': 'it names a file; put its content into token',
  'client-certificate': 'it names a file; put its content into client-certificate-data (kubectl config view --flatten)',
  'client-key': 'it names a file; put its content into client-key-data (kubectl config view --flatten)',
  'certificate-authority':
    'it names a file; put its content into certificate-authority-data (kubectl config view --flatten)',
  'proxy-url': 'connections over a proxy need the configuration file',
  as: 'acting as another user needs the configuration file',
};

const NAME = 'added';

/** What administrators may see of a kubeconfig. */
export interface KubeconfigSummary {
  readonly server: string;
  /** The name of the user in the original kubeconfig. */
  readonly user: string;
  readonly certificate?: string;
}

/**
 * The text of a kubeconfig with one context, and only those keys that neither run a program nor read a file. The text
 * is never given to the Kubernetes client as it is: that reads files that a kubeconfig names while it parses it.
 * @param context the name of the context of the service, for errors
 * @param kubeContext the context in the kubeconfig; by default its current one
 * @throws SettingError
 */
export function reduceKubeconfig(context: string, text: string, kubeContext?: string): string {
  const refuse = (problem: string): never => {
    throw new SettingError(context, `kubeconfig ${problem}`);
  };
  let config: Section;
  try {
    config = sectionOf(parse(text));
  } catch (error) {
    // Not the message of the parser: it may quote a secret.
    const line = error instanceof YAMLParseError ? error.linePos?.[0].line : undefined;
    return refuse(line === undefined ? 'is not YAML' : `is not YAML in line ${line}`);
  }
  const wanted = kubeContext ?? config['current-context'];
  if (typeof wanted !== 'string' || wanted === '') return refuse('has no current-context; name a context of it');
  const { cluster, user } = named(config, 'context', wanted) ?? refuse(`has no context named "${plainText(wanted)}"`);
  const clusterKeys =
    named(config, 'cluster', cluster) ?? refuse(`has no cluster for its context ${plainText(wanted)}`);
  const userKeys = named(config, 'user', user) ?? refuse(`has no user for its context ${plainText(wanted)}`);
  for (const [key, reason] of Object.entries(REFUSED)) {
    if (isSet(clusterKeys[key]) || isSet(userKeys[key])) refuse(`has the key ${key}, which is refused: ${reason}`);
  }
  const kept = { cluster: pick(clusterKeys, CLUSTER_KEYS, refuse), user: pick(userKeys, USER_KEYS, refuse) };
  expectServer(kept.cluster['server'], refuse);
  if (Object.keys(kept.user).length === 0) refuse('has no credentials for its user');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: NAME, cluster: kept.cluster }],
    users: [{ name: String(user), user: kept.user }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: String(user) } }],
    'current-context': NAME,
  });
}

/** Reads what `reduceKubeconfig` has returned. */
export function readReducedKubeconfig(text = ''): KubeconfigSummary & Readonly<Record<string, string>> {
  const { clusters, users } = JSON.parse(text) as {
    clusters: [{ cluster: Section }];
    users: [{ name: string }];
  };
  const [{ cluster }] = clusters;
  return {
    server: String(cluster['server']),
    user: users[0].name,
    ...(cluster['insecure-skip-tls-verify'] === true && { certificate: 'not checked' }),
  };
}

/** The section of a list entry `{name, [kind]: {…}}`. */
function named(config: Section, kind: 'cluster' | 'user' | 'context', name: unknown): Section | undefined {
  const list = config[`${kind}s`];
  const found = Array.isArray(list) ? list.map(sectionOf).find((entry) => entry['name'] === name) : undefined;
  return found && typeof name === 'string' ? sectionOf(found[kind]) : undefined;
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

function pick(from: Section, keys: readonly string[], refuse: (problem: string) => never): Record<string, unknown> {
  const found = keys.filter((key) => isSet(from[key])).map((key): [string, unknown] => [key, from[key]]);
  for (const [key, value] of found) {
    const type = key === 'insecure-skip-tls-verify' ? 'boolean' : 'string';
    if (typeof value !== type) refuse(`has a value of ${key} that is no ${type}`);
  }
  return Object.fromEntries(found);
}

function expectServer(server: unknown, refuse: (problem: string) => never): void {
  const url = typeof server === 'string' && URL.canParse(server) ? new URL(server) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) refuse('names no server with an http or https URL');
  else if (url.username || url.password || url.search || url.hash)
    refuse('names a server whose URL has credentials, a query or a fragment');
}

const sectionOf = (value: unknown): Section =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Section) : {};
