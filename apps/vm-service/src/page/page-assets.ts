import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { DomainError } from '@headgate/domain-contracts';

const compress = promisify(gzip);

/** The files of the console; the last one is served as a part of app.js. */
const ASSETS = {
  'index.html': 'text/html; charset=utf-8',
  'style.css': 'text/css; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'icons.js': 'text/javascript; charset=utf-8',
  'screen-libraries.js': 'text/javascript; charset=utf-8',
} as const;
export type AssetName = keyof typeof ASSETS;

export interface Asset {
  readonly type: string;
  readonly etag: string;
  readonly body: Buffer;
  /** Compressed once, on first use. */
  gzipped(): Promise<Buffer>;
}

/** The built console, held in memory. */
export class PageAssets {
  private readonly assets: ReadonlyMap<AssetName, Asset>;

  constructor(folder: string) {
    this.assets = new Map(
      (Object.keys(ASSETS) as AssetName[]).flatMap((name) => {
        const body = readIfExists(join(folder, name));
        return body === undefined ? [] : [[name, assetOf(name, body)] as const];
      }),
    );
  }

  /** @throws DomainError PATH_NOT_FOUND when the console is not built */
  get(name: AssetName): Asset {
    const asset = this.assets.get(name);
    if (!asset) throw new DomainError('PATH_NOT_FOUND', 'The web console is not built; run npm run build.');
    return asset;
  }
}

function assetOf(name: AssetName, body: Buffer): Asset {
  let compressed: Promise<Buffer> | undefined;
  return {
    type: ASSETS[name],
    etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
    body,
    gzipped: () => (compressed ??= compress(body, { level: 9 })),
  };
}

function readIfExists(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
