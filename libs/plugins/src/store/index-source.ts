import { DomainError, type Clock } from '@headgate/domain-contracts';
import { MAX_INDEX_BYTES, parseIndex, type IndexEntry } from '../format/plugin-index.js';
import { digestOf, isSignedBy, type PublisherKeys } from '../format/signature.js';
import { MAX_ARCHIVE_BYTES } from '../format/unpack-archive.js';
import { PluginSource, type PluginOffer } from './plugin-source.js';

/** Reads a URL, under the policy for downloads. @throws DomainError also when there are more than `maxBytes` */
export type Download = (
  url: URL,
  options: { readonly maxBytes: number; readonly signal: AbortSignal },
) => Promise<Buffer>;

export interface IndexSourceDeps {
  /** The address of the index. */
  readonly url: string;
  readonly publishers: PublisherKeys;
  readonly download: Download;
  readonly clock: Clock;
}

/** An index is read again after this time. */
const MAX_AGE_MS = 10 * 60_000;
/** One that could not be read is tried again after this time. */
const RETRY_AFTER_MS = 30_000;
const TIMEOUT_MS = 10_000;

/** An index that the operator has configured. What it offers must be signed by a publisher that the operator trusts. */
export class IndexSource extends PluginSource {
  private known: { readonly until: number; readonly offers: Promise<readonly PluginOffer[]> } | undefined;

  constructor(private readonly deps: IndexSourceDeps) {
    super();
  }

  override get origin(): string {
    return this.deps.url;
  }

  override offers(): Promise<readonly PluginOffer[]> {
    const { clock } = this.deps;
    if (this.known && clock.now() < this.known.until) return this.known.offers;
    const offers = this.read();
    const read = { until: clock.now() + MAX_AGE_MS, offers };
    this.known = read;
    offers.catch(() => {
      if (this.known === read) this.known = { until: clock.now() + RETRY_AFTER_MS, offers };
    });
    return offers;
  }

  private async read(): Promise<readonly PluginOffer[]> {
    const { url, download, clock } = this.deps;
    const limit = new AbortController();
    const cancel = clock.after(TIMEOUT_MS, () =>
      limit.abort(new DomainError('BACKEND_TIMEOUT', `${new URL(url).host} did not send the index in time.`)),
    );
    try {
      const bytes = await download(new URL(url), { maxBytes: MAX_INDEX_BYTES, signal: limit.signal });
      return parseIndex(bytes.toString('utf8')).map((entry) => this.offer(entry));
    } catch (error) {
      throw limit.signal.aborted ? limit.signal.reason : error;
    } finally {
      cancel();
    }
  }

  private offer({ url, signature, bytes, ...entry }: IndexEntry): PluginOffer {
    const { publishers, download } = this.deps;
    return {
      ...entry,
      origin: this.origin,
      fetch: async (signal) => {
        const refuse = (problem: string): DomainError =>
          new DomainError('INVALID_PLUGIN', `${entry.name} ${entry.version} was refused: ${problem}.`);
        const key = publishers.get(entry.publisher);
        if (!key)
          throw refuse(
            `its publisher "${entry.publisher}" is not trusted; an administrator can add the publisher's key to plugins.publishers in the configuration`,
          );
        // Checked before the download: a statement that the publisher never signed needs no archive.
        if (!isSignedBy(key, entry, signature)) throw refuse(`the signature is not that of ${entry.publisher}`);
        if (bytes > MAX_ARCHIVE_BYTES) throw refuse(`its archive is larger than ${MAX_ARCHIVE_BYTES} bytes`);
        if (!URL.canParse(url, this.origin)) throw refuse('the URL of its archive is invalid');
        const archive = await download(new URL(url, this.origin), { maxBytes: bytes, signal });
        if (archive.length !== bytes) throw refuse(`the archive has ${archive.length} bytes instead of ${bytes}`);
        const digest = digestOf(archive, entry.digest);
        if (digest !== entry.digest) throw refuse(`the archive has the digest ${digest}, not ${entry.digest}`);
        return archive;
      },
    };
  }
}
