import type { Readable } from 'node:stream';
import { DomainError } from '@headgate/domain-contracts';
import { HttpFailure, httpGet, isHttp, type HttpBody, type HttpClient } from './http-get.js';
import { registryUrl, type ImageReference } from './image-reference.js';
import { isDigest, verifyDigest } from './verify-digest.js';

export interface OciDescriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

interface Manifest {
  readonly mediaType?: string;
  readonly layers?: readonly OciDescriptor[];
  readonly manifests?: readonly (OciDescriptor & {
    readonly platform?: { readonly os: string; readonly architecture: string };
  })[];
}

const ACCEPT = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

const MAX_MANIFEST_BYTES = 4 * 1024 ** 2;

/** Reads one image from a registry anonymously. Source: https://github.com/opencontainers/distribution-spec */
export class OciRegistry {
  private token?: string;

  constructor(
    private readonly http: HttpClient,
    private readonly image: ImageReference,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * The layers of the image for one architecture, lowest first.
   * @param architecture as Go names it: `amd64`, `arm64`
   */
  async layers(architecture: string): Promise<readonly OciDescriptor[]> {
    const manifest = await this.manifest(this.image.reference);
    if (!manifest.manifests) return this.layersOf(manifest);
    const found = manifest.manifests.find(
      ({ platform }) => platform?.os === 'linux' && platform.architecture === architecture,
    );
    if (!found) throw new DomainError('INVALID_SOURCE', `${this.image.repository} has no image for ${architecture}.`);
    return this.layersOf(await this.manifest(found.digest));
  }

  /** A layer as stored. The stream fails at its end if the bytes do not match the digest. */
  async blob({ digest }: OciDescriptor): Promise<Readable> {
    const { body } = await this.get(`blobs/${digest}`, 'application/octet-stream');
    const verified = verifyDigest(digest);
    body.on('error', (error) => verified.destroy(error));
    verified.on('close', () => body.destroy());
    return body.pipe(verified);
  }

  private layersOf({ layers }: Manifest): readonly OciDescriptor[] {
    if (!Array.isArray(layers) || !layers.every(({ digest }) => typeof digest === 'string' && isDigest(digest))) {
      throw new DomainError('INVALID_SOURCE', `${this.image.repository} is not a container image.`);
    }
    return layers;
  }

  private async manifest(reference: string): Promise<Manifest> {
    const { body } = await this.get(`manifests/${reference}`, ACCEPT);
    const verified = isDigest(reference) ? body.pipe(verifyDigest(reference)) : body;
    body.on('error', (error) => verified.destroy(error));
    const text = await readText(verified, () => {
      throw new DomainError('INVALID_SOURCE', `The manifest of ${this.image.repository} is too large.`);
    });
    try {
      return JSON.parse(text) as Manifest;
    } catch (cause) {
      throw new DomainError('INVALID_SOURCE', `${this.image.registry} returned something other than a manifest.`, {
        cause,
      });
    }
  }

  private async get(path: string, accept: string): Promise<HttpBody> {
    const { registry, repository } = this.image;
    const url = new URL(`${registryUrl(registry)}/v2/${repository}/${path}`);
    try {
      return await this.request(url, accept);
    } catch (error) {
      const challenge = error instanceof HttpFailure && error.status === 401 && error.headers.get('www-authenticate');
      // A rejected token is not requested again.
      if (!challenge || this.token !== undefined) throw this.translate(error);
      this.token = await this.anonymousToken(challenge);
      return await this.request(url, accept).catch((again: unknown) => {
        throw this.translate(again);
      });
    }
  }

  private request(url: URL, accept: string): Promise<HttpBody> {
    const headers = { accept, ...(this.token !== undefined && { authorization: `Bearer ${this.token}` }) };
    return httpGet(this.http, url, { headers, signal: this.signal });
  }

  /** Source: https://distribution.github.io/distribution/spec/auth/token/ */
  private async anonymousToken(challenge: string): Promise<string> {
    const part = (name: string): string | undefined => new RegExp(`${name}="([^"]*)"`).exec(challenge)?.[1];
    const realm = part('realm');
    const url = realm !== undefined && URL.canParse(realm) ? new URL(realm) : undefined;
    if (!/^bearer /i.test(challenge) || !url || !this.isTrustedRealm(url)) throw this.notPublic();
    const service = part('service');
    if (service !== undefined) url.searchParams.set('service', service);
    url.searchParams.set('scope', part('scope') ?? `repository:${this.image.repository}:pull`);
    try {
      const { body } = await httpGet(this.http, url, { signal: this.signal });
      const answer = JSON.parse(await readText(body, () => { throw this.notPublic(); })) as TokenAnswer; // prettier-ignore
      const token = answer.token ?? answer.access_token;
      if (typeof token !== 'string') throw this.notPublic();
      return token;
    } catch (error) {
      throw error instanceof DomainError ? error : this.notPublic();
    }
  }

  /**
   * A registry may delegate to a token service on another host, but only over TLS: the URL is of the registry's
   * choosing.
   */
  private isTrustedRealm(url: URL): boolean {
    if (!isHttp(url) || url.username !== '') return false;
    return url.protocol === 'https:' || url.origin === new URL(registryUrl(this.image.registry)).origin;
  }

  private translate(error: unknown): unknown {
    if (!(error instanceof HttpFailure)) return error;
    const { status } = error;
    if (status === 401 || status === 403) return this.notPublic();
    if (status === 404)
      return new DomainError(
        'INVALID_SOURCE',
        `There is no image ${this.image.repository}:${this.image.reference} on ${this.image.registry}.`,
      );
    return new DomainError('BACKEND_FAILED', `The image can't be pulled: ${error.message}.`, { cause: error });
  }

  private notPublic(): DomainError {
    return new DomainError(
      'INVALID_SOURCE',
      `${this.image.registry} requires a login for ${this.image.repository}: the image must be public.`,
    );
  }
}

interface TokenAnswer {
  readonly token?: string;
  readonly access_token?: string;
}

async function readText(body: Readable, onTooLarge: () => never): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_MANIFEST_BYTES) onTooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
