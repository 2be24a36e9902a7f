import { mergeSettings, SettingError, type AddedKind, type ContextTarget } from '@headgate/domain-contracts';
import { Matches, MaxLength } from 'class-validator';

/**
 * No query: `command`, `netcat`, `socket`, `keyfile` and others would run programs and open files. No password, no
 * unencrypted transport, and no driver that reads a file.
 */
const ADDED_URI = /^qemu(?:\+(ssh|tls))?:\/\/(?:([a-z_][a-z0-9_-]{0,31})@)?([^/@?#\s]*)\/(system|session)$/;
/** Begins with a letter, a digit or a bracket, so that no program takes it for an option. */
const HOST = /^(?:([A-Za-z0-9][A-Za-z0-9.-]{0,252})|\[([0-9A-Fa-f:]{2,45})\])(?::(\d{1,5}))?$/;
const TLS_PORT = 16_514;
const RULE = 'uri must be qemu:///system, qemu+ssh://USER@HOST/system or qemu+tls://HOST/system, without a query';

/** The settings of a host that an administrator adds. */
export class AddedLibvirtSettings {
  /** The URI of the connection: this machine, or another one over ssh or TLS. Without a query. */
  @MaxLength(300)
  @Matches(ADDED_URI, { message: `$property: ${RULE}` })
  uri!: string;
}

export const addedLibvirt: AddedKind<AddedLibvirtSettings> = {
  settings: AddedLibvirtSettings,
  usualPaths: [],
  reduce: (context, { uri }) => {
    if (!targetOf(uri)) throw new SettingError(context, RULE);
    return { uri };
  },
  // The settings have no secret: ssh and TLS use the keys of the machine, as for a new context.
  merge: (_context, before, change) => mergeSettings(before, change),
  engineOf: ({ uri }) => uri,
  targets: ({ uri }) => {
    const target = targetOf(uri);
    // ssh resolves the name itself, as its configuration says.
    return target === undefined || target === 'here' || target.isSsh
      ? []
      : [{ host: target.host, port: target.port } satisfies ContextTarget];
  },
  describe: ({ uri }) => ({ uri }),
  open: async ({ settings, context, dataDir, clock, log, peers, importAllow }) => {
    const { LibvirtBackend } = await import('./libvirt-backend.js');
    return { backend: LibvirtBackend.open({ context, dataDir, clock, log, peers, importAllow, uri: settings.uri }) };
  },
};

/** @returns undefined for a URI that is refused */
function targetOf(uri: string): 'here' | { host: string; port: number; isSsh: boolean } | undefined {
  const [, transport, user, authority = ''] = ADDED_URI.exec(uri) ?? [];
  if (!ADDED_URI.test(uri)) return undefined;
  if (transport === undefined) return authority === '' && user === undefined ? 'here' : undefined;
  const [, name, literal, port] = HOST.exec(authority) ?? [];
  const host = name ?? literal;
  const number = Number(port ?? TLS_PORT);
  if (host === undefined || number < 1 || number > 65_535) return undefined;
  if (transport === 'tls' && user !== undefined) return undefined;
  return { host, port: number, isSsh: transport === 'ssh' };
}
