import http from 'node:http';
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

/**
 * The build of a Nest application: dist/main.js with everything in it, which halves start-up time and memory.
 * @param {Record<string, string>} entries further entries, name → source file
 * @param {string[]} external development dependencies of these entries, which are not a part of the build
 */
export const nodeApp = (entries = {}, external = []) =>
  defineConfig({
    // Oxc reads experimentalDecorators and emitDecoratorMetadata from the project's tsconfig.json, through `extends`.
    plugins: [httpWithoutUndici()],
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
