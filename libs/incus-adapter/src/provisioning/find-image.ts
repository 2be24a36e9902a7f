import { DomainError } from '@headgate/domain-contracts';
import type { IncusApi } from '../api/incus-api.js';
import type { ImageRemote } from '../engine/image-remote.js';

/** The source of a new instance in a request to the server. */
export type ImageSource = Readonly<Record<string, string>>;

export interface ImageDeps {
  readonly api: IncusApi;
  readonly remotes: ReadonlyMap<string, ImageRemote>;
}

const FINGERPRINT = /^[0-9a-f]{12,64}$/;

/**
 * The source for an image as users name it: an alias or a fingerprint of an image of the server, or `remote:image` of a
 * configured image server. Other servers are never asked.
 * @throws DomainError IMAGE_NOT_FOUND, NOT_SUPPORTED when the server can't use such a remote
 */
export async function findImage({ api, remotes }: ImageDeps, project: string, image: string): Promise<ImageSource> {
  const local = await findLocal(api, project, image);
  if (local) return local;
  const [name = '', alias = ''] = split(image);
  const remote = remotes.get(name);
  if (!remote || alias === '') throw imageNotFound(api.context, image, remotes);
  if (remote.protocol === 'oci') await api.requireExtension('instance_oci', 'create containers from OCI images');
  return { type: 'image', mode: 'pull', server: remote.url, protocol: remote.protocol, alias };
}

async function findLocal(api: IncusApi, project: string, image: string): Promise<ImageSource | undefined> {
  const alias = await read<{ readonly target: string; readonly type?: string }>(
    api,
    `/1.0/images/aliases/${encodeURIComponent(image)}`,
    project,
  );
  const fingerprint =
    alias?.target ??
    (FINGERPRINT.test(image)
      ? (await read<{ readonly fingerprint: string }>(api, `/1.0/images/${image}`, project))?.fingerprint
      : undefined);
  return fingerprint === undefined ? undefined : { type: 'image', fingerprint };
}

async function read<T>(api: IncusApi, path: string, project: string): Promise<T | undefined> {
  try {
    return await api.get<T>(path, { project });
  } catch (error) {
    if (DomainError.is(error, 'IMAGE_NOT_FOUND')) return undefined;
    throw error;
  }
}

function split(image: string): [remote: string, alias: string] {
  const colon = image.indexOf(':');
  return colon === -1 ? ['', ''] : [image.slice(0, colon), image.slice(colon + 1)];
}

function imageNotFound(context: string, image: string, remotes: ImageDeps['remotes']): DomainError {
  const names = [...remotes.keys()];
  const remedy =
    names.length === 0
      ? 'its configuration has no image servers (imageServers).'
      : `of one of its image servers: ${names.map((name) => `${name}:…`).join(', ')}.`;
  const joint = names.length === 0 ? '; ' : ', or an image ';
  return new DomainError(
    'IMAGE_NOT_FOUND',
    `image: ${context} has no image ${image}; use an alias or a fingerprint of its own images${joint}${remedy}`,
  );
}
