import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DomainError } from '@headgate/domain-contracts';

/** The files of the console. `screen-libraries.js` is served as a part of app.js. */
const ASSETS = {
  'index.html': 'text/html; charset=utf-8',
  'style.css': 'text/css; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'icons.js': 'text/javascript; charset=utf-8',
  'screen-libraries.js': 'text/javascript; charset=utf-8',
  'manifest.webmanifest': 'application/manifest+json',
  'icon.svg': 'image/svg+xml',
  'icon.png': 'image/png',
  'de.json': 'application/json; charset=utf-8',
} as const;
export type AssetName = keyof typeof ASSETS;

/** The codings in which the build left each file, in the order of preference, with the ends of their file names. */
const CODINGS = { br: '.br', gzip: '.gz' } as const;

/** One representation of a file. */
export interface AssetBody {
  /** Missing for the file itself. */
  readonly coding?: string;
  readonly etag: string;
  readonly bytes: Buffer;
}

export interface Asset {
  readonly type: string;
  /** The smallest first, the file itself last. */
  readonly bodies: readonly [...AssetBody[], AssetBody];
}

/** The built console, held in memory. */
export class PageAssets {
  private readonly assets: ReadonlyMap<AssetName, Asset>;

  constructor(folder: string) {
    this.assets = new Map(
      (Object.keys(ASSETS) as AssetName[]).flatMap((name) => {
        const file = join(folder, name);
        const bytes = readIfExists(file);
        if (bytes === undefined) return [];
        const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
        const coded = Object.entries(CODINGS).flatMap(([coding, suffix]): AssetBody[] => {
          const compressed = readIfExists(`${file}${suffix}`);
          return compressed === undefined ? [] : [{ coding, etag: `"${hash}-${coding}"`, bytes: compressed }];
        });
        return [[name, { type: ASSETS[name], bodies: [...coded, { etag: `"${hash}"`, bytes }] }] as const];
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

function readIfExists(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
