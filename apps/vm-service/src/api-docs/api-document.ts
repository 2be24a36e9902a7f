import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { renderPage } from './render-page.js';
import type { DocumentShape } from './document-shape.js';

/** A file to serve, as it is and compressed. */
export interface Served {
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  /** Of the bytes as they are. */
  readonly etag: string;
}

/**
 * The API document and its page, for as long as the service runs. They are loaded by the first request, because most
 * services never serve them.
 */
export class ApiDocument {
  private loaded: Promise<{ readonly json: Served; readonly page: Served }> | undefined;

  json(): Promise<Served> {
    return this.load().then(({ json }) => json);
  }

  page(): Promise<Served> {
    return this.load().then(({ page }) => page);
  }

  private load(): NonNullable<typeof this.loaded> {
    this.loaded ??= (async () => {
      // A bundle of its own, which `npm run docs` keeps up to date with the routes.
      // eslint-disable-next-line @nx/enforce-module-boundaries -- docs/reference is no project, and no second copy may differ from it.
      const { default: document } = await import('../../../../docs/reference/vm-service-openapi.json', {
        with: { type: 'json' },
      });
      const [json, page] = await Promise.all([
        prepare(JSON.stringify(document)),
        prepare(renderPage(document as unknown as DocumentShape)),
      ]);
      return { json, page };
    })();
    return this.loaded;
  }
}

async function prepare(text: string): Promise<Served> {
  const bytes = Buffer.from(text);
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return { bytes, gzipped: await promisify(gzip)(bytes), etag: `"${hash}"` };
}
