import { existsSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { defineConfig } from 'vite';

/** Optional peers that Nest, Fastify and ws look for at run time and go on without. */
const absent = [
  '@nestjs/microservices',
  '@nestjs/platform-express',
  '@nestjs/platform-socket.io',
  '@fastify/static',
  '@fastify/view',
  '@fastify/multipart',
  'bufferutil',
  'utf-8-validate',
];

const HTTP_MODULE = '\0node:http';
/** Exports of node:http whose getters load undici. No bundle of ours imports them. */
const LOADED_ON_READ = new Set(['WebSocket', 'CloseEvent', 'MessageEvent']);

/**
 * An import of node:http reads all of its exports, and three of them load undici: 30 ms and several megabytes of each
 * start. The bundle gets the module without these three.
 * @returns {import('vite').Plugin}
 */
const httpWithoutUndici = () => ({
  name: 'http-without-undici',
  enforce: 'pre',
  resolveId: {
    filter: { id: /^(node:)?http$/ },
    handler: (_id, _importer, { kind }) => (kind === 'require-call' ? undefined : HTTP_MODULE),
  },
  load: {
    filter: { id: new RegExp(HTTP_MODULE) },
    handler: () => {
      const names = Object.keys(http).filter((name) => !LOADED_ON_READ.has(name));
      return `const http = process.getBuiltinModule('node:http');
export default http;
export const { ${names.join(', ')} } = http;`;
    },
  },
});

const ROOT = join(import.meta.dirname, '..');
/** The folder of a package below the last node_modules of a path, and the rest of the path. */
const PACKAGE_FOLDER = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)(\/.*)$/;

/**
 * For each folder of a package, the one with the same version that bundles take: the first one in the lockfile.
 * @param {{ packages: Record<string, { version?: string }> }} lockfile
 * @param {(path: string) => boolean} isInstalled packages of other platforms are not
 * @returns {Map<string, string>}
 */
export function commonFolders({ packages }, isInstalled = (path) => existsSync(join(ROOT, path))) {
  /** @type {Map<string, string>} */
  const first = new Map();
  return new Map(
    Object.entries(packages).flatMap(([path, { version }]) => {
      const name = path.split('node_modules/').at(-1);
      if (!path.includes('node_modules/') || version === undefined || !isInstalled(path)) return [];
      const key = `${name}@${version}`;
      if (!first.has(key)) first.set(key, path);
      return [[join(ROOT, path), join(ROOT, first.get(key) ?? path)]];
    }),
  );
}

/**
 * npm installs one version of a package several times where another version is in the way of a common place: yaml twice,
 * ajv three times. A bundle has one copy of each version, which saves memory and time at each start.
 * @returns {import('vite').Plugin}
 */
const oneCopyPerVersion = () => {
  const folders = commonFolders(JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')));
  return {
    name: 'one-copy-per-version',
    enforce: 'pre',
    async resolveId(source, importer, options) {
      if (source.startsWith('\0') || source.startsWith('node:')) return undefined;
      const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
      const [, folder, file] = PACKAGE_FOLDER.exec(resolved?.external ? '' : (resolved?.id ?? '')) ?? [];
      const common = folder && folders.get(folder);
      return resolved && common ? { ...resolved, id: common + file } : resolved;
    },
  };
};

const PHONE_NUMBERS = '\0phone-numbers';

/**
 * class-validator imports the numbering plans of all countries for a check that no project uses: 300 kB of source.
 * @returns {import('vite').Plugin}
 */
const withoutPhoneNumbers = () => ({
  name: 'without-phone-numbers',
  enforce: 'pre',
  resolveId: { filter: { id: /^libphonenumber-js/ }, handler: () => PHONE_NUMBERS },
  load: {
    filter: { id: new RegExp(PHONE_NUMBERS) },
    handler: () => `export function parsePhoneNumber() {
  throw new Error('This build has no numbering plans, which @IsPhoneNumber needs.');
}`,
  },
});

/**
 * V8 stores a source with a single character beyond Latin-1 with two bytes for each character, which costs 4 to 8 MiB of
 * memory for the large chunks. In strings, templates, regular expressions and names, an escape means the same; only
 * `String.raw` would see it.
 * @param {string} code
 */
export const toOneByteSource = (code) =>
  code.replace(/[^\x00-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** @returns {import('vite').Plugin} */
const oneByteSources = () => ({
  name: 'one-byte-sources',
  // Later than renderChunk, after which the code is printed once more.
  generateBundle: (_options, bundle) => {
    for (const file of Object.values(bundle)) if (file.type === 'chunk') file.code = toOneByteSource(file.code);
  },
});

/**
 * Without it, Node compiles each file as CommonJS first where only the built folder is installed, such as in an image.
 * @returns {import('vite').Plugin}
 */
const moduleType = () => ({
  name: 'module-type',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'package.json', source: '{ "type": "module" }\n' });
  },
});

/**
 * The build of a Nest application: dist/main.js with everything in it, which halves start-up time and memory.
 * @param {Record<string, string>} entries further entries, name → source file
 * @param {string[]} external development dependencies of these entries, which are not a part of the build
 */
export const nodeApp = (entries = {}, external = []) =>
  defineConfig({
    // Oxc reads experimentalDecorators and emitDecoratorMetadata from the project's tsconfig.json, through `extends`.
    plugins: [withoutPhoneNumbers(), oneCopyPerVersion(), httpWithoutUndici(), oneByteSources(), moduleType()],
    build: {
      ssr: true,
      outDir: 'dist',
      emptyOutDir: true,
      target: 'node24',
      minify: false,
      sourcemap: false,
      rolldownOptions: {
        input: { main: 'src/main.ts', ...entries },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name].js', keepNames: true },
      },
    },
    ssr: { noExternal: true, external: [...absent, ...external] },
  });
